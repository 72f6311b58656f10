import { type Database, firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { IS_THIS_DIRECTION, IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { directionOf } from '../settlement/receipts.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { mayHaveComeAgain } from '../upkeep/restore-mark.ts';
import { latestOf, PAID_WITHIN } from './candidates.ts';
import { latestMoment } from './days-alone.ts';
import type { StatementRef, StoredLine } from './statement.ts';

/** SQL: a discrepancy about money that names no payment. It is the condition of an index. */
const UNNAMED = `kind = 'unknown_movement' AND details->>'reference' IS NULL`;

/** Money that names no payment. */
type UnnamedMoney = Pick<StoredLine, 'kind' | 'trans_id' | 'amount_cents'>;

/** The account and the statement in which other money is looked for. */
interface RivalsWanted extends Pick<StatementRef, 'gateway'> {
  /** Null if the money is of no statement that is compared now. */
  import_id: string | null;
  /**
   * The receipts of money that somebody decides about now. What was decided before does not count then. Without it,
   * all counts.
   */
  decidingAbout?: readonly string[];
}

/** Tells whether other money that belongs to nobody fits a payment just as well. */
export async function hasRival(...args: Parameters<typeof countRivals>): Promise<boolean> {
  return (await countRivals(...args)) > 0;
}

/**
 * Counts the other money that belongs to nobody and fits a payment just as well: other lines of the statement,
 * or money that was on the support list, whatever was decided about it.
 */
export async function countRivals(
  trx: Database | Transaction,
  { gateway, import_id, decidingAbout }: RivalsWanted,
  { kind, trans_id, amount_cents, line_no = 0 }: UnnamedMoney & { line_no?: number },
  payment: PaymentRef,
): Promise<number> {
  const found = await firstRow<{ count: number }>(
    trx,
    `SELECT count(DISTINCT coalesce(other.trans_id, CAST(other.completed_at AS text))) AS count
     FROM ${STEP_TABLES[payment.kind].table} p, (
         SELECT l.trans_id, l.account, l.completed_at FROM statement_lines l
           WHERE l.import_id = :import_id AND l.line_no <> :line_no
             AND NOT l.undecided AND l.kind = :kind AND l.reference IS NULL
             AND l.amount_cents = :amount_cents
         UNION ALL
         SELECT trans_id, details->>'account', CAST(details->>'completed_at' AS timestamptz)
           FROM discrepancies
           WHERE ${UNNAMED} AND gateway = :gateway AND amount_cents = :amount_cents
             AND details->>'kind' = :kind AND (NOT :is_undecided OR resolved_at IS NULL)) AS other
     WHERE p.merchant_id = :merchant_id AND p.id = :id
       AND other.trans_id IS DISTINCT FROM :trans_id
       AND upper(other.trans_id) <> ALL (:without)
       AND ${sameAccount(`p.${ACCOUNT_COLUMNS[payment.kind]}`, 'other.account')}
       AND other.completed_at
         < ${latestOf(payment.kind)} + :before_minutes * interval '1 minute'
       AND (${latestMoment('other.completed_at')} > p.created_at - :after_minutes * interval '1 minute'
         OR ${mayHaveComeAgain('other.completed_at', 'p.created_at')})
       AND NOT EXISTS (SELECT FROM receipts r WHERE r.gateway = :gateway AND r.direction = :direction
         AND upper(r.receipt) = upper(other.trans_id))`,
    {
      ...payment,
      ...PAID_WITHIN,
      gateway,
      import_id,
      kind,
      trans_id,
      amount_cents,
      line_no,
      direction: directionOf(payment.kind),
      is_undecided: decidingAbout !== undefined,
      without: (decidingAbout ?? []).map((receipt) => receipt.toUpperCase()),
    },
  );
  return found!.count;
}

/**
 * Tells whether the money of a line belongs to no payment that it fits: somebody has dismissed it, or a callback has
 * named another payment for it.
 */
export function isDecided(
  trx: Database | Transaction,
  gateway: string,
  { kind, trans_id }: { kind: GatewayPaymentKind; trans_id: string | null },
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE ${IS_UNKNOWN} AND gateway = :gateway
       AND trans_id = :trans_id
       AND (resolution = 'dismissed' OR kind = 'unknown_payment' AND resolved_at IS NULL)
       AND ${IS_THIS_DIRECTION}`,
    { gateway, payment_kind: kind, trans_id },
  );
}
