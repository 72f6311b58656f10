import { v7 as uuidv7 } from 'uuid';
import { rows, type Transaction } from '../../database.ts';
import type { Collection } from '../collections/collection.ts';
import { formatAmount } from '../money.ts';

/**
 * Creates the one settlement event of a collection that has just ended. Its body is
 * written here, once, so that every delivery of it is the same to the byte. The
 * dispatcher numbers it after the commit and plans its delivery.
 */
export async function createEvent(trx: Transaction, collection: Collection): Promise<void> {
  const type = collection.status === 'completed' ? 'transaction.completed' : 'transaction.failed';
  await rows(
    trx,
    `INSERT INTO events
       (merchant_id, id, app_code, payment_kind, payment_id, type, callback_url, endpoint, body)
     VALUES (:merchant_id, :id, :app_code, 'collection', :payment_id, :type, :callback_url,
       :endpoint, :body)`,
    {
      merchant_id: collection.merchant_id,
      id: uuidv7(),
      app_code: collection.app_code,
      payment_id: collection.id,
      type,
      callback_url: collection.callback_url,
      endpoint: new URL(collection.callback_url).origin,
      body: JSON.stringify(payloadOf(collection, type)),
    },
  );
}

function payloadOf(collection: Collection, type: string) {
  const completedAt = collection.payment_completed_at ?? collection.created_at;
  return {
    notification: { type: 'collection', event: type },
    data: {
      result_code: collection.result_code,
      result_description: collection.result_description,
      amount: formatAmount(collection.amount_cents),
      ref_no: collection.ref_no,
      beneficiary: { account: collection.payfrom, kyc: null },
      transaction_date: completedAt.toISOString(),
      external_ref: collection.external_ref ?? '',
      trans_id: collection.trans_id ?? '',
    },
  };
}
