import { type Database, firstRow } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { type Page, type PageRequest, readPage } from '../lists.ts';
import { type Period, periodConditions } from '../period.ts';
import type { PaymentStatus } from './payment.ts';
import type { MerchantPayment } from './payment-store.ts';
import { ACCOUNT_COLUMNS, PAYMENT_KINDS, paymentColumns } from './payment-summary.ts';

export interface PaymentFilter extends Period {
  /** The statuses that the merchant sees. */
  statuses?: PaymentStatus[] | undefined;
  /** The phone or bank account on the other side. */
  account?: string | undefined;
  ref_no?: string | undefined;
  /** The reference of the collection; reversals only. */
  checkout_ref_no?: string | undefined;
}

type ListedKind = MerchantPayment['kind'];

/** Reads a page of a merchant's payments of one kind, newest first. */
export async function listPayments<Kind extends ListedKind>(
  database: Database,
  kind: Kind,
  merchantId: number,
  filter: PaymentFilter,
  page: PageRequest,
): Promise<Page<Extract<MerchantPayment, { kind: Kind }>>> {
  const where = ['merchant_id = :merchant_id'];
  if (filter.statuses) where.push(shownAs(kind, filter.statuses));
  if (filter.account) where.push(`${ACCOUNT_COLUMNS[kind]} = :account`);
  if (filter.ref_no) where.push('ref_no = :ref_no');
  if (filter.checkout_ref_no) where.push(OF_COLLECTION);
  where.push(...periodConditions('created_at', filter));
  const source = {
    columns: paymentColumns(kind, 'listed'),
    table: STEP_TABLES[kind].table,
    createdAt: 'created_at',
    id: 'id',
    where,
    bindings: { ...filter, merchant_id: merchantId },
  };
  return readPage(database, source, page);
}

/**
 * Returns the condition that payments are shown with one of these statuses. A failed payout is
 * shown as processing until it is refunded (`asShown`). Those are few and have an index of their
 * own. They are selected by id, because the database guesses that they are many and would read
 * all payouts of the merchant.
 */
function shownAs(kind: ListedKind, statuses: PaymentStatus[]): string {
  const known = 'status = ANY (:statuses)';
  const processing = statuses.includes('processing');
  if (kind !== 'payout' || processing === statuses.includes('failed')) return known;
  return processing
    ? `(${known} OR id = ANY (ARRAY(${AWAITING_REFUND})))`
    : `${known} AND id NOT IN (${AWAITING_REFUND})`;
}

/** Does not say `status = 'failed'`, so that only the index of payouts in flight fits. */
const AWAITING_REFUND = `SELECT p.id FROM payouts p
  WHERE p.merchant_id = :merchant_id AND p.refund_posted_at IS NULL
    AND p.status NOT IN ('pending', 'processing', 'completed')`;

/** Reversals are indexed by the collection's id. */
const OF_COLLECTION = `collection_id = (
  SELECT c.id FROM collections c WHERE c.merchant_id = :merchant_id AND c.ref_no = :checkout_ref_no
)`;

/** Counts the payments of an account that have not ended. */
export async function countOpen(database: Database, gateway: string): Promise<number> {
  const counts = PAYMENT_KINDS.map(
    (kind) =>
      `(SELECT count(*) FROM ${STEP_TABLES[kind].table}
        WHERE status IN ('pending', 'processing') AND gateway = :gateway)`,
  );
  const row = await firstRow<{ count: number }>(database, `SELECT ${counts.join(' + ')} AS count`, {
    gateway,
  });
  return row!.count;
}
