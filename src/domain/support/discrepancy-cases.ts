import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { merchantByHand, namesOfQuestion } from '../discrepancies/booked-by-hand.ts';
import type { DiscrepancyKind, Evidence } from '../discrepancies/discrepancy.ts';
import { rowIn } from '../discrepancies/row-back.ts';
import { IS_UNKNOWN, IS_UNOWNED } from '../discrepancies/unknown-money.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { PAYMENT_KINDS, selectSummaries } from '../payments/payment-summary.ts';
import { COMES_BACK_WITHIN, moneyOf } from '../reconciliation/money-that-went-out.ts';
import { mayBeOf, WAS_CALLED_BACK } from '../settlement/late-money.ts';
import { sameAccount } from '../settlement/same-account.ts';
import {
  ARE_OF_PEOPLE,
  ARE_UNSURE,
  BEST_SOURCE,
  HAS_UNSURE_RECEIPT,
  UNSURE_SOURCES,
} from '../settlement/sources.ts';
import { allowedResolutions, type Resolution } from './resolution.ts';

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

type CaseOrder = 'oldest first' | 'newest first';

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
  return read(database, page, filter, order);
}

/** Lists the discrepancies of one payment, oldest first. */
export function casesOf(
  database: Database | Transaction,
  payment: PaymentRef,
): Promise<DiscrepancyCase[]> {
  const isOfPayment = 'merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id';
  return read(database, isOfPayment, payment);
}

/** The most findings about one receipt that are read. Most receipts have one. */
const MAX_OF_RECEIPT = 20;

/** Finds what was told under a receipt that no payment here explained, whatever was decided about it. */
export function unexplainedUnder(database: Database, receipt: string): Promise<DiscrepancyCase[]> {
  const condition = `${IS_UNOWNED} AND trans_id = :receipt ORDER BY id LIMIT ${MAX_OF_RECEIPT}`;
  return read(database, condition, { receipt });
}

/** Finds a discrepancy. Ids are unique over all merchants. An open one about a row has the payouts that fit it by now, too. */
export async function findCase(
  database: Database | Transaction,
  id: string,
): Promise<DiscrepancyCase | undefined> {
  const [found] = await read(database, 'id = :id', { id });
  if (found?.kind !== 'money_back' || found.resolved_at !== null) return found;
  const { candidates: fit } = await moneyOf(database, found.gateway!, rowIn(found));
  const known = (found.details.candidates ?? []) as string[];
  const candidates = [...new Set([...known, ...fit])];
  return candidates.length === 0 ? found : { ...found, details: { ...found.details, candidates } };
}

const PAYMENT_OF = PAYMENT_KINDS.map(
  (kind) => `${selectSummaries(kind)}
    WHERE d.payment_kind = '${kind}' AND t.merchant_id = d.merchant_id AND t.id = d.payment_id`,
).join(' UNION ALL ');

/**
 * SQL: the rows that may bring the money of the payout `p` of the question `d` back, and are no question at a payout. Of a question about
 * such a row: the other ones of its account and amount.
 */
const ROWS_BACK = `SELECT back.trans_id || CASE back.resolution WHEN 'dismissed' THEN ' (dismissed)' ELSE '' END
  FROM discrepancies back
  WHERE back.kind = 'money_back' AND back.gateway = d.gateway
    AND back.amount_cents = coalesce(p.amount_cents, d.amount_cents)
    AND back.opened_at > coalesce(p.created_at, d.opened_at - interval '${COMES_BACK_WITHIN.whole}')
    AND back.id <> d.id
    AND coalesce(back.resolution = 'dismissed', true)
    AND coalesce(${sameAccount("coalesce(p.account, d.details->>'account')", "back.details->>'account'")}, true)
  ORDER BY back.opened_at, back.id`;

