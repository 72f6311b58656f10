import { createHash } from 'node:crypto';
import type { Transaction } from '../../connections/database.ts';
import type { AuditedChange } from '../audit/audit.ts';
import { GATEWAY_TOLD_SUCCESS } from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import type { Approvers } from '../staff/approval-actions.ts';
import { assignedRows } from './assign-row.ts';
import { type Decided, decideWithin, type JournalDocument, stakeOf } from './decide-discrepancy.ts';
import { type DiscrepancyCase, findCase, paymentOf } from './discrepancy-cases.ts';
import type { Resolution, ResolveOptions } from './resolution.ts';

/** A decision about a discrepancy, with the facts that it was made on. */
export interface AskedDecision extends DiscrepancyFacts {
  id: string;
  as: Resolution;
  trans_id: string | null;
  /** A hash of the status and the journals that the preview has shown. */
  effect: string;
  /** The other questions about the payment, with their findings, and the callbacks that wait. */
  besides: string[];
}

/** The facts that the person has seen before deciding. */
export interface DiscrepancyFacts {
  status: PaymentStatus | null;
  stake_cents: number;
  /** A hash of all findings. */
  findings: string;
}

/**
 * Returns a decision with the facts that it is made on.
 * @param previewed is the effect that the decision would have now
 */
export function askedDecision(
  found: DiscrepancyCase,
  as: Resolution,
  trans_id: string | null,
  previewed: Decided,
): AskedDecision {
  const effect = effectOf(previewed);
  return { id: found.id, as, trans_id, ...factsOf(found), effect, besides: besidesOf(found) };
}

/**
 * Makes a decision that somebody has asked for and a second person has approved, in the caller's
 * transaction. It books the previewed journals or nothing: a changed commission, for example,
 * would book what nobody has approved.
 * @throws OperatorRefusal when it is not possible any more, or the facts or the effect have changed
 */
export async function resolveAsAsked(
  trx: Transaction,
  { id, as, trans_id: transId, effect, besides, ...seen }: AskedDecision,
  { requested_by: actor, approved_by, reason }: Approvers,
  options: ResolveOptions,
): Promise<AuditedChange<Decided>> {
  await refuseAssigner(trx, id, approved_by);
  const change = await decideWithin(trx, id, { as, actor, reason, transId }, options);
  const { before } = change.value;
  const isAsked =
    isSame(before, seen) &&
    effectOf(change.value) === effect &&
    // A question may have been answered meanwhile. That refuses no approval.
    besidesOf(before).every((each) => besides.includes(each));
  if (isAsked) return change;
  throw new OperatorRefusal(
    'The discrepancy, its payment or what would be booked has changed since: reject the request, look again, and ask anew',
  );
}

/** Refuses a second person who has said whose money a row brings back, while that is a question of the payment. */
async function refuseAssigner(trx: Transaction, id: string, approved_by: string): Promise<void> {
  const found = await findCase(trx, id);
  const payment = found && paymentOf(found);
  const assigned = payment ? await assignedRows(trx, payment) : [];
  if (!assigned.some(({ by }) => by === approved_by)) return;
  throw new OperatorRefusal(
    'You have said whose money the row brings back: somebody else must agree',
  );
}

/** Returns what a decision is made on. */
export function factsOf(found: DiscrepancyCase): DiscrepancyFacts {
  const { status, evidence, evidence_complete, details, by_hand_for, rows_back } = found;
  const { booked_for, [GATEWAY_TOLD_SUCCESS]: isToldAgain } = details;
  const { moved_trans_id, moved_account, is_unproven } = found;
  const findings = hashOf([
    // A payment may have got money that is to be dismissed, or an admin may have booked it by hand.
    ...[evidence, evidence_complete, booked_for, by_hand_for, rows_back],
    // The gateway may have told otherwise, or a file the receipt under which money goes back.
    ...[isToldAgain, moved_trans_id, moved_account, is_unproven],
  ]);
  return { status, stake_cents: stakeOf(found), findings };
}

/** Returns what else is open about the payment: another question may have come, or news that waits. */
function besidesOf({ other_questions, waiting_callbacks }: DiscrepancyCase): string[] {
  return [other_questions, waiting_callbacks].flatMap((list) => list?.split(',') ?? []);
}

/**
 * Returns a hash of the status, the journals and the next step that a decision leaves, without ids and
 * times of journals, of what it does to other payments, and of who says otherwise.
 */
function effectOf({ after, booked, others, goesOn, otherwise }: Decided): string {
  const textsOf = (journals: JournalDocument[]) =>
    journals.map(({ source, kind, entries }) => [source, kind, entries]);
  return hashOf([
    goesOn,
    after.status,
    otherwise,
    textsOf(booked),
    others.map(({ id, to, booked: theirs }) => [id, to, textsOf(theirs)]),
  ]);
}

function hashOf(what: unknown): string {
  return createHash('sha256').update(JSON.stringify(what)).digest('base64url');
}

/** Tells whether a discrepancy is still as a person has seen it. */
export function isSame(found: DiscrepancyCase, seen: DiscrepancyFacts): boolean {
  const { status, stake_cents, findings } = factsOf(found);
  return status === seen.status && stake_cents === seen.stake_cents && findings === seen.findings;
}
