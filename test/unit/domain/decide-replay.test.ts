import { expect } from 'chai';
import {
  decideReplay,
  type PaymentFacts,
  REPLAY_REFUSALS,
  REPLAY_STEPS,
  type ReplayAction,
  type ReplayCandidate,
  type ReplayRefusal,
} from '../../../src/domain/support/replay-job.ts';

const FAILED_PAYMENT: ReplayCandidate = {
  kind: 'payout',
  state: 'waiting',
  replayed_at: null,
  row_status: 'pending',
  row_next_step: null,
  row_parked_reason: 'job failed: bug',
};
const UNSENT: PaymentFacts = {
  status: 'pending',
  awaitsRefund: false,
  mayHaveArrived: false,
  isTooLate: false,
  openDiscrepancies: [],
};
const AWAITING_REFUND = { status: 'failed', awaitsRefund: true } as const;

const decide = (job: Partial<ReplayCandidate> = {}, payment: Partial<PaymentFacts> | null = {}) =>
  decideReplay({ ...FAILED_PAYMENT, ...job }, payment && { ...UNSENT, ...payment });

describe('What comes of replaying a failed job', () => {
  const ACTIONS: [ReplayAction, Partial<PaymentFacts>][] = [
    ['send', {}],
    ['report_untaken', { isTooLate: true }],
    ['ask_not_send', { mayHaveArrived: true }],
    ['ask_not_send', { mayHaveArrived: true, isTooLate: true }],
    ['ask', { status: 'processing' }],
    ['ask', { status: 'processing', mayHaveArrived: true }],
    ['refund', AWAITING_REFUND],
    ['refund', { ...AWAITING_REFUND, mayHaveArrived: true, isTooLate: true }],
    ['ask', { status: 'failed', openDiscrepancies: ['taken_after_failure'] }],
    ['ask', { ...AWAITING_REFUND, openDiscrepancies: ['taken_after_failure'] }],
    ['send', { openDiscrepancies: ['overdue'] }],
    ['ask', { status: 'processing', openDiscrepancies: ['overdue'] }],
  ];
  for (const [action, payment] of ACTIONS) {
    it(`is ${action} for a payment of which this is so: ${JSON.stringify(payment)}`, () => {
      expect(decide({}, payment)).to.deep.equal({ action });
    });
  }

  it('is the same whichever step has failed: only the row counts', () => {
    for (const kind of ['collection', 'payout', 'reversal', 'return'] as const) {
      expect(decide({ kind })).to.deep.equal({ action: 'send' });
    }
  });

  it('is never a submission while an attempt may have arrived', () => {
    for (const status of ['pending', 'processing', 'failed', 'completed'] as const) {
      for (const awaitsRefund of [true, false]) {
        for (const isTooLate of [true, false]) {
          const { action } = decide({}, { status, awaitsRefund, isTooLate, mayHaveArrived: true });
          expect(action && REPLAY_STEPS[action]).to.not.equal('submit');
        }
      }
    }
  });

  it('is that a stored callback is applied, and a webhook delivered', () => {
    expect(decide({ kind: 'callback', row_status: 'stored' }, null)).to.deep.equal({
      action: 'apply',
    });
    expect(decide({ kind: 'webhook', row_status: 'pending' }, null)).to.deep.equal({
      action: 'deliver',
    });
  });

  const REFUSED: Readonly<
    Record<ReplayRefusal, [Partial<ReplayCandidate>, Partial<PaymentFacts> | null][]>
  > = {
    replayed: [
      [{ replayed_at: new Date() }, {}],
      [{ replayed_at: new Date(), state: 'failed_again' }, {}],
      [{ replayed_at: new Date(), row_status: null }, null],
    ],
    gone: [[{ row_status: null, row_parked_reason: null, state: 'moved_on' }, null]],
    ended: [
      [{ row_parked_reason: null }, { status: 'completed' }],
      [{ row_parked_reason: null }, { status: 'failed' }],
      // Whatever it is parked for, there is nothing left to do.
      [{}, { status: 'completed', openDiscrepancies: ['second_success'] }],
      [{ kind: 'callback', row_status: 'processed', row_parked_reason: null }, null],
      [{ kind: 'callback', row_status: 'rejected', row_parked_reason: null }, null],
      [{ kind: 'webhook', row_status: 'delivered', row_parked_reason: null }, null],
      [{ kind: 'webhook', row_status: 'exhausted', row_parked_reason: null }, null],
    ],
    moved_on: [
      [{ row_next_step: 'poll', row_parked_reason: null, state: 'moved_on' }, {}],
      [{ row_next_step: 'refund', row_parked_reason: null }, AWAITING_REFUND],
      [
        { kind: 'webhook', row_next_step: 'deliver', row_parked_reason: null, state: 'moved_on' },
        null,
      ],
    ],
    failed_since: [[{ state: 'moved_on' }, {}]],
    parked_otherwise: [
      [{ row_parked_reason: 'discrepancy: other_amount', state: 'moved_on' }, {}],
      [{ row_parked_reason: 'discrepancy: other_amount' }, AWAITING_REFUND],
      [{ row_parked_reason: 'overdue: the gateway has not taken it', state: 'moved_on' }, {}],
    ],
    discrepancy: [
      [{}, { openDiscrepancies: ['other_payment'] }],
      [{}, { openDiscrepancies: ['overdue', 'other_amount'], ...AWAITING_REFUND }],
    ],
  };
  for (const refusal of REPLAY_REFUSALS) {
    it(`is refused: ${refusal}`, () => {
      for (const [job, payment] of REFUSED[refusal]) {
        expect(decide(job, payment), JSON.stringify([job, payment])).to.deep.equal({ refusal });
      }
    });
  }
});
