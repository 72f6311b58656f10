import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { needsApproval, requestApproval } from '../../domain/staff/approvals.ts';
import {
  askedDecision,
  decideAlone,
  factsOf,
  stakeOf,
} from '../../domain/support/decide-as-asked.ts';
import { type Decided, previewDecision } from '../../domain/support/decide-discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import { RESOLUTION_WORDS } from '../../domain/support/resolution-words.ts';
import type { Decision } from '../../domain/support/resolve-discrepancy.ts';
import { auditedBy } from '../access/audited-by.ts';
import { pathTo } from '../routes.ts';
import { kes } from '../shell/money.tsx';
import { requireVersion } from '../shell/version.tsx';
import type { Visit } from '../visit.ts';
import { subjectOf } from './query.ts';

export const MAX_RECEIPT_LENGTH = 100;

/** What a decision will do, in lines for people. */
export interface Preview {
  lines: string[];
  needsSecond: boolean;
  /** The facts that it was computed from. */
  before: DiscrepancyCase;
}

/** Reads the decision of an address or a form. @throws OperatorRefusal when it is not possible */
export function decisionIn(
  given: Readonly<Record<string, string>>,
  { member }: Visit,
  found: DiscrepancyCase,
  reason: string,
): Decision {
  const { trans_id = '' } = given;
  const as = found.allowed.find((each) => each === given.as);
  if (!as) throw new OperatorRefusal('This decision is not possible, or not any more');
  if (trans_id.length > MAX_RECEIPT_LENGTH) {
    throw new OperatorRefusal(`A receipt has at most ${MAX_RECEIPT_LENGTH} characters`);
  }
  if (trans_id !== '' && as !== 'completed') {
    throw new OperatorRefusal('A receipt is that of a payment which has completed');
  }
  return { as, actor: member.email, reason, transId: trans_id || null };
}

/** Says what a decision will do: it is made, and undone at once. @throws OperatorRefusal */
export async function previewOf(
  { service }: Visit,
  found: DiscrepancyCase,
  decision: Decision,
): Promise<Preview> {
  const { database, config, parserOf } = service;
  const options = { ...config, parserOf };
  const decided = await previewDecision(database, found.id, decision, options);
  const { before } = decided;
  const needsSecond = needsApproval(stakeOf(before), config.staffApprovalLimit);
  return { lines: linesOf(decided, decision), needsSecond, before };
}

function linesOf({ before, after, booked }: Decided, { as, transId }: Decision): string[] {
  return [
    `${RESOLUTION_WORDS[as]} (${as}).`,
    ...(transId ? [`Its receipt is ${transId}.`] : []),
    ...(before.status === null ? [] : [moveOf(before, after)]),
    ...booked.map(({ source, kind, entries }) => {
      const entered = entries.map(({ account, amount }) => `${account} ${amount}`);
      return `Booked: ${source} ${kind}: ${entered.join(', ')}.`;
    }),
    ...(booked.length === 0 ? ['Nothing is booked at once.'] : []),
  ];
}

function moveOf({ status: from }: DiscrepancyCase, { status: to }: DiscrepancyCase): string {
  return from === to ? `The payment stays ${from}.` : `The payment goes from ${from} to ${to}.`;
}

/**
 * Decides about a discrepancy, or asks for a second person where so much money needs one.
 * @returns the page that shows what came of it
 * @throws OperatorRefusal when it is not possible any more
 */
export async function carryOut(
  visit: Visit,
  found: DiscrepancyCase,
  decision: Decision,
): Promise<string> {
  const { config, parserOf } = visit.service;
  const { reason } = decision;
  const { needsSecond, lines, before } = await previewOf(visit, found, decision);
  requireVersion(visit.form, factsOf(before));
  const { staffApprovalLimit } = config;
  if (needsSecond) {
    const { id } = await ask(visit, before, decision, lines);
    return pathTo('approval', { id });
  }
  const audited = auditedBy(visit, 'decideDiscrepancy', { action: 'discrepancy.resolve', reason });
  const isAlone = (cents: number) => !needsApproval(cents, staffApprovalLimit);
  await decideAlone(audited, found.id, decision, {
    ...{ ...config, parserOf, isAlone, seen: factsOf(before) },
  });
  return pathTo('discrepancy', { id: found.id });
}

function ask(visit: Visit, before: DiscrepancyCase, decision: Decision, lines: string[]) {
  const { as, actor, reason, transId } = decision;
  const audited = auditedBy(visit, 'decideDiscrepancy', { action: 'approval.request', reason });
  return requestApproval(audited, {
    action: 'discrepancy.resolve',
    subject: subjectOf(before.id),
    merchant_id: before.merchant_id,
    amount_cents: stakeOf(before),
    payload: askedDecision(before, as, transId),
    preview: lines.join('\n'),
    requested_by: actor,
    reason,
  });
}

/** Says why a decision waits for a second person. */
export function secondPersonWords({ before }: Preview, limitCents: number): string {
  return `${kes(stakeOf(before))} is at stake. Above ${kes(limitCents)} somebody else must approve it. Nothing happens before.`;
}
