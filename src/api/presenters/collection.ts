import { formatAmount } from '../../domain/money.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { formatDateTime } from './date-time.ts';
import { foldedStatus, outcome } from './outcome.ts';

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
    ...outcome(collection),
    commission: formatAmount(collection.commission_cents),
    net_amount: formatAmount(collection.amount_cents - collection.commission_cents),
  };
}

/** As the deprecated list shows it. */
export function listedCollection(collection: Collection) {
  return { ...collectionRecord(collection), status: foldedStatus(collection) };
}
