import { formatAmount } from '../../domain/money.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { formatDateTime } from './date-time.ts';
import { deprecatedStatus, outcome } from './outcome.ts';

/** The record of a collection that was just initiated. */
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

/** The record with all that is known of the outcome. */
export function collectionDetail(collection: Collection) {
  return {
    ...collectionRecord(collection),
    ...outcome(collection),
    commission: formatAmount(collection.commission_cents),
    net_amount: formatAmount(collection.amount_cents - collection.commission_cents),
  };
}

/** The record in the deprecated list. */
export function listedCollection(collection: Collection) {
  return { ...collectionRecord(collection), status: deprecatedStatus(collection) };
}
