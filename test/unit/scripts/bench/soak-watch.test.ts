import { expect } from 'chai';
import { judge, OLDEST_IN_OUTBOX, type Sample } from '../../../../scripts/bench/soak-watch.ts';

const PER_SECOND = 10;
const SAMPLES = 40;
/** Of 40 samples the first ten are the warm-up, and a third of the rest is ten. */
const WARM_UP = 10;
const LAST_THIRD = 30;

const QUIET = {
  'MiB of web': 100,
  'MiB of webhooks': 80,
  'open files of web': 30,
  'open files of webhooks': 25,
  'MiB used in Redis': 4,
  [OLDEST_IN_OUTBOX]: 20,
  'connections to PostgreSQL': 30,
  'rows of the outbox': 0,
  'open payments': 5,
  'events not delivered': 2,
};

type Change = (index: number) => Record<string, number>;

function soak(change: Change = () => ({}), count = SAMPLES): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    ...QUIET,
    ...change(index),
    atMs: index * 1_000,
  }));
}

const web = (mib: number) => ({ 'MiB of web': mib });
const late = (index: number) => index >= LAST_THIRD;

describe('The verdict on a soak', () => {
  const right: [what: string, change: Change][] = [
    ['nothing changes', () => ({})],
    ['a process has ten per cent more at the end', (index) => web(late(index) ? 110 : 100)],
    ['memory grows in the warm-up alone', (index) => web(index < WARM_UP ? 50 + index * 5 : 100)],
    ['memory shrinks', (index) => web(200 - index)],
    ['memory has a peak', (index) => web(index === SAMPLES - 2 ? 300 : 100)],
    [
      'little in Redis becomes little more',
      (index) => ({ 'MiB used in Redis': late(index) ? 5 : 4 }),
    ],
    [
      'a second’s worth of payments is open',
      (index) => ({ 'open payments': late(index) ? 15 : 5 }),
    ],
  ];
  for (const [what, change] of right) {
    it(`finds no fault when ${what}`, () => {
      expect(judge(soak(change), PER_SECOND).problems).to.deep.equal([]);
    });
  }

  const wrong: [what: string, change: Change, problem: string][] = [
    [
      'memory of a process that grows by more than ten per cent',
      (index) => web(late(index) ? 111 : 100),
      'MiB of web: 100.0 to 111.0 (11 %) grows',
    ],
    [
      'memory in Redis that grows',
      (index) => ({ 'MiB used in Redis': late(index) ? 6 : 4 }),
      'MiB used in Redis: 4.0 to 6.0 (50 %) grows',
    ],
    [
      'open files that grow',
      (index) => ({ 'open files of webhooks': late(index) ? 60 : 25 }),
      'open files of webhooks: 25.0 to 60.0 (140 %) grows',
    ],
    [
      'connections that grow',
      (index) => ({ 'connections to PostgreSQL': late(index) ? 60 : 30 }),
      'connections to PostgreSQL: 30.0 to 60.0 (100 %) grows',
    ],
    [
      'an outbox that grows',
      (index) => ({ 'rows of the outbox': late(index) ? 100 : 0 }),
      'rows of the outbox: 0.0 to 100.0 grows',
    ],
    [
      'payments that stay open',
      (index) => ({ 'open payments': late(index) ? 50 : 5 }),
      'open payments: 5.0 to 50.0 (900 %) grows',
    ],
    [
      'webhooks that stay behind',
      (index) => ({ 'events not delivered': late(index) ? 50 : 2 }),
      'events not delivered: 2.0 to 50.0 (2400 %) grows',
    ],
    [
      'an outbox that stands still once',
      (index) => ({ [OLDEST_IN_OUTBOX]: index === WARM_UP + 3 ? 6_000 : 20 }),
      `${OLDEST_IN_OUTBOX}: 6000`,
    ],
  ];
  for (const [what, change, problem] of wrong) {
    it(`names ${what}`, () => {
      expect(judge(soak(change), PER_SECOND).problems).to.deep.equal([problem]);
    });
  }

  it('judges nothing that was too short', () => {
    expect(judge(soak(undefined, 12), PER_SECOND).problems).to.deep.equal([
      'it was too short to judge',
    ]);
    expect(judge([], PER_SECOND).problems).to.deep.equal(['it was too short to judge']);
  });
});
