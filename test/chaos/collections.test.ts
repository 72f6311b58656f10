import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config.ts';
import { rows } from '../../src/database.ts';
import { walletBalance } from '../../src/domain/wallets/wallet.ts';
import { findFreePort } from '../../src/sandbox/embedded/port.ts';
import {
  type EmbeddedRedis,
  findRedisServer,
  startEmbeddedRedis,
} from '../../src/sandbox/embedded/redis.ts';
import type { ServiceProcess } from '../../src/sandbox/service-process.ts';
import {
  type StackOptions,
  type StackType,
  startProcess,
  startStack,
} from '../../src/sandbox/stack.ts';
import { collectionBody, request } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { accountBalance, expectRightBooks } from '../support/ledger-check.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const COLLECTIONS = 200;
const AMOUNT_CENTS = 10_000;
const NET_CENTS = 9_850;
const RESTART_AFTER_MS = 2_000;
const KILLED: StackType[] = ['dispatcher', 'submission', 'settlement', 'refunds', 'webhooks'];
/** A killed submission that never arrived is ruled out only after the longest call could have ended. */
const ALL_FINAL_WITHIN_MS = 150_000;

/**
 * Phone endings and the states that the simulator may make them end in. A failure that is
 * reported while nobody can listen may be overtaken by the success after it.
 */
const MIX: [ending: string, ...statuses: ('completed' | 'failed')[]][] = [
  ['678', 'completed'],
  ['101', 'completed'],
  ['102', 'completed'],
  ['103', 'completed'],
  ['104', 'completed'],
  ['105', 'completed'],
  ['106', 'completed'],
  ['108', 'completed'],
  ['001', 'failed'],
  ['032', 'failed'],
  ['037', 'failed'],
  ['107', 'failed', 'completed'],
];

/** The intervals of production, shortened; their order to each other is the same. */
const QUICK = {
  MALIPO_ENV: 'sandbox',
  LOG_LEVEL: 'info',
  POLL_FIRST_MS: '500',
  GATEWAY_TIMEOUT_MS: '2000',
  SIMULATOR_SETTLING_WINDOW_MS: '500',
  SIMULATOR_DELAY_MS: '300',
  SIMULATOR_SLOW_SUCCESS_MS: '5000',
  JOB_LOCK_MS: '3000',
  SWEEP_INTERVAL_MS: '500',
  SWEEP_GRACE_MS: '3000',
  // One merchant sends everything, faster than a merchant may.
  RATE_LIMIT_PER_MINUTE: '100000',
  RATE_LIMIT_BURST: '100000',
};

