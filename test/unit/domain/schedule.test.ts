import { expect } from 'chai';
import type { AnyPayment } from '../../../src/domain/payments/payment-store.ts';
import {
  pollSoonStep,
  pollStep,
  putOffStep,
  REFUND_STEP,
  submitStep,
} from '../../../src/domain/payments/schedule.ts';
import type { StepChange } from '../../../src/jobs/outbox.ts';

const FIRST_MS = 5_000;
const OVERDUE_AFTER_MS = 600_000;

/** Makes a payment of this age, as far as its schedule depends on it. */
function aged(ageMs: number, fields: Partial<AnyPayment> = {}): AnyPayment {
  const payment = {
    ...{ kind: 'collection', gateway: 'simulator', parked_reason: null },
    created_at: new Date(Date.now() - ageMs),
    overdue: ageMs > OVERDUE_AFTER_MS,
    ...fields,
  };
  return payment as AnyPayment;
}

function delayOf(step: StepChange): number {
  if (typeof step === 'string' || 'park' in step) throw new Error('There is no next step');
  return step.delayMs;
}

describe('The next question about a payment', () => {
  const delayAt = (ageMs: number) => {
    const payment = aged(ageMs);
    return delayOf(pollStep(payment, FIRST_MS, payment.created_at.getTime() + ageMs));
  };

  it('comes at half of its age, within bounds', () => {
    expect([0, 10_000, 40_000, 120_000, 600_000].map(delayAt)).to.deep.equal([
      5_000, 5_000, 20_000, 60_000, 60_000,
    ]);
  });

  it('comes for as long as it is open, more rarely when it is overdue', () => {
    expect([600_001, 2_000_000, 1e9].map(delayAt)).to.deep.equal([300_000.5, 600_000, 600_000]);
  });

  it('gets its job only when it is due', () => {
    expect(pollStep(aged(0), FIRST_MS)).to.include({ next: 'poll', queue: null });
  });

  it('comes as soon as after a submission when the gateway may never have got it', () => {
    expect(delayOf(pollSoonStep(aged(120_000), FIRST_MS))).to.equal(FIRST_MS);
    expect(delayOf(pollSoonStep(aged(1_200_000), FIRST_MS))).to.equal(600_000);
  });

  it('does not come while the payment is parked', () => {
    const parked = aged(0, { parked_reason: 'support looks at it' });
    expect(pollStep(parked, FIRST_MS)).to.deep.equal({ park: 'support looks at it' });
    expect(pollSoonStep(parked, FIRST_MS)).to.deep.equal({ park: 'support looks at it' });
  });
});

describe('The next submission of a payment', () => {
  it('comes at once, and later each time that it was not taken', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8, 100].map((attemptNo) =>
      delayOf(submitStep(aged(0), attemptNo)),
    );
    expect(delays).to.deep.equal([
      ...[0, 1_000, 2_000, 5_000, 15_000, 30_000, 60_000, 300_000, 300_000, 300_000],
    ]);
  });

  it('is put off for half a minute while it may not go', () => {
    expect(putOffStep(aged(0))).to.include({ next: 'submit', delayMs: 30_000 });
  });
});

describe('The refund of a failed payout', () => {
  it('is due at once', () => {
    expect(REFUND_STEP).to.include({ next: 'refund', delayMs: 0 });
  });
});
