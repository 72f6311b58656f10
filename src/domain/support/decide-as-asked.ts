import type { Transaction } from '../../connections/database.ts';
import type { Audited, AuditedChange } from '../audited-change.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { type Decided, decideWithin } from './decide-discrepancy.ts';
import type { DiscrepancyCase } from './discrepancy-cases.ts';
import type { Resolution } from './resolution.ts';
import type { Decision, ResolveOptions } from './resolve-discrepancy.ts';

/** A decision about a discrepancy, with the facts that it was made on. */
export interface AskedDecision {
  id: string;
  as: Resolution;
  trans_id: string | null;
  /** What the person saw. */
  status: PaymentStatus | null;
  stake_cents: number;
  findings: number;
}

/** Returns the most money that a decision may be about, in cents; 0 when no amount is known. */
export function stakeOf({ asked_cents, amount_cents, suspense_cents }: DiscrepancyCase): number {
  return Math.max(asked_cents ?? 0, amount_cents ?? 0, suspense_cents ?? 0);
}

/** Returns a decision with the facts that it is made on. */
export function askedDecision(
  found: DiscrepancyCase,
  as: Resolution,
  trans_id: string | null,
): AskedDecision {
  return { id: found.id, as, trans_id, ...factsOf(found) };
}

/**
 * Makes a decision that somebody has asked for and a second person has approved, in the caller's
 * transaction.
 * @throws OperatorRefusal when it is not possible any more, or the facts have changed
 */
export async function resolveAsAsked(
  trx: Transaction,
  { id, as, trans_id: transId, ...seen }: AskedDecision,
  { requested_by: actor, reason }: { requested_by: string; reason: string },
  options: ResolveOptions,
): Promise<AuditedChange<Decided>> {
  const change = await decideWithin(trx, id, { as, actor, reason, transId }, options);
  const now = factsOf(change.value.before);
  const isSame =
    now.status === seen.status &&
    now.stake_cents === seen.stake_cents &&
    now.findings === seen.findings;
  if (isSame) return change;
  throw new OperatorRefusal(
    'The discrepancy or its payment has changed since: reject the request, look again, and ask anew',
  );
}

/**
 * Decides about a discrepancy without a second person.
 * @param isAlone tells whether one person may decide about so many cents
 * @throws OperatorRefusal as `decideDiscrepancy`, and when it needs a second person
 */
export function decideAlone(
  audited: Audited,
  id: string,
  decision: Decision,
  { isAlone, ...options }: ResolveOptions & { isAlone(cents: number): boolean },
): Promise<Decided> {
  return audited(async (trx) => {
    const change = await decideWithin(trx, id, decision, options);
    if (isAlone(stakeOf(change.value.before))) return change;
    throw new OperatorRefusal('So much money needs a second person: ask for it');
  });
}

function factsOf(found: DiscrepancyCase) {
  const { status, evidence } = found;
  return { status, stake_cents: stakeOf(found), findings: evidence.length };
}
