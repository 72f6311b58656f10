import { expect } from 'chai';
import { Bell } from '../../../src/workers/dispatcher.ts';

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
