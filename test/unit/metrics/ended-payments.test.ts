import { expect } from 'chai';
import { countEnded, createMeters, MAX_MERCHANTS } from '../../../src/metrics/meters.ts';

const ENDED = {
  kind: 'collection',
  channel: 63902,
  gateway: 'simulator',
  cause: 'callback',
  seconds: 2,
} as const;

describe('Payments that have ended', () => {
  it('are counted by merchant, channel and state, with the time that they took', async () => {
    const meters = createMeters();
    const count = countEnded(meters);
    count({ ...ENDED, merchant_id: 1001, state: 'completed' });
    count({ ...ENDED, merchant_id: 1001, state: 'completed', seconds: 4 });
    count({ ...ENDED, merchant_id: 1001, state: 'failed' });
    count({ ...ENDED, merchant_id: 1002, state: 'completed', channel: 63903 });
    const { values } = await meters.merchantPayments.get();
    const shown = values.map(({ metricName, labels, value }) => {
      const what = metricName?.split('_').at(-1);
      return `${labels.merchant} ${labels.channel} ${labels.state} ${what} ${value}`;
    });
    expect(shown).to.have.members([
      '1001 63902 completed sum 6',
      '1001 63902 completed count 2',
      '1001 63902 failed sum 2',
      '1001 63902 failed count 1',
      '1002 63903 completed sum 2',
      '1002 63903 completed count 1',
    ]);
  });

  it('of further merchants count as one, so that a process shows no more than so many', async () => {
    const meters = createMeters();
    const count = countEnded(meters);
    for (let index = 0; index < MAX_MERCHANTS + 3; index += 1) {
      count({ ...ENDED, merchant_id: 1001 + index, state: 'completed' });
    }
    count({ ...ENDED, merchant_id: 1001, state: 'completed' });
    const { values } = await meters.merchantPayments.get();
    const counts = values.filter(({ metricName }) => metricName?.endsWith('_count'));
    const countOf = (merchant: number | string) =>
      counts.find(({ labels }) => labels.merchant === merchant)?.value;
    expect(counts).to.have.length(MAX_MERCHANTS + 1);
    expect([countOf(1001), countOf('other')]).to.deep.equal([2, 3]);
  });
});
