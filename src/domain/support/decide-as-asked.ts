import { createHash } from 'node:crypto';
import type { Transaction } from '../../connections/database.ts';
import type { Audited, AuditedChange } from '../audit/audit.ts';
import { OperatorRefusal } from '../errors.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { type Decided, decideWithin } from './decide-discrepancy.ts';
import type { DiscrepancyCase } from './discrepancy-cases.ts';
import type { Resolution } from './resolution.ts';
import type { Decision, ResolveOptions } from './resolve-discrepancy.ts';

/** A decision about a discrepancy, with the facts that it was made on. */
export interface AskedDecision extends DiscrepancyFacts {
  id: string;
  as: Resolution;
  trans_id: string | null;
}

/** What the person saw. */
export interface DiscrepancyFacts {
  status: PaymentStatus | null;
  stake_cents: number;
  /** A hash of all findings. */
  findings: string;
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
  if (isSame(change.value.before, seen)) return change;
  throw new OperatorRefusal(
    'The discrepancy or its payment has changed since: reject the request, look again, and ask anew',
  );
}

interface Alone {
  /** The facts on which the person has decided. */
  seen: DiscrepancyFacts;
  isAlone(cents: number): boolean;
}

/**
 * Decides about a discrepancy without a second person.
 * @param isAlone tells whether one person may decide about this sum, in cents
 * @throws OperatorRefusal as `decideDiscrepancy`, when it needs a second person, and when the
 * facts have changed
 */
export function decideAlone(
  audited: Audited,
  id: string,
  decision: Decision,
  { isAlone, seen, ...options }: ResolveOptions & Alone,
): Promise<Decided> {
  return audited(async (trx) => {
    const change = await decideWithin(trx, id, decision, options);
    if (!isSame(change.value.before, seen)) {
      throw new OperatorRefusal('The discrepancy or its payment has changed since: look again');
    }
    if (isAlone(stakeOf(change.value.before))) return change;
    throw new OperatorRefusal('So much money needs a second person: ask for it');
  });
}

/** Returns what a decision is made on. */
export function factsOf(found: DiscrepancyCase): DiscrepancyFacts {
  const { status, evidence, evidence_complete } = found;
  const text = JSON.stringify([evidence, evidence_complete]);
  const findings = createHash('sha256').update(text).digest('base64url');
  return { status, stake_cents: stakeOf(found), findings };
}

function isSame(found: DiscrepancyCase, seen: DiscrepancyFacts): boolean {
  const { status, stake_cents, findings } = factsOf(found);
  return status === seen.status && stake_cents === seen.stake_cents && findings === seen.findings;
}
