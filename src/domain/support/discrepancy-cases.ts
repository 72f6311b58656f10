import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { DiscrepancyKind, Evidence } from '../discrepancies/discrepancy.ts';
import { rowsIn } from '../discrepancies/row-back.ts';
import { IS_UNOWNED } from '../discrepancies/unknown-money.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { candidatesOfAll } from '../reconciliation/money-that-went-out.ts';
import { type CaseOrder, readCases } from './read-cases.ts';
import type { Resolution } from './resolution.ts';

/** A row of the support list. */
export interface Discrepancy {
  id: string;
  kind: DiscrepancyKind;
  gateway: string;
  /** Null for a movement that no payment here explains, as are the next two. */
  merchant_id: number | null;
  payment_kind: GatewayPaymentKind | null;
  payment_id: string | null;
  movement_id: string | null;
  trans_id: string | null;
  amount_cents: number | null;
  details: Record<string, unknown>;
  /** All findings, the oldest first. */
  evidence: Evidence[];
  /** False when there were more than are kept. */
  evidence_complete: boolean;
  opened_at: Date;
  resolved_at: Date | null;
  resolution: Resolution | 'superseded' | 'adopted' | null;
  resolved_by: string | null;
  resolved_reason: string | null;
}

/** A discrepancy with the facts that support needs for a decision. */
export interface DiscrepancyCase extends Discrepancy {
  /** Its payment's; all null when there is no payment here. */
  ref_no: string | null;
  status: PaymentStatus | null;
  asked_cents: number | null;
  undone_at: Date | null;
  /** The gateway itself has not told the receipt of the money that completed the payment, or went back. */
  has_unsure_receipt: boolean;
  /** Nobody but people, or its likeness, says that the money which completed the payment is the payment's. */
  is_unsure: boolean;
  /** It is about the movement that completed the payment, or about the payment as a whole. */
  is_about_completion: boolean;
  /** Nobody has told the receipt of the money that completed its payment. */
  lacks_receipt: boolean;
  /** The money was adopted, and the adoption can be taken back. */
  is_adopted: boolean;
  /** Its details name an adoption that was taken back. */
  is_adoption_over: boolean;
  /** The money of the adoption; null without one. */
  adopted_cents: number | null;
  account: string | null;
  /** The money that waits in suspense, the account that it came from or went to, and its receipt. */
  suspense_cents: number | null;
  moved_account: string | null;
  moved_trans_id: string | null;
  /** Nothing but a file, or its likeness, gives this money or its receipt to the payment. */
  is_unproven: boolean;
  /** It is open whether the receipt of this money belongs to another payment. */
  is_claimed: boolean;
  /** The gateway has failed the collection after this money came. Null: none waits. */
  has_bounced: boolean | null;
  /** Somebody has said that this money is back, or booked it by hand, before it came here. Null: none waits. */
  is_back: boolean | null;
  /** The merchant for whom an admin has booked the money of an unexplained movement by hand; null if nobody has. */
  by_hand_for: number | null;
  /**
   * The rows that bring as much back as a payout took, or as this row does, open or dismissed: they may be the money. Null:
   * it is not about that.
   */
  rows_back: string[] | null;
  /** The other open questions about its payment, each with the number of its findings; null without one. */
  other_questions: string | null;
  /** The callbacks of its payment that wait; null without one. */
  waiting_callbacks: string | null;
  /** The possible decisions. Empty when it is resolved. */
  allowed: Resolution[];
}

export interface DiscrepancyFilter {
  open: boolean;
  kind?: DiscrepancyKind | undefined;
  merchant_id?: number | undefined;
  /** Opened longer ago than this. */
  olderThanMs?: number | undefined;
  order?: CaseOrder;
  /** Begins after this one, in that order. */
  after?: string | undefined;
  limit: number;
}

/** Lists discrepancies of all merchants, oldest first unless told otherwise. */
export function listCases(
  database: Database,
  { order = 'oldest first', ...filter }: DiscrepancyFilter,
): Promise<DiscrepancyCase[]> {
  const { open, kind, merchant_id, olderThanMs, after } = filter;
  const isDescending = order === 'newest first';
  const where = [open ? 'resolved_at IS NULL' : 'resolved_at IS NOT NULL'];
  if (kind) where.push('kind = :kind');
  if (merchant_id !== undefined) where.push('merchant_id = :merchant_id');
  if (olderThanMs !== undefined) {
    where.push(`opened_at <= now() - :olderThanMs * interval '1 millisecond'`);
  }
  if (after) where.push(`id ${isDescending ? '<' : '>'} CAST(:after AS uuid)`);
  const page = `${where.join(' AND ')} ORDER BY id ${isDescending ? 'DESC' : 'ASC'} LIMIT :limit`;
  return readCases(database, page, filter, order);
}

/** Lists the discrepancies of one payment, oldest first. */
export function casesOf(
  database: Database | Transaction,
  payment: PaymentRef,
): Promise<DiscrepancyCase[]> {
  const isOfPayment = 'merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id';
  return readCases(database, isOfPayment, payment);
}

/** The most findings about one receipt that are read. Most receipts have one. */
const MAX_OF_RECEIPT = 20;

/** Finds what was told under a receipt that no payment here explained, whatever was decided about it. */
export function unexplainedUnder(database: Database, receipt: string): Promise<DiscrepancyCase[]> {
  const condition = `${IS_UNOWNED} AND trans_id = :receipt ORDER BY id LIMIT ${MAX_OF_RECEIPT}`;
  return readCases(database, condition, { receipt });
}

/** Finds a discrepancy. Ids are unique over all merchants. An open one about a row has the payouts that fit it by now, too. */
export async function findCase(
  database: Database | Transaction,
  id: string,
): Promise<DiscrepancyCase | undefined> {
  const [found] = await readCases(database, 'id = :id', { id });
  if (found?.kind !== 'money_back' || found.resolved_at !== null) return found;
  const { candidates: fit } = await candidatesOfAll(database, found.gateway!, rowsIn(found));
  const known = (found.details.candidates ?? []) as string[];
  const candidates = [...new Set([...known, ...fit])];
  return candidates.length === 0 ? found : { ...found, details: { ...found.details, candidates } };
}

/** Returns the payment that a discrepancy is about; null if it is about none that is known here. */
export function paymentOf({
  payment_kind: kind,
  merchant_id,
  payment_id: id,
}: Pick<DiscrepancyCase, 'payment_kind' | 'merchant_id' | 'payment_id'>): PaymentRef | null {
  if (kind === null || merchant_id === null || id === null) return null;
  return { kind, merchant_id, id };
}

/** Finds a discrepancy. Ids are unique over all merchants. Lock its payment before you lock it. */
export async function findDiscrepancy(
  trx: Transaction,
  id: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<Discrepancy | undefined> {
  return firstRow<Discrepancy>(trx, `SELECT * FROM discrepancies WHERE id = :id ${lock}`, { id });
}

/** Takes a discrepancy off the support list. */
export async function markResolved(
  trx: Transaction,
  id: string,
  decision: { as: Resolution | 'adopted'; actor: string; reason: string },
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = :as, resolved_by = :actor,
       resolved_reason = :reason
     WHERE id = :id`,
    { id, ...decision },
  );
}
