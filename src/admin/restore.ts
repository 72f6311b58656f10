import { pauseChannel, pausedChannels } from '../domain/channels/channel-store.ts';
import type { GatewayPaymentKind } from '../domain/gateway-results.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { PAYMENT_KINDS } from '../domain/payments/payment-summary.ts';
import { type Marker, markRestored } from '../domain/upkeep/mark-restored.ts';
import { type OpenPayments, restoreProgress } from '../domain/upkeep/restore-progress.ts';
import { skipDirectoryNumbers } from '../domain/upkeep/skip-directory-numbers.ts';
import { skipEventNumbers } from '../domain/upkeep/skip-event-numbers.ts';
import { type ChangeContext, changes, reads } from './command.ts';
import { columns, moment } from './output.ts';

const mark = changes({
  summary: 'Treats every open payment of a restored database as possibly sent',
  notes: [
    'No open payment is sent before its gateway has been asked about it, and each is asked about',
    'at once; what is parked stays parked. Every channel that has a driver is paused, so no new',
    'payment is taken: channel resume opens each again. Event numbers go on a million higher than',
    'they were, numbers of new merchants and apps a thousand. SUBMISSION_PAUSED must be true. It',
    'may be run again until submissions go on. The whole way back from a backup:',
    'docs/operations.md.',
  ],
  options: {},
  run: async (context) => {
    if (!context.service.config.submissionPaused) {
      throw new OperatorRefusal(
        'SUBMISSION_PAUSED is not true: set it for every process first, then run this again',
      );
    }
    const { paused, before } = await pauseAll(context);
    await skipNumbers(context);
    const payments = [];
    for (const kind of PAYMENT_KINDS) payments.push(await markAll(context, kind));
    return {
      data: { paused_channels: paused, paused_before: before, payments },
      lines: [
        `Paused now: ${paused.join(', ') || 'none'}`,
        `Paused before: ${before.join(', ') || 'none'}`,
        ...columns([
          ['KIND', 'MARKED', 'OF THESE PARKED'],
          ...payments.map(({ kind, marked, parked }) => [kind, String(marked), String(parked)]),
        ]),
      ],
    };
  },
});

/** @returns the codes of the channels that this has paused, and of those that were before. */
async function pauseAll({ service, audited }: ChangeContext) {
  const before = await pausedChannels(service.database);
  const paused: number[] = [];
  for (const code of service.config.channels.keys()) {
    await audited(async (trx) => {
      const isChanged = await pauseChannel(trx, code);
      if (isChanged) paused.push(code);
      const audit = { merchant_id: null, subject: `channel ${code}`, details: { paused: true } };
      return { value: null, audit: isChanged ? audit : null };
    });
  }
  const inOrder = (codes: Iterable<number>) => [...codes].sort((one, other) => one - other);
  return { paused: inOrder(paused), before: inOrder(before) };
}

async function skipNumbers({ audited }: ChangeContext): Promise<void> {
  await audited(async (trx) => {
    await skipDirectoryNumbers(trx);
    const details = { merchants: await skipEventNumbers(trx) };
    return { value: null, audit: { merchant_id: null, subject: 'numbers', details } };
  });
}

/** Each batch is a transaction of its own: what is done stays done if this is interrupted. */
async function markAll({ audited }: ChangeContext, kind: GatewayPaymentKind) {
  const total = { kind, marked: 0, parked: 0 };
  let after: Marker | null = null;
  do {
    const from: Marker | null = after;
    const batch = await audited(async (trx) => {
      const value = await markRestored(trx, kind, from);
      const details = { kind, marked: value.marked, parked: value.parked };
      return { value, audit: { merchant_id: null, subject: `open ${kind}s`, details } };
    });
    total.marked += batch.marked;
    total.parked += batch.parked;
    after = batch.last;
  } while (after !== null);
  return total;
}

const status = reads({
  summary: 'Shows how far the open payments of a restored database are',
  notes: [
    'Exit status 1 as long as a gateway has not been asked about one of them since restore mark.',
    'NO ANSWER YET counts those that it was asked about, and has not said so far whether it has',
    'them: they are asked about again by themselves.',
  ],
  options: {},
  run: async ({ database }) => {
    const { marked_at, payments, unexplained } = await restoreProgress(database);
    if (!marked_at)
      throw new OperatorRefusal('No payments were marked yet: restore mark comes first');
    const unasked = payments.reduce((sum, each) => sum + each.unasked, 0);
    return {
      isFailure: unasked > 0,
      data: { marked_at: marked_at.toISOString(), unasked, unexplained, payments },
      lines: [
        `Marked ${moment(marked_at)}; not asked about yet: ${unasked}`,
        ...columns([
          ['KIND', 'OPEN', 'NOT ASKED YET', 'NO ANSWER YET', 'TO BE SENT', 'PARKED'],
          ...payments.map(({ kind, open, ...counts }: OpenPayments) => [
            kind,
            ...[open, counts.unasked, counts.unanswered, counts.unsent, counts.parked].map(String),
          ]),
        ]),
        `Open discrepancies about money that no payment here explains: ${unexplained}`,
      ],
    };
  },
});

export const restoreVerbs = { mark, status };
