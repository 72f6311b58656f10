import { shownName } from '../domain/discrepancies/row-back.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { kes } from '../domain/money.ts';
import { findPayment } from '../domain/payments/payment-store.ts';
import { MAX_PARTS } from '../domain/reconciliation/payouts-in-parts.ts';
import { UNSURE_SOURCES } from '../domain/settlement/sources.ts';
import { askedDecision, factsOf } from '../domain/support/asked-decision.ts';
import { assignedRows } from '../domain/support/assign-row.ts';
import { compareReceipt } from '../domain/support/compare-receipt.ts';
import { decideAlone, whyTwo } from '../domain/support/decide-alone.ts';
import {
  type Decided,
  type JournalDocument,
  previewDecision,
  stakeOf,
} from '../domain/support/decide-discrepancy.ts';
import { type DiscrepancyCase, findCase, paymentOf } from '../domain/support/discrepancy-cases.ts';
import { areProvenParts } from '../domain/support/join-parts.ts';
import type { Decision } from '../domain/support/resolution.ts';
import { RESOLUTION_WORDS, RESOLUTIONS, type Resolution } from '../domain/support/resolution.ts';
import { VEILED } from '../domain/veil.ts';
import type { Service } from '../service/service.ts';
import { optional, required, UsageError } from './field.ts';
import { define, type Look, type Noun } from './operation.ts';
import * as read from './readers.ts';

/** Names a discrepancy in the audit log and in requests. */
export function discrepancySubject(id: string): string {
  return `discrepancy ${id}`;
}

export const DISCREPANCY: Noun<DiscrepancyCase> = {
  fields: { id: required('discrepancy', read.uuid, 'The id of the discrepancy') },
  argument: 'id',
  find: async ({ database }, { id }) => {
    const found = await findCase(database, String(id));
    if (found) return found;
    throw new OperatorRefusal(`There is no discrepancy ${id}`);
  },
};

/** Decides about a discrepancy. A second person decides with the first where much money is at stake. */
export const resolveDiscrepancy = define({
  name: 'discrepancy.resolve',
  role: 'support',
  title: 'Decide a discrepancy',
  button: 'Decide',
  summary: 'Decides about a discrepancy, with everything that follows from it',
  notes:
    'completed: the payment is complete. accept-amount: likewise, with the amount that moved; a completed payment gets the amount that was told later. failed: the payment has failed; money that went out is lost to the operator. returned: the money goes back, or has come back. parts: several receipts (--trans-id A,B) together are the money of the payout. same: it is the money that completed the payment, or went back to the customer, under its right receipt. undo: the payment did not complete after all, its money has come back, or the file that told of it was wrong. dismissed: there is nothing to do. discrepancy list shows which of these are possible, and docs/discrepancies.md explains each.',
  twoPeople:
    'from STAFF_APPROVAL_LIMIT on, with all that you, or others alone about this merchant, have decided within 24 hours; to give money away if the gateway has not said so; to settle another payment with it; to complete without a receipt that something proves, or to believe an amount or account that only a file has told',
  about: DISCREPANCY,
  fields: {
    as: required('as', read.oneOf(RESOLUTIONS), 'The decision', { label: 'The decision' }),
    trans_id: optional(
      'trans-id',
      read.receipt,
      `The receipt of a payment that has completed, if nobody has told it, or those of up to ${MAX_PARTS} parts`,
      { label: 'Receipt' },
    ),
  },
  asksFirst: true,
  check: ({ trans_id, as }) => {
    if (as === 'parts' && trans_id === undefined) {
      throw new UsageError('Give the receipts of all parts (trans-id)');
    }
    if (trans_id === undefined || as === 'completed' || as === 'parts') return;
    throw new UsageError('A receipt (trans-id) is that of a payment that has completed');
  },
  whyNot: ({ id, resolution }) =>
    resolution === null ? null : `Discrepancy ${id} is resolved already: ${resolution}`,
  seen: async (executor, { id }) => factsOf((await findCase(executor, id))!),
  preview: async (look, values) => {
    if (!values) return null;
    const lines = [
      ...linesOf(await foresee(look, values), values),
      ...(values.as === 'undo' ? await assignedLines(look) : []),
    ];
    return (await isProven(look, values)) ? lines : [...lines, unproven(look, values)];
  },
  approval: async (look, values) => {
    const { service, subject } = look;
    const { staffApprovalLimit } = service.config;
    const foreseen = await foresee(look, values);
    const decision = decisionOf(look, values);
    const why =
      (await whyTwo(service.database, foreseen, decision, staffApprovalLimit)) ??
      ((await isProven(look, values)) ? null : unproven(look, values));
    if (why === null) return null;
    return {
      subject: discrepancySubject(subject.id),
      merchant_id: subject.merchant_id,
      amount_cents: stakeOf(subject),
      payload: askedDecision(subject, values.as, values.trans_id ?? null, foreseen),
      why: `${why} Somebody else must approve it. Nothing happens before.`,
    };
  },
  perform: async (deed, values) => {
    const { audited, service, subject, member } = deed;
    const limitCents = member && service.config.staffApprovalLimit;
    const decision = decisionOf(deed, values);
    const options = { ...optionsOf(service), limitCents };
    const row = await decideAlone(audited, subject.id, factsOf(subject), decision, options);
    return {
      title: `Discrepancy ${subject.id} (${subject.kind}) is resolved as ${values.as}`,
      row,
    };
  },
});

