import { expect } from 'chai';
import { type Outcome, problemOf } from '../../../scripts/bench/drain/outcomes.ts';

const DONE: Outcome = {
  status: 'completed',
  acceptedMs: 1,
  finalMs: 2,
  deliveredMs: 3,
  events: 1,
};

const RECEIVED = new Set(['one', 'another']);

describe('The end of a drained backlog', () => {
  it('is right when every payment is completed, has one event and a delivered webhook', () => {
    expect(problemOf([DONE, DONE], RECEIVED, { count: 2 })).to.equal(null);
  });

  const wrong: [what: string, outcome: Outcome, problem: string][] = [
    ['a payment that failed', { ...DONE, status: 'failed' }, '1 did not end as they must'],
    ['a payment without an event', { ...DONE, events: 0 }, '1 have not one event'],
    ['a payment with two events', { ...DONE, events: 2 }, '1 have not one event'],
    ['an undelivered webhook', { ...DONE, deliveredMs: null }, '1 have no delivered webhook'],
  ];
  for (const [what, outcome, problem] of wrong) {
    it(`is wrong with ${what}`, () => {
      expect(problemOf([DONE, outcome], RECEIVED, { count: 2 })).to.equal(
        `of 2 payments ${problem}`,
      );
    });
  }

  it('is right when as many failed as must', () => {
    const outcomes = [DONE, { ...DONE, status: 'failed' }];
    expect(problemOf(outcomes, RECEIVED, { count: 2, failed: 1 })).to.equal(null);
    expect(problemOf([DONE, DONE], RECEIVED, { count: 2, failed: 1 })).to.equal(
      'of 2 payments 1 did not end as they must',
    );
  });

  it('is wrong with a webhook that did not arrive, or did under two ids', () => {
    for (const ids of [['one'], ['one', 'another', 'third']]) {
      expect(problemOf([DONE, DONE], new Set(ids), { count: 2 })).to.equal(
        'of 2 payments 1 sent a webhook to nobody or under two ids',
      );
    }
  });

  it('is wrong with a payment that was accepted and is gone', () => {
    expect(problemOf([DONE], RECEIVED, { count: 2 })).to.equal('of 2 payments 1 are missing');
  });
});
