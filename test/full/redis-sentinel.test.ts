import { expect } from 'chai';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { type ProcessStack, startProcessStack } from '../support/process-stack.ts';
import { describeWith } from '../support/programs.ts';
import { startWatchedRedis, type WatchedRedis } from '../support/redis-sentinel.ts';

const PAYMENTS_OF_EACH_KIND = 10;

describeWith(['redis-server'], 'The whole service on a Redis that Sentinels watch', () => {
  let testDatabase: TestDatabase;
  let redis: WatchedRedis;
  let stack: ProcessStack;

  before(async () => {
    [testDatabase, redis] = await Promise.all([createTestDatabase(), startWatchedRedis()]);
    stack = await startProcessStack({
      database: testDatabase.database,
      env: {
        ...{ DATABASE_URL: testDatabase.url, ...redis.env, SWEEP_GRACE_MS: '1000' },
        ...{ REVERSAL_WAIT_MS: '20000', DRAIN_DELAY_MS: '0' },
      },
      shape: 'every type',
    });
  });

  after(async () => {
    await stack?.stop();
    await redis?.stop();
    await testDatabase?.drop();
  });

  it('takes payments to their webhooks', async () => {
    await stack.play(PAYMENTS_OF_EACH_KIND);
    expect(stack.complaints()).to.deep.equal([]);
  });

  it('goes on by itself after the primary was killed and the replica has taken over', async () => {
    const killedAt = performance.now();
    await redis.primary.kill();
    const played = stack.play(PAYMENTS_OF_EACH_KIND);
    played.catch(() => {});
    await redis.failedOver();
    const ms = Math.round(performance.now() - killedAt);
    await played;
    const after = Math.round(performance.now() - killedAt - ms);
    console.log(`      failover after ${ms} ms, all webhooks ${after} ms later`);
    await expectRightBooks(testDatabase.database, stack.merchant.merchant_id);
  });

  it('is refused with one line under a name that the Sentinels do not know, or another password', async () => {
    const { databaseUrl, redisUrl } = stack.config;
    const problem = (url: string, redisSentinel: string) =>
      createQueueBackend({
        ...{ databaseUrl, redisUrl: url, redisSentinel, installationId: 'test' },
      }).problem();
    expect(await problem(redisUrl!, redis.env.REDIS_SENTINEL)).to.equal(null);
    expect(await problem(redisUrl!, 'other')).to.match(
      /REDIS_URL cannot.*No such master with that name/,
    );
    const wrong = redisUrl!.replace('sentinel-password', 'other');
    expect(await problem(wrong, redis.env.REDIS_SENTINEL)).to.match(/REDIS_URL cannot.*WRONGPASS/);
  });
});
