import { v7 as uuidv7 } from 'uuid';
import { rows, type Transaction } from '../../connections/database.ts';
import { formatAmount } from '../money.ts';
import { accountOf, type MerchantPayment } from '../payments/payment-store.ts';

/**
 * Creates the settlement event of a payment that has just ended. It stores the body, so every
 * delivery sends the same bytes. The dispatcher numbers the event after the commit and schedules
 * its delivery.
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
      ...payment,
      id: uuidv7(),
      payment_kind: payment.kind,
      payment_id: payment.id,
      type,
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
      // A reversal costs nothing.
      ...(payment.kind === 'reversal' ? { transaction_fee: formatAmount(0) } : {}),
    },
  };
}

/** Returns the network's code. A reversal reports only success or failure. */
function resultCodeOf({ kind, status, result_code }: MerchantPayment): number | null {
  return kind === 'reversal' && status === 'failed' ? 1 : result_code;
}
