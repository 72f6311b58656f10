import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';
import type { Audited, AuditedChange } from '../audit/audit.ts';
import { type DiscrepancyKind, TOLD_AGAIN_BY } from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import { kes } from '../money.ts';
import { needsApproval } from '../staff/approvals.ts';
import { type DiscrepancyFacts, isSame } from './asked-decision.ts';
import { type Decided, decideWithin, stakeOf, takesAdoptionBack } from './decide-discrepancy.ts';
import type { DiscrepancyCase } from './discrepancy-cases.ts';
import type { Decision, Resolution, ResolveOptions } from './resolution.ts';

/**
 * Settles a discrepancy as `resolveDiscrepancy` does, in a transaction of its own, and tells
 * what that has booked. The audit log keeps it, with its stake.
 * @param seen is what the person has seen of the discrepancy
 * @param limitCents is STAFF_APPROVAL_LIMIT; null when there are no two people yet
 * @throws OperatorRefusal when it cannot be decided like that, needs a second person, or has
 * changed; nothing is changed then
 */
export function decideAlone(
  audited: Audited,
  id: string,
  seen: DiscrepancyFacts,
  decision: Decision,
  { limitCents, ...options }: ResolveOptions & { limitCents: number | null },
): Promise<Decided> {
  return audited(async (trx): Promise<AuditedChange<Decided>> => {
    const change = await decideWithin(trx, id, decision, options);
    if (!isSame(change.value.before, seen)) {
      throw new OperatorRefusal('The discrepancy or its payment has changed since: look again');
    }
    if (limitCents === null) return change;
    // Two decisions at once would not see each other's stakes.
    await lockUntilCommit(trx, 'stakes of decisions');
    const why = await whyTwo(trx, change.value, decision, limitCents);
    if (why === null) return change;
    throw new OperatorRefusal(`${why} Ask for a second person`);
  });
}

/**
 * Says why a decision needs a second person; null when one person may make it.
 * @param decided is what it does, or would do
 * @param limitCents is STAFF_APPROVAL_LIMIT
 */
export async function whyTwo(
  database: Database | Transaction,
  decided: Decided,
  { as, actor }: Pick<Decision, 'as' | 'actor'>,
  limitCents: number,
): Promise<string | null> {
  const { before, others, otherwise } = decided;
  if (!before.evidence_complete) return 'More was told than is kept.';
  if (isOfUnknownAmount(before)) return 'Nobody knows how much money it is about.';
  if (others.length > 0) return 'It settles another payment too.';
  if (takesAdoptionBack(before, as)) return 'Two people have adopted the money.';
  if (otherwise !== null) return otherwise;
  if (losesMoney(decided) || (givesMoney(decided, as) && !isToldByGateway(before, as))) {
    return 'It gives money away on the word of a person, not of the gateway.';
  }
  return whyTooMuch(database, before, actor, limitCents);
}

/**
 * Tells whether a decision adds to a merchant's wallets, at once or by a refund, leaves a merchant what
 * a reversal was to take, or what its gateway does not list, sends money back to a customer, believes that money has
 * come back, or takes money out of the books of a gateway.
 */
function givesMoney({ before, after, booked }: Decided, as: Resolution): boolean {
  if (as === 'returned' || as === 'same') return true;
  // The question says otherwise than the people do.
  if (as === 'dismissed' && before.is_unsure) return before.payment_kind === 'collection';
  if (as === 'undo' && before.suspense_cents !== null) return true;
  const fails = before.status !== 'failed' && after.status === 'failed';
  if (fails && LEAVES_MONEY.has(before.payment_kind)) return true;
  if (LEAVES_MONEY.has(before.payment_kind) && after.status === 'failed') {
    if (SAYS_IT_WAS_PAID.has(before.kind) || isToldAgain(before)) return true;
  }
  const entries = booked.flatMap((journal) => journal.entries);
  const sumOf = (prefix: string) =>
    entries
      .filter(({ account }) => account.startsWith(prefix))
      .reduce((sum, { amount }) => sum + centsOf(amount), 0);
  return sumOf('wallet:') > 0 || sumOf('gateway_float') > 0;
}

/** Tells whether nobody has told the amount of money that no payment here explains. */
function isOfUnknownAmount(found: DiscrepancyCase): boolean {
  const isUnknown = found.kind === 'unknown_movement' || found.kind === 'unknown_payment';
  return isUnknown && stakeOf(found) === 0;
}

