import { expect } from 'chai';
import { judge } from '../../../scripts/bench/soak/judge.ts';
import type { Sample } from '../../../scripts/bench/soak/sample.ts';

const PER_SECOND = 10;
const SAMPLES = 40;
/** Of 40 samples the first ten are the warm-up, and a third of the rest is ten. */
const WARM_UP = 10;
const LAST_THIRD = 30;

const QUIET: Omit<Sample, 'atMs'> = {
  rssMib: { web: 100, webhooks: 80 },
  handles: { web: 30, webhooks: 25 },
  redisMib: 4,
  connections: 30,
  outboxRows: 0,
  outboxOldestMs: 20,
  openPayments: 5,
  undelivered: 2,
};

type Change = (index: number) => Partial<Omit<Sample, 'atMs'>>;

function soak(change: Change = () => ({}), count = SAMPLES): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    ...QUIET,
    ...change(index),
    atMs: index * 1_000,
  }));
}

const web = (mib: number) => ({ rssMib: { ...QUIET.rssMib, web: mib } });
const late = (index: number) => index >= LAST_THIRD;

describe('The verdict on a soak', () => {
  const right: [what: string, change: Change][] = [
    ['nothing changes', () => ({})],
    ['a process has ten per cent more at the end', (index) => web(late(index) ? 110 : 100)],
    ['memory grows in the warm-up alone', (index) => web(index < WARM_UP ? 50 + index * 5 : 100)],
    ['memory shrinks', (index) => web(200 - index)],
    ['memory has a peak', (index) => web(index === SAMPLES - 2 ? 300 : 100)],
    ['little in Redis becomes little more', (index) => ({ redisMib: late(index) ? 5 : 4 })],
    ['a second’s worth of payments is open', (index) => ({ openPayments: late(index) ? 15 : 5 })],
    ['queues are in PostgreSQL', () => ({ redisMib: null })],
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
      'memory of web: 100.0 to 111.0 MiB (+11 %) grows',
    ],
    [
      'memory in Redis that grows',
      (index) => ({ redisMib: late(index) ? 6 : 4 }),
      'memory used in Redis: 4.0 to 6.0 MiB (+50 %) grows',
    ],
    [
      'open files that grow',
      (index) => ({ handles: { ...QUIET.handles, webhooks: late(index) ? 60 : 25 } }),
      'open files of webhooks: 25 to 60 grows',
    ],
    [
      'connections that grow',
      (index) => ({ connections: late(index) ? 60 : 30 }),
      'connections to PostgreSQL: 30 to 60 grows',
    ],
    [
      'an outbox that grows',
      (index) => ({ outboxRows: late(index) ? 100 : 0 }),
      'rows of the outbox: 0 to 100 grows',
    ],
    [
      'payments that stay open',
      (index) => ({ openPayments: late(index) ? 50 : 5 }),
      'open payments: 5 to 50 grows',
    ],
    [
      'webhooks that stay behind',
      (index) => ({ undelivered: late(index) ? 50 : 2 }),
      'events not delivered: 2 to 50 grows',
    ],
    [
      'an outbox that stands still once',
      (index) => ({ outboxOldestMs: index === WARM_UP + 3 ? 6_000 : 20 }),
      'a row of the outbox was due for 6000 ms',
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
