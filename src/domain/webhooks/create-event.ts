import { v7 as uuidv7 } from 'uuid';
import { rows, type Transaction } from '../../connections/database.ts';
import { formatAmount } from '../money.ts';
import type { Collection } from '../payments/collection.ts';
import { accountOf } from '../payments/payment-store.ts';
import type { Payout } from '../payments/payout.ts';
import type { Reversal } from '../payments/reversal.ts';

/** What a merchant has asked for, and is told the end of. */
export type MerchantPayment = Collection | Payout | Reversal;

/**
 * Creates the one settlement event of a payment that has just ended. Its body is written
 * here, once, so that every delivery of it is the same to the byte. The dispatcher numbers
 * it after the commit and plans its delivery.
 */
export async function createEvent(trx: Transaction, payment: MerchantPayment): Promise<void> {
  const type = payment.status === 'completed' ? 'transaction.completed' : 'transaction.failed';
  await rows(
    trx,
    `INSERT INTO events
       (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url, endpoint, body)
     VALUES (:merchant_id, :id, :app_code, :payment_kind, :payment_id, :type, :callback_url,
       :endpoint, :body)`,
    {
      merchant_id: payment.merchant_id,
      id: uuidv7(),
      app_code: payment.app_code,
      payment_kind: payment.kind,
      payment_id: payment.id,
      type,
      callback_url: payment.callback_url,
      endpoint: new URL(payment.callback_url).origin,
      body: JSON.stringify(payloadOf(payment, type)),
    },
  );
}

function payloadOf(payment: MerchantPayment, type: string) {
  const completedAt = payment.payment_completed_at ?? payment.created_at;
  return {
    notification: { type: payment.kind, event: type },
    data: {
      result_code: resultCodeOf(payment),
      result_description: payment.result_description,
      amount: formatAmount(payment.amount_cents),
      ref_no: payment.ref_no,
      ...(payment.kind === 'reversal' ? { checkout_ref_no: payment.checkout_ref_no } : {}),
      beneficiary: { account: accountOf(payment), kyc: null },
      transaction_date: completedAt.toISOString(),
      external_ref: payment.external_ref ?? '',
      trans_id: payment.trans_id ?? '',
      ...(payment.kind === 'reversal' ? { transaction_fee: REVERSAL_FEE } : {}),
    },
  };
}

/** A reversal costs nothing. */
const REVERSAL_FEE = formatAmount(0);

/** A reversal tells success and failure only, not the network's own code. */
function resultCodeOf({ kind, status, result_code: code }: MerchantPayment): number | null {
  return kind === 'reversal' && status === 'failed' ? 1 : code;
}