for (const backend of findRedisServer() ? ['postgres', 'redis'] : ['postgres']) {
  describe(`With its queues in ${backend}, while every worker is killed`, () => {
    let testDatabase: TestDatabase;
    let shop: FakeMerchant;
    let merchant: TestMerchant;
    let redis: EmbeddedRedis | undefined;
    let options: StackOptions;
    let stack: Map<StackType, ServiceProcess>;

    before(async () => {
      testDatabase = await createTestDatabase();
      shop = await startFakeMerchant();
      redis =
        backend === 'redis' ? await startEmbeddedRedis({ reaper: environment.reaper }) : undefined;
      options = {
        env: await environmentOf(testDatabase.url, redis?.url),
        logFolder: mkdtempSync(join(tmpdir(), 'malipo-chaos-')),
        reaper: environment.reaper,
      };
      merchant = await createTestMerchant({
        database: testDatabase.database,
        config: loadConfig(options.env),
      });
      stack = await startStack(options);
      console.log(`      logs: ${options.logFolder}`);
    });

    after(async () => {
      await Promise.all([...stack.values()].map((child) => child.stop()));
      await redis?.stop();
      await shop.close();
      await testDatabase.drop();
    });

    it(`${COLLECTIONS} collections all end, each with one event and one movement at most`, async () => {
      const initiated = initiateAll();
      await killEach();
      const references = await initiated;
      await expectAllFinal();
      await expectOneEventEach(references);
      await expectOneMovementEach();
      await expectRightMoney();
    });

    /** Spread over the time of the killing, so that at every kill some are in each state. */
    async function initiateAll(): Promise<string[]> {
      const spreadMs = KILLED.length * (RESTART_AFTER_MS + 1_000);
      return Promise.all(
        Array.from({ length: COLLECTIONS }, async (_, index) => {
          await sleep((spreadMs * index) / COLLECTIONS);
          const [ending] = MIX[index % MIX.length]!;
          const refNo = `chaos-${index}`;
          const answer = await request(
            'POST',
            `${options.env.PUBLIC_URL}/api/v1/collections/checkouts/initiate`,
            {
              access: merchant.access,
              body: collectionBody({
                payfrom: `+254712345${ending}`,
                ref_no: refNo,
                callback_url: shop.url,
              }),
            },
          );
          expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
          return refNo;
        }),
      );
    }

    async function killEach(): Promise<void> {
      for (const type of KILLED) {
        await stack.get(type)!.kill();
        if (redis && type === 'settlement') await emptyRedis(redis.url);
        await sleep(RESTART_AFTER_MS);
        stack.set(type, await startProcess(type, options));
      }
    }

    async function expectAllFinal(): Promise<void> {
      await eventually(
        'every collection and return to end, and every webhook to be delivered',
        async () => {
          const [left] = await rows<{ open: number }>(
            testDatabase.database,
            `SELECT (SELECT count(*) FROM collections WHERE status NOT IN ('completed', 'failed'))
               + (SELECT count(*) FROM returns WHERE status <> 'completed')
               + (SELECT count(*) FROM collections)
               - (SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered') AS open`,
          );
          return left!.open === 0 && (await lateSuccessesReturned());
        },
        ALL_FINAL_WITHIN_MS,
      );
      const ended = await rows<{ payfrom: string; status: string }>(
        testDatabase.database,
        'SELECT DISTINCT payfrom, status FROM collections',
      );
      for (const { payfrom, status } of ended) {
        const [, ...statuses] = MIX.find(([ending]) => payfrom.endsWith(ending))!;
        expect(statuses, `the end of ${payfrom}`).to.include(status);
      }
    }

    async function countCompleted(ending = ''): Promise<number> {
      const [row] = await rows<{ count: number }>(
        testDatabase.database,
        `SELECT count(*) AS count FROM collections
         WHERE status = 'completed' AND payfrom LIKE :pattern`,
        { pattern: `%${ending}` },
      );
      return row!.count;
    }

    /** A late success is only news when the gateway has told it, by a callback that may come late. */
    async function lateSuccessesReturned(): Promise<boolean> {
      const statement = await movements();
      const collected = statement.filter(({ kind }) => kind === 'collection').length;
      const [row] = await rows<{ learned: number }>(
        testDatabase.database,
        `SELECT count(*) AS learned FROM movements WHERE payment_kind = 'collection'`,
      );
      return row!.learned === collected;
    }

    async function expectOneEventEach(references: string[]): Promise<void> {
      const events = await rows<{ payment_id: string; sequence: number }>(
        testDatabase.database,
        'SELECT payment_id, sequence FROM events ORDER BY sequence',
      );
      expect(new Set(events.map((event) => event.payment_id)).size).to.equal(COLLECTIONS);
      expect(events.map((event) => event.sequence)).to.deep.equal(
        Array.from({ length: COLLECTIONS }, (_, index) => index + 1),
      );
      for (const refNo of references) {
        const ids = new Set(shop.webhooksFor(refNo).map(({ headers }) => headers['webhook-id']));
        expect(ids.size, `webhook-ids for ${refNo}`).to.equal(1);
      }
    }

    async function expectOneMovementEach(): Promise<void> {
      const statement = await movements();
      const references = statement.map(({ reference }) => reference);
      expect(new Set(references).size, 'movements at the gateway').to.equal(references.length);
      const late = initiatedWith('107') - (await countCompleted('107'));
      const collected = statement.filter(({ kind }) => kind === 'collection');
      expect(collected).to.have.length((await countCompleted()) + late);
      expect(statement.filter(({ kind }) => kind === 'reversal')).to.have.length(late);
    }

    async function expectRightMoney(): Promise<void> {
      const { database } = testDatabase;
      const { merchantId } = merchant;
      await expectRightBooks(database);
      const completed = await countCompleted();
      expect(await walletBalance(database, merchantId, 'collection')).to.equal(
        completed * NET_CENTS,
      );
      expect(await accountBalance(database, merchantId, 'suspense')).to.equal(0);
      expect(await accountBalance(database, merchantId, 'gateway_float')).to.equal(
        -completed * AMOUNT_CENTS,
      );
    }

    async function movements(): Promise<{ reference: string; kind: string }[]> {
      return (await request('GET', `${options.env.SIMULATOR_URL}/statement`)).body;
    }
  });
}

function initiatedWith(ending: string): number {
  return Array.from({ length: COLLECTIONS }, (_, index) => MIX[index % MIX.length]![0]).filter(
    (candidate) => candidate === ending,
  ).length;
}

async function environmentOf(databaseUrl: string, redisUrl?: string): Promise<NodeJS.ProcessEnv> {
  const [apiPort, simulatorPort] = [await findFreePort(), await findFreePort()];
  return {
    PATH: process.env.PATH,
    ...QUICK,
    DATABASE_URL: databaseUrl,
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    PUBLIC_URL: `http://127.0.0.1:${apiPort}`,
    SIMULATOR_PORT: String(simulatorPort),
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
  };
}

async function emptyRedis(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushall();
  await client.quit();
}