/** Tells whether a decision writes money off as the operator's loss. */
function losesMoney({ booked }: Decided): boolean {
  return booked.some(({ entries }) => entries.some(({ account }) => account === 'losses'));
}

/** The failure of these leaves the merchant money, of which the gateway may have paid as much out. */
const LEAVES_MONEY: ReadonlySet<DiscrepancyCase['payment_kind']> = new Set(['payout', 'reversal']);

/**
 * The gateway says that a payout or a reversal which has failed here was paid: every decision lets the refund, or
 * another reversal, go.
 */
const SAYS_IT_WAS_PAID: ReadonlySet<DiscrepancyKind> = new Set([
  ...(['taken_after_failure', 'receipt_of_another', 'other_payment'] as const),
]);

/** The gateway has told again of money that people have called back, or lost. */
function isToldAgain({ kind, evidence }: DiscrepancyCase): boolean {
  return (
    kind === 'doubted' &&
    evidence.some(({ decided, details }) => !decided && TOLD_AGAIN_BY in details)
  );
}

/** Reads an amount of a journal for people, which has two decimals. */
function centsOf(amount: string): number {
  return Number(amount.replace('.', ''));
}

/** Tells whether the gateway itself says what the decision makes of the money. */
function isToldByGateway(found: DiscrepancyCase, as: Resolution): boolean {
  const { kind, payment_kind, suspense_cents, is_unproven, is_claimed } = found;
  if (as === 'undo') return false;
  // The service itself knows that nothing could be sent.
  if (kind === 'never_taken' && as === 'failed') return true;
  // A receipt or an amount that nothing proves needs a second person by another rule.
  if (as === 'parts') return true;
  if ((as === 'completed' || as === 'accept-amount') && suspense_cents === null) return true;
  if (as === 'returned' && (payment_kind !== 'collection' || kind === 'undone_money')) return false;
  // The customer has paid once, and the merchant would keep money, or a receipt, that only people have told of.
  if (as === 'returned' && (found.is_unsure || found.has_unsure_receipt)) return false;
  // A reversal has paid its customer already, at the operator's loss.
  if (found.status === 'completed' && found.undone_at !== null) return false;
  const isByMovement = as === 'completed' || as === 'accept-amount' || as === 'returned';
  // It has told the receipt for another payment too, which may be the right one.
  // Its last word about the money may be that it has bounced, whatever was decided about that.
  const mayBeElsewhere = is_unproven || is_claimed || found.has_bounced === true;
  return isByMovement && suspense_cents !== null && !mayBeElsewhere;
}

/** The sums of one person's decisions count for this number of hours. */
export const STAKE_HOURS = 24;

/** Adds the stake to what was decided by one person lately, by this one or about this merchant. */
async function whyTooMuch(
  database: Database | Transaction,
  found: DiscrepancyCase,
  actor: string,
  limitCents: number,
): Promise<string | null> {
  const { merchant_id } = found;
  const stake = stakeOf(found);
  const limit = `The limit for one person is ${kes(limitCents)}.`;
  if (needsApproval(stake, limitCents)) return `${kes(stake)} is at stake. ${limit}`;
  const sums = await firstRow<{ by_actor: number; of_merchant: number }>(
    database,
    `SELECT coalesce(sum(cents) FILTER (WHERE actor = :actor), 0) AS by_actor,
       coalesce(sum(cents) FILTER (WHERE merchant_id = :merchant_id), 0) AS of_merchant
     FROM (${DECIDED_ALONE}) AS stakes WHERE actor = :actor OR merchant_id = :merchant_id`,
    { actor, merchant_id },
  );
  const [own, ofMerchant] = [Number(sums!.by_actor), Number(sums!.of_merchant)];
  if (!needsApproval(stake + Math.max(own, ofMerchant), limitCents)) return null;
  const whose = own >= ofMerchant ? 'you have decided alone' : 'one person has decided for it';
  const sum = kes(Math.max(own, ofMerchant));
  return `${kes(stake)} is at stake, and ${whose} about ${sum} within ${STAKE_HOURS} hours. ${limit}`;
}

/**
 * SQL: the stakes of lately that one person has decided about. A second person leaves an approval. A line without a
 * reason is of a read, and has what somebody typed.
 */
export const DECIDED_ALONE = `SELECT actor, merchant_id, CAST(details->>'stake_cents' AS bigint) AS cents
  FROM audit_log WHERE happened_at > now() - interval '${STAKE_HOURS} hours'
    AND reason IS NOT NULL AND details ? 'stake_cents' AND NOT details ? 'approval'`;
