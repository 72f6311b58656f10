import type { Collection } from '../../domain/collections/collection.ts';
import { formatAmount } from '../../domain/money.ts';
import { formatDateTime } from './date-time.ts';

/** The collection record, as initiating one answers it. */
export function collectionRecord(collection: Collection) {
  return {
    id: collection.id,
    payfrom: collection.payfrom,
    amount: formatAmount(collection.amount_cents),
    ref_no: collection.ref_no,
    account_number: collection.account_number,
    callback_url: collection.callback_url,
    status: collection.status,
    category: collection.category,
    created_at: formatDateTime(collection.created_at),
  };
}

/** The record with everything that is known of its outcome. */
export function collectionDetail(collection: Collection) {
  return {
    ...collectionRecord(collection),
    result_code: collection.result_code,
    result_description: collection.result_description,
    trans_id: collection.trans_id,
    external_ref: collection.external_ref,
    payment_completed_at: collection.payment_completed_at?.toISOString() ?? null,
    commission: formatAmount(collection.commission_cents),
    net_amount: formatAmount(collection.amount_cents - collection.commission_cents),
  };
}

/** As the deprecated list shows it: exactly the record, with two states folded into one. */
export function listedCollection(collection: Collection) {
  const record = collectionRecord(collection);
  return { ...record, status: record.status === 'processing' ? 'pending' : record.status };
}
