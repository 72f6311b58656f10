import type { Database } from '../../connections/database.ts';
import { findMerchants, type MerchantHit } from '../../domain/merchants/find-merchants.ts';
import type { PaymentSummary } from '../../domain/payments/payment-summary.ts';
import { findPayments } from '../../domain/support/find-payments.ts';
import { searchPayments } from '../../domain/support/search-payments.ts';

/** A search with more hits must be narrowed anyway. */
export const MAX_HITS = 50;
export const MAX_SEARCH_LENGTH = 200;

/** What somebody looks for. */
export interface Search {
  what: string;
  merchant_id: number | undefined;
}

export interface Hits {
  payments: PaymentSummary[];
  merchants: MerchantHit[];
  /** There are more payments than are shown. */
  more: boolean;
}

/** Finds payments and merchants. Without words it takes the newest payments of the merchant. */
export async function search(database: Database, { what, merchant_id }: Search): Promise<Hits> {
  const limit = MAX_HITS + 1;
  const [payments, merchants] = await Promise.all([
    what === ''
      ? searchPayments(database, { merchant_id, after: undefined, limit })
      : findPayments(database, { what, merchant_id, limit }),
    what === '' || merchant_id !== undefined ? [] : findMerchants(database, what, MAX_HITS),
  ]);
  return { payments: payments.slice(0, MAX_HITS), merchants, more: payments.length > MAX_HITS };
}
