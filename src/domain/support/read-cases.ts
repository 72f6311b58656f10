import { type Database, rows } from '../../connections/database.ts';
import { merchantByHand, namesOfQuestion } from '../discrepancies/booked-by-hand.ts';
import { IS_UNKNOWN, IS_UNOWNED } from '../discrepancies/unknown-money.ts';
import { PAYMENT_KINDS, selectSummaries } from '../payments/payment-summary.ts';
import { COMES_BACK_WITHIN } from '../reconciliation/comes-back.ts';
import { mayBeOf, WAS_CALLED_BACK } from '../settlement/late-money.ts';
import { sameAccount } from '../settlement/same-account.ts';
import {
  ARE_OF_PEOPLE,
  ARE_UNSURE,
  BEST_SOURCE,
  HAS_UNSURE_RECEIPT,
  UNSURE_SOURCES,
} from '../settlement/sources.ts';
import { mayHaveComeAgain } from '../upkeep/restore-mark.ts';
import type { Discrepancy, DiscrepancyCase } from './discrepancy-cases.ts';
import { allowedResolutions, type Resolution } from './resolution.ts';

export type CaseOrder = 'oldest first' | 'newest first';

const PAYMENT_OF = PAYMENT_KINDS.map(
  (kind) => `${selectSummaries(kind)}
    WHERE d.payment_kind = '${kind}' AND t.merchant_id = d.merchant_id AND t.id = d.payment_id`,
).join(' UNION ALL ');

/**
 * SQL: the rows that may bring the money of the payout `p` of the question `d` back, or a part of it, and are no question at a payout. Of a question about
 * such a row: the other ones of its account and amount.
 */
const ROWS_BACK = `SELECT back.trans_id || CASE WHEN back.amount_cents < p.amount_cents THEN ' (a part)' ELSE '' END
    || CASE back.resolution WHEN 'dismissed' THEN ' (dismissed)' ELSE '' END
  FROM discrepancies back
  WHERE back.kind = 'money_back' AND back.gateway = d.gateway
    AND (back.amount_cents = coalesce(p.amount_cents, d.amount_cents)
      -- It may be booked by hand.
      OR back.amount_cents < p.amount_cents AND ${sameAccount('p.account', "back.details->>'account'")})
    AND (back.opened_at > coalesce(p.created_at, d.opened_at - interval '${COMES_BACK_WITHIN.whole}')
      OR ${mayHaveComeAgain('back.opened_at', 'p.created_at')})
    AND back.id <> d.id
    AND coalesce(back.resolution = 'dismissed', true)
    AND coalesce(${sameAccount("coalesce(p.account, d.details->>'account')", "back.details->>'account'")}, true)
  ORDER BY back.opened_at, back.id`;

/**
 * Reads discrepancies with the facts that support needs.
 * @param condition is SQL about the table
 */
export async function readCases(
  database: Database,
  condition: string,
  bindings: object,
  order: CaseOrder = 'oldest first',
): Promise<DiscrepancyCase[]> {
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