interface Values {
  as: Resolution;
  trans_id: string | undefined;
}

function decisionOf(
  { actor, reason }: Pick<Look<unknown>, 'actor' | 'reason'>,
  { as, trans_id }: Values,
): Decision {
  return { as, actor, reason, transId: trans_id ?? null };
}

/** Says that nothing proves the completion, and how it can be proved. */
function unproven({ service, subject }: Look<DiscrepancyCase>, { as, trans_id }: Values): string {
  if (isOnlyTold(subject, as) || (BELIEVES_MONEY.has(as) && subject.movement_id !== null)) {
    return 'Nothing but a file has told this amount or account.';
  }
  if (trans_id === undefined) return 'Without a receipt nothing proves that it has completed.';
  const canAsk = service.gateways.get(subject.gateway)?.askReceipt !== undefined;
  const advice = canAsk ? ' Ask the gateway about it first (payment ask-receipt).' : '';
  return `Neither a statement nor the gateway proves the receipt: a wrong row of a portal would look the same.${advice}`;
}

/** Tells whether a decision believes another amount or account, of which no money waits in suspense. */
function isOnlyTold({ kind, movement_id }: DiscrepancyCase, as: Resolution): boolean {
  if (movement_id !== null) return false;
  return as === 'accept-amount' || (as === 'undo' && /^other_(amount|account)$/.test(kind));
}

/** These decisions book money as it was told. */
const BELIEVES_MONEY: ReadonlySet<Resolution> = new Set<Resolution>(['completed', 'accept-amount']);

/** Tells whether nothing depends on a completion that only a person has seen. */
async function isProven(
  { service: { database, parserOf }, subject, member }: Look<DiscrepancyCase>,
  { as, trans_id }: Values,
): Promise<boolean> {
  const { payment_kind: kind, merchant_id, payment_id: id, movement_id } = subject;
  if (isOnlyTold(subject, as)) {
    return subject.evidence.some(
      ({ decided, told_by }) => !decided && told_by && !UNSURE_SOURCES.includes(told_by),
    );
  }
  const decider = member?.email ?? null;
  if (as === 'parts' && kind && merchant_id && id) {
    const payment = await findPayment(database, { kind, merchant_id, id });
    const joined = { transId: trans_id ?? '', parserOf, decider };
    return payment === undefined || areProvenParts(database, payment, joined);
  }
  // Money in suspense was told by somebody else, or by a file, which proves neither its amount nor its account.
  if (BELIEVES_MONEY.has(as) && movement_id !== null && subject.is_unproven) return false;
  if (as !== 'completed' || movement_id !== null || !kind || !merchant_id || !id) return true;
  if (trans_id === undefined) return false;
  const payment = await findPayment(database, { kind, merchant_id, id });
  return payment === undefined || compareReceipt(database, payment, trans_id, parserOf, decider);
}

