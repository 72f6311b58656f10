import { v7 as uuidv7 } from 'uuid';
import { hasRow, type Transaction } from '../../connections/database.ts';
import { formatAmount } from '../money.ts';
import { accountOf, type MerchantPayment } from '../payments/payment-store.ts';

/**
 * Creates the event of a payment whose end the merchant has not been told: the settlement, or a
 * status or an amount that changed after it. It stores the body, so every delivery sends the same
 * bytes. The dispatcher numbers the event after the commit and schedules its delivery.
 * @throws Error when the merchant's last event of the payment says the same
 */
export async function createEvent(trx: Transaction, payment: MerchantPayment): Promise<void> {
  const event = eventBindings(payment);
  const said = `${event.type} ${formatAmount(payment.amount_cents)}`;
  const isNew = await hasRow(
    trx,
    `INSERT INTO events (${COLUMNS})
     SELECT :merchant_id, :event_id, :app_code, :payment_kind, :payment_id, count(*) + 1, :type,
       :callback_url, :endpoint, :body,
       -- Not now(): the transaction may have begun before the one of an earlier event.
       clock_timestamp()
     FROM events WHERE merchant_id = :merchant_id AND payment_kind = :payment_kind
       AND payment_id = :payment_id
     HAVING (array_agg(type || ' ' || (CAST(body AS jsonb) #>> '{data,amount}')
       ORDER BY change_no DESC))[1] IS DISTINCT FROM :said
     RETURNING id`,
    { ...payment, payment_kind: payment.kind, payment_id: payment.id, ...event, said },
  );
  if (!isNew) throw new Error(`The ${payment.kind} ${payment.id} was told as ${said} before`);
}

const COLUMNS = `merchant_id, id, app_code, payment_kind, payment_id, change_no, type, callback_url,
  endpoint, body, created_at`;

/**
 * Returns the CTE `told`: the first event of the open payment that has ended in the CTE `moved`, as
 * a part of a longer statement.
 */
export function firstEvent(kind: MerchantPayment['kind']): string {
  return `told AS (
    INSERT INTO events (${COLUMNS})
    SELECT merchant_id, :event_id, app_code, '${kind}', id, 1, :type, callback_url, :endpoint, :body,
      clock_timestamp()
    FROM moved
  )`;
}

/** Returns the event of a payment that has ended, for a statement. */
export function eventBindings(payment: MerchantPayment) {
  const type = payment.status === 'completed' ? 'transaction.completed' : 'transaction.failed';
  return {
    event_id: uuidv7(),
    type,
    endpoint: new URL(payment.callback_url).origin,
    body: JSON.stringify(payloadOf(payment, type)),
  };
}

function payloadOf(payment: MerchantPayment, type: string) {
  const completedAt = payment.payment_completed_at ?? payment.created_at;
  return {
    notification: { type: payment.kind, event: type },
    data: {
      id: payment.id,
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
