import { expect } from 'chai';
import { createRateLimiter } from '../../../src/api/middleware/rate-limit.ts';
import { atMost } from '../../../src/http/refused-events.ts';

/** Refilled so slowly that no test lives to see another request. */
const ONE = { perMinute: 0.001, burst: 1 };
/** More than a process keeps of one use. */
const FLOOD = 10_001;

describe('A rate limiter without Redis', () => {
  it('forgets the oldest buckets of a use in a flood, and none of another use', async () => {
    const limiter = createRateLimiter(null);
    expect((await limiter.take('merchant', '1001', ONE)).allowed).to.equal(true);
    expect((await limiter.take('tokens', 'first', ONE)).allowed).to.equal(true);
    for (let count = 0; count < FLOOD; count += 1) await limiter.take('tokens', `${count}`, ONE);
    expect((await limiter.take('merchant', '1001', ONE)).allowed).to.equal(false);
    expect((await limiter.take('tokens', 'first', ONE)).allowed).to.equal(true);
  });

  it('keeps the same key of two uses apart', async () => {
    const limiter = createRateLimiter(null);
    expect((await limiter.take('revoked', 'key', ONE)).allowed).to.equal(true);
    expect((await limiter.take('revoked', 'key', ONE)).allowed).to.equal(false);
    expect((await limiter.take('tokens', 'key', ONE)).allowed).to.equal(true);
  });
});

describe('What happens at most so often in a period', () => {
  const HOUR_MS = 3_600_000;

  it('is stopped by the number in all, and by the same key', () => {
    const may = atMost(3, HOUR_MS);
    expect(['a', 'a', 'b', 'a', 'c', 'd'].map((key) => may(key))).to.deep.equal([
      ...[true, false, true, false, true, false],
    ]);
  });

  it('counts every call without a key', () => {
    const may = atMost(2, HOUR_MS);
    expect([may(), may(), may()]).to.deep.equal([true, true, false]);
  });

  it('begins anew with each period', () => {
    const may = atMost(1, 0);
    expect([may('a'), may('a')]).to.deep.equal([true, true]);
  });
});
