import { once } from 'node:events';
import { expect } from 'chai';
import type { Cluster } from 'ioredis';
import winston from 'winston';
import { ANSWER_TIMEOUT_MS, createRateLimiter } from '../../src/api/middleware/rate-limit.ts';
import { rows } from '../../src/connections/database.ts';
import { installationId } from '../../src/connections/migrations.ts';
import { openImpatientRedis, openRedis } from '../../src/connections/redis.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { clientOf } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { type ProcessStack, startProcessStack } from '../support/process-stack.ts';
import { describeWith } from '../support/programs.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

/** The part of the library's client that makes connections. */
interface PrivateCluster {
  connectionPool: { findOrCreate(node: { host: string; port: number }): unknown };
}

/** What a small managed PostgreSQL allows, less the two of the command line. */
const CONNECTIONS = 18;
const PAYMENTS_OF_EACH_KIND = 25;
/** So slow that nothing comes back during a test. */
const LIMIT = { perMinute: 1, burst: 100_000 };
const silent = winston.createLogger({ silent: true });

describeWith(['redis-server'], 'The whole service on a Redis Cluster of three masters', () => {
  let testDatabase: TestDatabase;
  let cluster: RedisCluster;
  let stack: ProcessStack;

  before(async () => {
    [testDatabase, cluster] = await Promise.all([createTestDatabase(), startRedisCluster()]);
    stack = await startProcessStack({
      database: testDatabase.database,
      env: {
        DATABASE_URL: testDatabase.url,
        REDIS_URL: cluster.url,
        REDIS_CLUSTER: 'true',
        RATE_LIMIT_PER_MINUTE: String(LIMIT.perMinute),
        SWEEP_GRACE_MS: '1000',
        REVERSAL_WAIT_MS: '20000',
        DRAIN_DELAY_MS: '0',
      },
      shape: 'every type',
    });
  });

  after(async () => {
    await stack?.stop();
    await cluster?.stop();
    await testDatabase?.drop();
  });

  it(`takes payments to their webhooks, on at most ${CONNECTIONS} connections to PostgreSQL`, async () => {
    const counts: number[] = [];
    await stack.play(PAYMENTS_OF_EACH_KIND, async () => {
      const [found] = await rows<{ count: number }>(
        testDatabase.database,
        `SELECT count(*) FROM pg_stat_activity
           WHERE datname = current_database() AND backend_type = 'client backend'
             AND application_name <> 'malipo-test'`,
      );
      counts.push(found!.count);
    });
    console.log(`      at most ${Math.max(...counts)} connections at once`);
    expect(Math.max(...counts)).to.be.within(6, CONNECTIONS);
    await expectRightBooks(testDatabase.database, stack.merchant.merchant_id);
    expect(stack.complaints()).to.deep.equal([]);
  });

  it('spreads its queues', async () => {
    // The names decide where each queue is: few queues may leave out a master.
    const holders = (await cluster.sizes()).filter((size) => size > 0);
    expect(holders).to.have.length.at.least(2);
  });

  it('limits requests through it, all processes together', async () => {
    const redis = openImpatientRedis(stack.config, ANSWER_TIMEOUT_MS, silent);
    try {
      const limiter = createRateLimiter({
        redis,
        installationId: await installationId(testDatabase.database),
      });
      // After a missing answer a process limits by itself for a while.
      await eventually('a bucket that they share', async () => {
        const { database } = testDatabase;
        const merchant = await createTestMerchant({ database, config: stack.config });
        const client = clientOf(stack, merchant);
        const byWeb = async () =>
          Number((await client.get('/channels')).headers.get('x-ratelimit-remaining'));
        const byUs = async () =>
          (await limiter.take('merchant', String(merchant.merchant_id), LIMIT)).remaining;
        const left = [await byWeb(), await byUs(), await byWeb(), await byUs()];
        return left.join() === [1, 2, 3, 4].map((taken) => LIMIT.burst - taken).join();
      });
    } finally {
      redis.disconnect();
    }
  });

  it('is refused with one line when it is taken for something else', async () => {
    const { databaseUrl } = stack.config;
    const [node] = stack.config.redisUrl!.split(',') as [string];
    const taken = (redisUrl: string, redisCluster: boolean) =>
      createQueueBackend({
        ...{ databaseUrl, redisUrl, redisCluster },
        installationId: 'test',
      }).problem();
    expect(await taken(node, true)).to.equal(null);
    expect(await taken(node, false)).to.match(/is a node of a Redis Cluster: set REDIS_CLUSTER/);
    expect(await taken(environment.redisUrl!, true)).to.match(/it is no Redis Cluster/);
    const wrong = node.replace('cluster-password', 'other');
    expect(await taken(wrong, true)).to.match(/^REDIS_URL cannot be used: .*WRONGPASS/);
  });

  it('reports the end of a client that has made a connection while it disconnects', async () => {
    const client = openRedis(stack.config, { maxRetriesPerRequest: null }) as Cluster;
    const blocking = client.duplicate(undefined, { redisOptions: { connectionName: 'blocking' } });
    for (const each of [client, blocking]) {
      await each.ping();
      const ended = once(each, 'end');
      each.disconnect();
      // As a command does that is sent again at this moment, after its node has moved the slot.
      const { connectionPool } = each as unknown as PrivateCluster;
      connectionPool.findOrCreate({ host: '127.0.0.1', port: cluster.nodes[0]!.port });
      await ended;
      expect(each.status).to.equal('end');
    }
  });

  it('goes on after all its nodes were gone, and came back empty', async () => {
    for (const node of cluster.nodes) await node.stop();
    const played = stack.play(3);
    played.catch(() => {});
    await eventually('jobs that wait for the cluster', async () => {
      const waiting = await rows(testDatabase.database, 'SELECT 1 FROM outbox');
      return waiting.length >= 3;
    });
    for (const node of cluster.nodes) await node.restart();
    await played;
  });
});
