import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { FIRST_PAUSE_MS, MAX_PAUSE_MS, MIN_PAUSE_MS, Pace } from '../../../src/gateways/pace.ts';
import { withFreeze } from '../../support/frozen.ts';

/** More than the pace needs to reach either end. */
const MANY = 50;

describe('The pace of calls', () => {
  let pace: Pace;

  beforeEach(() => {
    pace = new Pace();
  });

  /** The provider is busy again, after every call that was under way has come back. */
  const narrowLater = (times: number) =>
    withFreeze('steady', times * MAX_PAUSE_MS, async (wait) => {
      wait();
      pace.narrow();
    });

  async function narrowToTheEnd(): Promise<void> {
    for (let times = 1; times <= MANY; times += 1) await narrowLater(times);
  }

  it('lets every call go at once while nobody is busy', async () => {
    pace.widen();
    expect(pace.pauseMs).to.equal(0);
    await pace.turn();
  });

  it('begins with a pause when the provider is busy', () => {
    pace.narrow();
    expect(pace.pauseMs).to.equal(FIRST_PAUSE_MS);
  });

  it('counts the calls that were under way together once', () => {
    for (let calls = 0; calls < MANY; calls += 1) pace.narrow();
    expect(pace.pauseMs).to.equal(FIRST_PAUSE_MS);
  });

  it('halves with each time that the provider is still busy, and never stops', async () => {
    pace.narrow();
    await narrowLater(1);
    expect(pace.pauseMs).to.equal(2 * FIRST_PAUSE_MS);
    await narrowToTheEnd();
    expect(pace.pauseMs).to.equal(MAX_PAUSE_MS);
  });

  it('widens with each answered call, until no call waits', async () => {
    await narrowToTheEnd();
    const pauses: number[] = [];
    while (pace.pauseMs > 0 && pauses.length < MANY) {
      pauses.push(pace.pauseMs);
      pace.widen();
    }
    expect(pauses).to.deep.equal([...new Set(pauses)].sort((one, other) => other - one));
    expect(Math.min(...pauses)).to.be.at.least(MIN_PAUSE_MS);
    expect(pace.pauseMs).to.equal(0);
  });

  it('lets the calls that wait go one after the other, in their order', async () => {
    pace.narrow();
    const gone: number[] = [];
    const calls = [1, 2, 3].map(async (call) => {
      await pace.turn();
      gone.push(call);
    });
    await calls[0];
    expect(gone).to.deep.equal([1]);
    await Promise.all(calls);
    expect(gone).to.deep.equal([1, 2, 3]);
  });

  it('sends those away who would wait too long, and they come again at different times', async () => {
    await narrowToTheEnd();
    const line = Array.from({ length: MANY }, () => pace.turn());
    const sentAway = (await Promise.race(line.slice(-1).map((each) => each))) as number;
    expect(sentAway).to.be.above(0);
    const waits = (await Promise.all(line)).filter((wait) => wait > 0);
    expect(waits.length).to.be.above(MANY / 2);
    expect(new Set(waits).size).to.equal(waits.length);
  });

  it('lets the calls that wait go together once nobody is busy any more', async () => {
    pace.narrow();
    const gone: number[] = [];
    const calls = [1, 2, 3, 4].map(async (call) => {
      await pace.turn();
      gone.push(call);
    });
    await calls[0];
    while (pace.pauseMs > 0) pace.widen();
    // The second one has begun its pause.
    await calls[1];
    await nextTick();
    expect(gone).to.deep.equal([1, 2, 3, 4]);
  });
});