async function read(
  database: Database,
  condition: string,
  bindings: object,
  order: CaseOrder = 'oldest first',
) {
  const found = await rows<Omit<DiscrepancyCase, 'allowed'>>(
    database,
    `SELECT d.*, p.ref_no, p.status, p.amount_cents AS asked_cents, p.undone_at, p.account,
       m.amount_cents AS suspense_cents, m.account AS moved_account, m.trans_id AS moved_trans_id,
       coalesce(m.told_by <> 'support' AND (${BEST_SOURCE} IN ${ARE_UNSURE}
           OR m.told_by IN ${ARE_UNSURE} AND ${HAS_UNSURE_RECEIPT})
         OR ${BEST_SOURCE} = 'file' OR m.receipt_told_by IN ${ARE_OF_PEOPLE}, false) AS is_unproven,
       EXISTS (SELECT FROM discrepancies claim WHERE claim.merchant_id = d.merchant_id
         AND claim.payment_kind = m.payment_kind AND claim.payment_id = m.payment_id
         AND claim.kind = 'receipt_of_another' AND claim.trans_id = m.trans_id
         AND claim.resolved_at IS NULL) AS is_claimed,
       m.payment_kind = 'collection' AND EXISTS (SELECT FROM discrepancies failure
         WHERE failure.merchant_id = m.merchant_id AND failure.payment_kind = m.payment_kind
           AND failure.payment_id = m.payment_id AND failure.kind = 'failure_after_success'
           AND failure.opened_at >= m.learned_at) AS has_bounced,
       m.trans_id IS NOT NULL AND EXISTS (SELECT FROM discrepancies dismissed
         WHERE dismissed.${IS_UNKNOWN}
           AND dismissed.gateway = d.gateway AND dismissed.trans_id = m.trans_id
           AND dismissed.details ? 'booked_for')
         OR m.payment_kind = 'collection' AND EXISTS (SELECT FROM collections c, discrepancies d
           WHERE c.merchant_id = m.merchant_id AND c.id = m.payment_id
             AND ${mayBeOf('m.trans_id', 'm.amount_cents')})
         OR m.id IS NOT NULL AND ${WAS_CALLED_BACK} AS is_back,
       own.id IS NOT NULL AND (own.trans_id IS NULL OR own.has_unsure_receipt) AS has_unsure_receipt,
       own.id IS NOT NULL AND own.trans_id IS NULL AS lacks_receipt,
       coalesce(own.booked = 'settled' AND own.source IN ${ARE_UNSURE}, false) AS is_unsure,
       CASE WHEN d.kind = 'missing_at_gateway' THEN coalesce(own.trans_id = d.trans_id,
           own.trans_id IS NULL AND d.trans_id IS NULL)
         -- The gateway may contradict the receipt that only people have given.
         WHEN d.kind IN ('receipt_of_another', 'other_amount', 'other_account')
           THEN own.id IS NOT NULL AND (coalesce(own.trans_id = d.trans_id, true)
             OR d.kind = 'receipt_of_another'
               AND (own.source IN ${ARE_UNSURE} OR own.has_unsure_receipt))
         ELSE true END AS is_about_completion,
       a.id IS NOT NULL AS is_adopted,
       d.kind = 'receipt_of_another' AND a.id IS NULL
         AND coalesce(d.evidence->-1->'details' ? 'adoption', false) AS is_adoption_over, a.amount_cents AS adopted_cents,
       CASE WHEN d.${IS_UNOWNED} THEN ${merchantByHand(namesOfQuestion('d'))} END AS by_hand_for,
       CASE WHEN d.payment_kind <> 'collection' OR d.kind = 'money_back' THEN ARRAY(${ROWS_BACK}) END AS rows_back,
       (SELECT string_agg(other.id || ' ' || jsonb_array_length(other.evidence), ',' ORDER BY other.id)
         FROM discrepancies other WHERE other.merchant_id = d.merchant_id AND other.id <> d.id
         AND other.payment_kind = d.payment_kind AND other.payment_id = d.payment_id
         AND other.resolved_at IS NULL) AS other_questions,
       (SELECT string_agg(CAST(c.id AS text), ',' ORDER BY c.id) FROM callbacks c
         WHERE c.merchant_id = d.merchant_id AND c.payment_kind = d.payment_kind
           AND c.payment_id = d.payment_id AND c.status = 'stored') AS waiting_callbacks
     FROM (SELECT * FROM discrepancies WHERE ${condition}) AS d
     LEFT JOIN LATERAL (${PAYMENT_OF}) AS p ON true
     LEFT JOIN movements m ON m.merchant_id = d.merchant_id AND m.id = d.movement_id
       AND m.booked IN ('suspense', 'undoing')
     -- Of a payment in parts, the part with this receipt, or one that the gateway has told. Of a collection that
     -- was paid late, the money that has gone back to the customer, under a receipt that only people have told first.
     LEFT JOIN LATERAL (
       SELECT id, trans_id, booked, ${BEST_SOURCE} AS source,
         ${HAS_UNSURE_RECEIPT} AS has_unsure_receipt
       FROM movements m WHERE m.merchant_id = d.merchant_id
         AND m.payment_kind = d.payment_kind AND m.payment_id = d.payment_id
         AND (m.booked = 'settled' OR m.payment_kind = 'collection' AND p.status = 'failed'
           AND m.booked IN ('returning', 'cleared'))
       ORDER BY coalesce(m.trans_id = d.trans_id, false) DESC,
         m.booked <> 'settled' AND ${HAS_UNSURE_RECEIPT} DESC, m.told_by = 'support' LIMIT 1
     ) AS own ON true
     LEFT JOIN adoptions a ON d.kind = 'receipt_of_another' AND a.taken_back_at IS NULL
       AND a.merchant_id = CAST(d.details->>'adopted_for' AS bigint)
       AND a.id = CAST(d.details->>'adoption' AS uuid)
     ORDER BY d.id ${order === 'newest first' ? 'DESC' : 'ASC'}`,
    bindings,
  );
  return found.map((row) => ({ ...row, allowed: row.resolved_at ? [] : allowed(row) }));
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

function allowed(row: Omit<DiscrepancyCase, 'allowed'>): Resolution[] {
  const { kind, payment_kind, status, asked_cents, is_unproven, is_claimed, ...facts } = row;
  const mayBeWrong = is_unproven || is_claimed || row.has_bounced === true || row.is_back === true;
  const payment =
    payment_kind === null || status === null || asked_cents === null
      ? null
      : { ...facts, kind: payment_kind, status, amount_cents: asked_cents };
  const suspenseCents = row.suspense_cents;
  const toldCents = toldCentsOf(row);
  return allowedResolutions({
    kind,
    payment,
    suspenseCents,
    toldCents,
    mayBeWrong,
  });
}

/**
 * Returns the amount that all undecided findings tell, in cents, without money in suspense; else null. What only people
 * have told counts only where the gateway has told nothing.
 */
export function toldCentsOf({
  movement_id,
  evidence,
  evidence_complete,
}: Discrepancy): number | null {
  if (movement_id !== null || !evidence_complete) return null;
  const undecided = evidence.filter(({ decided }) => !decided);
  const sure = undecided.filter(({ told_by }) => !UNSURE_SOURCES.includes(String(told_by)));
  const [first, ...others] = new Set(
    (sure.length > 0 ? sure : undecided).map(({ amount_cents }) => amount_cents),
  );
  return others.length > 0 ? null : (first ?? null);
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
