import { expect } from 'chai';
import { deliveryOf, type Outcome, problemOf } from '../../../../scripts/bench/backlog.ts';
import { figureOf } from '../../../../scripts/bench/report.ts';

const DONE: Outcome = {
  isDeclined: false,
  acceptedMs: 1_000,
  deliveredMs: 1_500,
  event: 'transaction.completed',
  ids: new Set(['one']),
};
const UNTOLD: Outcome = { isDeclined: false, acceptedMs: 2_000, ids: new Set() };

describe('The end of a drained backlog', () => {
  it('is right when every payment has one webhook, about the end that it must have', () => {
    const declined = { ...DONE, isDeclined: true, event: 'transaction.failed' };
    expect(problemOf([DONE, declined], 2)).to.equal(null);
  });

  const wrong: [what: string, outcome: Outcome, problem: string][] = [
    ['a payment that failed', { ...DONE, event: 'transaction.failed' }, 'did not end as they must'],
    [
      'a declined payment that did not fail',
      { ...DONE, isDeclined: true },
      'did not end as they must',
    ],
    ['a payment without a webhook', UNTOLD, 'have no webhook'],
    [
      'two events of one payment',
      { ...DONE, ids: new Set(['1', '2']) },
      'have webhooks under two ids',
    ],
  ];
  for (const [what, outcome, problem] of wrong) {
    it(`is wrong with ${what}`, () => {
      expect(problemOf([DONE, outcome], 2)).to.equal(`of 2 payments 1 ${problem}`);
    });
  }

  it('is wrong with a payment that was not accepted', () => {
    expect(problemOf([DONE], 2)).to.equal('of 2 payments 1 were not accepted');
  });

  it('is measured from the first acceptance to the last webhook', () => {
    const late = { ...DONE, acceptedMs: 1_600, deliveredMs: 3_000 };
    const figure = figureOf('delivered', deliveryOf([DONE, late, UNTOLD]));
    expect(figure).to.include({ perSecond: 1, medianMs: 500, worstMs: 1_400, errors: 1 });
  });
});
