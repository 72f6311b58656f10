import type { Database } from '../../database.ts';
import { type ListSource, type Page, type PageRequest, readPage } from '../lists.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import type { Collection } from './collection.ts';

export interface CollectionFilter {
  statuses?: PaymentStatus[] | undefined;
  /** Whole UTC days, YYYY-MM-DD, both included. */
  dateFrom?: string | undefined;
  dateTo?: string | undefined;
  phone?: string | undefined;
  refNo?: string | undefined;
}

/** A page of a merchant's collections, newest first. */
export async function listCollections(
  database: Database,
  merchantId: number,
  filter: CollectionFilter,
  page: PageRequest,
): Promise<Page<Collection>> {
  return readPage(database, sourceOf(merchantId, filter), page);
}

function sourceOf(merchantId: number, filter: CollectionFilter): ListSource {
  const where = ['merchant_id = :merchant_id'];
  if (filter.statuses) where.push('status = ANY (:statuses)');
  if (filter.phone) where.push('payfrom = :phone');
  if (filter.refNo) where.push('ref_no = :ref_no');
  where.push(...dayConditions('created_at', filter));
  return {
    columns: '*',
    table: 'collections',
    createdAt: 'created_at',
    id: 'id',
    where,
    bindings: {
      merchant_id: merchantId,
      statuses: filter.statuses ?? null,
      phone: filter.phone ?? null,
      ref_no: filter.refNo ?? null,
      date_from: filter.dateFrom ?? null,
      date_to: filter.dateTo ?? null,
    },
  };
}

/** Whole UTC days, both ends included, as conditions over `date_from` and `date_to`. */
export function dayConditions(
  column: string,
  { dateFrom, dateTo }: Pick<CollectionFilter, 'dateFrom' | 'dateTo'>,
): string[] {
  const conditions: string[] = [];
  const startOf = (name: string) => `CAST(CAST(:${name} AS date) AS timestamp) AT TIME ZONE 'UTC'`;
  if (dateFrom) conditions.push(`${column} >= ${startOf('date_from')}`);
  if (dateTo) conditions.push(`${column} < ${startOf('date_to')} + interval '1 day'`);
  return conditions;
}
