import { OperatorRefusal } from '../../domain/errors.ts';
import { kes } from '../../domain/money.ts';
import { needsApproval, requestApproval } from '../../domain/staff/approvals.ts';
import {
  askedDecision,
  decideAlone,
  factsOf,
  stakeOf,
} from '../../domain/support/decide-as-asked.ts';
import { type Decided, previewDecision } from '../../domain/support/decide-discrepancy.ts';
import type { DiscrepancyCase } from '../../domain/support/discrepancy-cases.ts';
import { RESOLUTION_WORDS } from '../../domain/support/resolution.ts';
import type { Decision } from '../../domain/support/resolve-discrepancy.ts';
import { auditedBy } from '../access/audit.ts';
import { type DiscrepancyFile, subjectOf } from '../pages/discrepancies.tsx';
import { pathTo } from '../routes.ts';
import type { Action, Given } from '../shell/action.ts';
import { requireVersion, Version } from '../shell/reason-form.tsx';
import type { Visit } from '../visit.ts';

export const MAX_RECEIPT_LENGTH = 100;

/** Decides about a discrepancy, or asks for a second person where so much money needs one. */
export const decide: Action<DiscrepancyFile> = {
  action: 'discrepancy.resolve',
  title: 'Decide a discrepancy',
  verb: 'Decide',
  carried: ['as', 'trans_id'],
  preview: async (visit, { found }, given) => {
    const decision = decisionIn(given, visit, found, 'Preview');
    const { lines, before, needsSecond } = await foresee(visit, found, decision);
    const { staffApprovalLimit } = visit.service.config;
    return { lines, secondPerson: needsSecond ? secondWords(before, staffApprovalLimit) : null };
  },
  fields: (file) => <Version of={factsOf(file.found)} />,
  perform: async (visit, { found }, { audited, reason }) => {
    const { config, parserOf } = visit.service;
    const { staffApprovalLimit } = config;
    const decision = decisionIn(visit.form, visit, found, reason);
    const { needsSecond, lines, before } = await foresee(visit, found, decision);
    requireVersion(visit.form, factsOf(before));
    if (needsSecond) {
      const { id } = await ask(visit, before, decision, lines);
      return { goTo: pathTo('approval', { id }) };
    }
    const isAlone = (cents: number) => !needsApproval(cents, staffApprovalLimit);
    await decideAlone(audited, found.id, decision, {
      ...config,
      parserOf,
      isAlone,
      seen: factsOf(before),
    });
  },
};

/** Reads the decision of an address or a form. @throws OperatorRefusal when it is not possible */
function decisionIn(
  given: Given,
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

/** Makes a decision, and undoes it at once. @throws OperatorRefusal when it is not possible */
async function foresee({ service }: Visit, found: DiscrepancyCase, decision: Decision) {
  const { database, config, parserOf } = service;
  const options = { ...config, parserOf };
  const decided = await previewDecision(database, found.id, decision, options);
  const { before } = decided;
  const needsSecond = needsApproval(stakeOf(before), config.staffApprovalLimit);
  return { lines: linesOf(decided, decision), needsSecond, before };
}

function linesOf({ before, after, booked }: Decided, { as, transId }: Decision): string[] {
  const { payment_kind, ref_no } = before;
  return [
    ...(ref_no === null ? [] : [`It is about the ${payment_kind} ${ref_no}.`]),
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
function secondWords(before: DiscrepancyCase, limitCents: number): string {
  return `${kes(stakeOf(before))} is at stake. Above ${kes(limitCents)} somebody else must approve it. Nothing happens before.`;
}
