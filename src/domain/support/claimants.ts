import { rows, type Transaction } from '../../connections/database.ts';
import { supersedeDiscrepancies } from '../discrepancies/supersede.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { askAfterFailure } from '../settlement/after-failure.ts';
import { settle } from '../settlement/settle.ts';
import { newsFrom } from '../settlement/sources.ts';
import type { Discrepancy } from './discrepancy-cases.ts';
import type { Decision, Resolution, ResolveOptions } from './resolution.ts';
import { succeededByWord } from './settle-by-hand.ts';

/*
 * A decision may free a receipt. The gateway may have told it for another payment too, which claims it.
 */

/** The decisions that may free a receipt. Another payment may claim it. */
export const FREES_RECEIPTS: ReadonlySet<Resolution> = new Set([
  'undo',
  'same',
  'parts',
  'returned',
]);

/**
 * Asks about the failed payments that claim a receipt which is free now. Nobody else asks about them,
 * and a refund would pay a second time. Another payment gets the receipt, as its own or as a second
 * success, if the gateway has told it for that payment alone: it may tell it for the wrong payment again.
 */
export async function askClaimants(
  trx: Transaction,
  discrepancy: Discrepancy,
  decision: Decision,
  options: ResolveOptions,
): Promise<void> {
  const claimants = (await claimantsOf(trx, discrepancy)).filter(({ is_free }) => is_free);
  for (const claim of claimants) {
    const claimant = await lockPayment(trx, claim);
    if (claimant?.status === 'failed') await askAgain(trx, claimant, decision, options);
    const isAlone = claimants.filter((each) => each.trans_id === claim.trans_id).length === 1;
    if (!claimant || claimant.status === 'failed' || claim.told_by === null || !isAlone) continue;
    const source = newsFrom(sourceNamed(claim.told_by));
    // The next statement says what such a line fits by then.
    if (source.isByLikeness) continue;
    // A file may be wrong, and money that has gone back completes nothing.
    const isSure = !source.isFromFile && discrepancy.kind !== 'undone_money';
    if (claimant.status !== 'completed' && !isSure) continue;
    const { parserOf } = options;
    const { told_by: by, told_at: at } = claim;
    // It is as old as the gateway's word, and not as the decision: the payment may have failed since.
    await settle(trx, claimant, newsOfClaim(claim), {
      ...source,
      parserOf,
      heardAt: at,
      told: { by, at },
    });
    for (const each of [claim, ...twinOf(discrepancy)]) {
      await supersedeDiscrepancies(trx, each, [], { receipt: claim.trans_id });
    }
  }
}

/** Returns the payment that has given the receipt up. Its question is answered, unless that is being decided now. */
function twinOf({ kind, payment_kind, merchant_id, payment_id: id }: Discrepancy): PaymentRef[] {
  if (kind === 'receipt_of_another' || !payment_kind || !merchant_id || !id) return [];
  return [{ kind: payment_kind, merchant_id, id }];
}

/** Returns the source of news that was told in this way. Most have the same name. */
function sourceNamed(toldBy: string): string {
  return toldBy === 'answer' ? 'callback' : toldBy;
}

/** A payment that claims a receipt, what was told of that last, and whether nobody has the receipt. */
type Claimant = PaymentRef & {
  trans_id: string;
  /** Null: nobody has told it. */
  told_by: string | null;
  told_at: Date | null;
  told_cents: number | null;
  told_account: string | null;
  is_free: boolean;
};

function newsOfClaim({ trans_id, told_cents, told_account }: Claimant): Succeeded {
  return { ...succeededByWord(trans_id), amountCents: told_cents, account: told_account };
}

/** Finds the other payments that a decision may settle too, because it may free their receipt. */
export async function othersOf(
  trx: Transaction,
  discrepancy: Discrepancy,
  as: Resolution,
): Promise<PaymentRef[]> {
  return FREES_RECEIPTS.has(as) ? claimantsOf(trx, discrepancy) : [];
}

/**
 * Finds the other payments that claim a receipt of a discrepancy, or of its payment. A claim that was
 * dismissed, or undone, is one again when the receipt is free: then it was in no right place.
 */
async function claimantsOf(trx: Transaction, discrepancy: Discrepancy): Promise<Claimant[]> {
  return rows<Claimant>(
    trx,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id, trans_id,
       evidence->-1->>'told_by' AS told_by,
       CAST(evidence->-1->>'told_at' AS timestamptz) AS told_at,
       CAST(evidence->-1->>'amount_cents' AS bigint) AS told_cents,
       evidence->-1->'details'->>'account' AS told_account,
       NOT EXISTS (SELECT FROM receipts r WHERE r.gateway = claim.gateway
         AND upper(r.receipt) = upper(claim.trans_id)
         AND r.direction = CASE claim.payment_kind WHEN 'collection' THEN 'in' ELSE 'out' END)
         AS is_free
     FROM discrepancies claim
     WHERE gateway = :gateway AND kind = 'receipt_of_another'
       -- Somebody has decided against what the gateway told: the receipt seemed to be in its right place.
       AND (resolved_at IS NULL
         OR resolution IN ('dismissed', 'undo') AND evidence->-1->>'told_by' IS NOT NULL)
       AND payment_id <> :payment_id AND (trans_id = :trans_id OR trans_id IN (
         SELECT trans_id FROM movements m WHERE m.merchant_id = :merchant_id
           AND m.payment_kind = :payment_kind AND m.payment_id = :payment_id))
     ORDER BY payment_id`,
    discrepancy,
  );
}

/** Asks the gateway about a failed payment, because somebody has taken back what was known of it. */
export function askAgain(
  trx: Transaction,
  payment: AnyPayment,
  { actor }: Decision,
  { pollFirstMs }: ResolveOptions,
): Promise<void> {
  const details = { taken_back_by: actor, taken_back_at: new Date().toISOString() };
  return askAfterFailure(trx, { ...payment, parked_reason: null }, details, pollFirstMs);
}