/** Makes the decision and undoes it at once. */
function foresee(look: Look<DiscrepancyCase>, values: Values): Promise<Decided> {
  const { service, subject } = look;
  const decision = decisionOf({ ...look, reason: look.reason || 'Preview' }, values);
  return previewDecision(service.database, subject.id, decision, optionsOf(service));
}

function optionsOf({ config, parserOf }: Service) {
  return { ...config, parserOf };
}

function linesOf(decided: Decided, { as, trans_id }: Values): string[] {
  const { before, after, booked, others, wallets, goesOn, refund_cents } = decided;
  const { payment_kind, ref_no } = before;
  return [
    ...(ref_no === null ? [] : [`It is about the ${payment_kind} ${VEILED.numbers(ref_no)}.`]),
    `${RESOLUTION_WORDS[as]} (${as}).`,
    ...(before.rows_back ?? []).map(
      (row) =>
        `The row ${shownName(row, null)} of a statement brings as much back, and may be this money: look whether it is booked by hand.`,
    ),
    ...(before.kind === 'money_back' ? [COUNTS_AS_BACK] : []),
    ...(trans_id ? [`Its receipt is ${trans_id}.`] : []),
    ...(before.status === null ? [] : [moveOf(before, after)]),
    ...booked.map(bookedLine),
    ...others.flatMap((other) => [
      `The gateway has told the receipt for the ${other.kind} ${other.id} of merchant ${other.merchant_id}, too: that payment goes from ${other.from} to ${other.to}.`,
      ...other.booked.map(bookedLine),
    ]),
    ...(booked.length + others.length === 0 ? ['Nothing is booked at once.'] : []),
    ...wallets.map(
      ({ kind, before_cents, after_cents }) =>
        `The ${kind} wallet has ${kes(before_cents)}, and ${kes(after_cents)} afterwards.`,
    ),
    ...(goesOn === 'refund'
      ? [`Then its refund of ${kes(refund_cents)} goes to the payout wallet.`]
      : []),
    ...(as === 'returned' && payment_kind === 'collection' ? [returnLine(before)] : []),
    ...(goesOn === 'poll' ? ['Then the gateway is asked about it.'] : []),
  ];
}

/** Names the rows of other questions that one member has assigned to the payment. They are answered, too. */
async function assignedLines({ service, subject }: Look<DiscrepancyCase>): Promise<string[]> {
  const payment = paymentOf(subject);
  const assigned = payment ? await assignedRows(service.database, payment) : [];
  return assigned
    .filter(({ row }) => row !== subject.trans_id)
    .map(
      ({ row, by }) =>
        `${by} has said that the row ${shownName(row, null)} brings this money back. You agree to that, too.`,
    );
}

const COUNTS_AS_BACK =
  'If it is not booked by hand, the row counts as the coming back of the oldest payment that it fits and that is called back already. The charge of that payment is booked again then, if it was taken back.';

function returnLine({ suspense_cents, moved_account, account }: DiscrepancyCase): string {
  const to = VEILED.account(moved_account ?? account ?? 'the phone that paid');
  return `Then ${kes(suspense_cents ?? 0)} go back to ${to}.`;
}

function bookedLine({ source, kind, entries }: JournalDocument): string {
  const entered = entries.map(({ account, amount }) => `${account} ${amount}`);
  return `Booked: ${source} ${kind}: ${entered.join(', ')}.`;
}

function moveOf({ status: from }: DiscrepancyCase, { status: to }: DiscrepancyCase): string {
  return from === to ? `The payment stays ${from}.` : `The payment goes from ${from} to ${to}.`;
}
