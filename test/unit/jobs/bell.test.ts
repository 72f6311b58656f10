import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Bell, createDoorbell, Pace } from '../../../src/jobs/bell.ts';
import { eventually } from '../../support/eventually.ts';

/** Longer than any test may take. */
const FOR_EVER_MS = 3_600_000;

describe('A bell between two loops', () => {
  it('ends a wait when it rings', async () => {
    const bell = new Bell();
    const waited = bell.wait(FOR_EVER_MS);
    bell.ring();
    await waited;
  });

  it('ends the next wait at once when it has rung before it', async () => {
    const bell = new Bell();
    bell.ring();
    bell.ring();
    await bell.wait(FOR_EVER_MS);
  });

  it('ends one wait only, however often it has rung', async () => {
    const bell = new Bell();
    bell.ring();
    bell.ring();
    await bell.wait(FOR_EVER_MS);
    let hasEnded = false;
    const second = bell.wait(FOR_EVER_MS).then(() => {
      hasEnded = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).to.equal(false);
    bell.ring();
    await second;
  });

  it('is waited for no longer than told', async () => {
    await new Bell().wait(1);
  });
});

describe('The bell of a process', () => {
  it('rings at once, and once more for all that asked meanwhile', async () => {
    const sent: string[] = [];
    const bell = createDoorbell(1);
    bell.ring('outbox');
    bell.connect(async (loops) => void sent.push(loops.join(' ')));
    bell.ring('outbox');
    await eventually('the first ring', async () => sent.length > 0);
    expect(sent).to.deep.equal(['outbox']);
    bell.ring('deliveries');
    bell.ring();
    bell.ring('outbox', 'deliveries');
    await eventually('the second ring', async () => sent.length > 1);
    await sleep(5);
    expect(sent).to.deep.equal(['outbox', 'deliveries outbox']);
  });

  it('goes on after a ring that nobody could be told of', async () => {
    let tries = 0;
    const bell = createDoorbell(1);
    bell.connect(async () => {
      tries += 1;
      throw new Error('away');
    });
    bell.ring('outbox');
    await eventually('another ring', async () => {
      bell.ring('outbox');
      return tries > 2;
    });
  });
});

describe('The pace of a loop that is woken', () => {
  it('lets some rounds begin at once, and then one after each pause', () => {
    const pace = new Pace(25);
    expect([1, 2, 3, 4, 5, 6].map(() => pace.next(0))).to.deep.equal([0, 0, 0, 0, 25, 25]);
  });

  it('lets them begin at once again after it had nothing to do', () => {
    const pace = new Pace(25);
    for (let round = 1; round <= 6; round += 1) pace.next(0);
    expect(pace.next(30)).to.equal(0);
    expect(pace.next(0)).to.equal(25);
    expect([1_000, 0, 0, 0, 0].map((waited) => pace.next(waited))).to.deep.equal([0, 0, 0, 0, 25]);
  });
});
