import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config.ts';
import { type Database, inTransaction, openDatabase, rows } from '../../src/database.ts';
import { reconcile } from '../../src/domain/reconciliation/reconcile.ts';
import { importStatement, momentsOf } from '../../src/domain/reconciliation/statement.ts';
import { topUpPayoutWallet } from '../../src/domain/wallets/operator-entries.ts';
import { createSimulatorGateway } from '../../src/gateways/simulator/simulator-gateway.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { migrate } from '../../src/migrations.ts';
import { findFreePort } from '../../src/sandbox/embedded/port.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/sandbox/embedded/postgres.ts';
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
import { request } from '../support/api-client.ts';
import { endsOf, mixedOrders, type Order, originalOf } from '../support/chaos-mix.ts';
import { sendOrder } from '../support/chaos-shop.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const PAYMENTS = 300;
const WALLET_CENTS = 100_000_000;
const RESTART_AFTER_MS = 2_000;
const KILLED: StackType[] = ['dispatcher', 'submission', 'settlement', 'refunds', 'webhooks'];
const OUTAGE_MS = 5_000;
const CHANNEL = 63902;
/** A killed submission that never arrived is ruled out only after the longest call could have ended. */
const ALL_FINAL_WITHIN_MS = 180_000;

/** The intervals of production, shortened; their order to each other is the same. */
const QUICK = {
  MALIPO_ENV: 'sandbox',
  LOG_LEVEL: 'info',
  POLL_FIRST_MS: '500',
  GATEWAY_TIMEOUT_MS: '2000',
  REVERSAL_WAIT_MS: '1000',
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
  describe(`With its queues in ${backend}, while everything fails in turn`, () => {
    const orders = mixedOrders(PAYMENTS);
    let postgres: EmbeddedPostgres;
    let database: Database;
    let receiver: FakeMerchant;
    let merchant: TestMerchant;
    let redis: EmbeddedRedis | undefined;
    let options: StackOptions;
    let stack: Map<StackType, ServiceProcess>;

    before(async () => {
      const { reaper } = environment;
      const logFolder = mkdtempSync(join(tmpdir(), 'malipo-chaos-'));
      postgres = await startEmbeddedPostgres({ folder: join(logFolder, 'postgres'), reaper });
      redis = backend === 'redis' ? await startEmbeddedRedis({ reaper }) : undefined;
      options = { env: await environmentOf(postgres.url, redis?.url), logFolder, reaper };
      database = openDatabase(postgres.url, 4, 'malipo-chaos');
      await migrate(database);
      await createQueueBackend({ databaseUrl: postgres.url }).migrate();
      receiver = await startFakeMerchant();
      merchant = await createTestMerchant({ database, config: loadConfig(options.env) });
      await topUpPayoutWallet(database, merchant.merchantId, WALLET_CENTS, 'chaos');
      stack = await startStack(options);
      console.log(`      logs: ${logFolder}`);
    });

    after(async () => {
      await Promise.all([...stack.values()].map((child) => child.stop()));
      await redis?.stop();
      await receiver.close();
      await database.destroy();
      await postgres.stop();
    });

    it(`${PAYMENTS} payments of all kinds end as they must, and the books are right`, async () => {
      const sent = sendAll();
      await failInTurn();
      await sent;
      await expectEnds();
      await expectOneEventEach();
      await expectOneMovementEach();
      await expectRightBooks(database);
      await expectReconciled();
    });

    /** Spread over the time of the failures, so that at each of them some are in every state. */
    async function sendAll(): Promise<void> {
      const baseUrl = `${options.env.PUBLIC_URL}/api/v1`;
      const shop = { baseUrl, merchant, callbackUrl: receiver.url };
      const spreadMs = (KILLED.length + 2) * (RESTART_AFTER_MS + 1_000);
      await Promise.all(
        orders.map(async (order, index) => {
          await sleep((spreadMs * index) / orders.length);
          await sendOrder(shop, order);
        }),
      );
    }

    async function failInTurn(): Promise<void> {
      for (const type of KILLED) {
        await stack.get(type)!.kill();
        if (redis && type === 'settlement') await emptyRedis(redis.url);
        await sleep(RESTART_AFTER_MS);
        stack.set(type, await startProcess(type, options));
      }
      if (!redis) return;
      await postgres.restart();
      await sleep(RESTART_AFTER_MS);
      const fault = { mode: 'outage', rate: 1, for_ms: OUTAGE_MS };
      await request('POST', `${options.env.SIMULATOR_URL}/faults`, { body: fault });
    }

    async function expectEnds(): Promise<void> {
      await eventually('every payment to end as it must', isAllEnded, ALL_FINAL_WITHIN_MS);
      const left = await unfinished();
      const expected = orders.filter((order) => endsOf(order).some(([, kind]) => kind)).length;
      console.log(`      ${left.length} of at most ${expected} wait for a person, as they should`);
      for (const { refNo, discrepancies, ...payment } of left) {
        const order = orders.find((each) => each.refNo === refNo)!;
        const allowed = endsOf(order).map((end) => JSON.stringify(end));
        const found = JSON.stringify([payment.status, ...discrepancies]);
        expect(allowed, `the end of ${order.kind} ${order.account}`).to.include(found);
      }
      expect(left.length).to.be.at.most(expected);
    }

    async function isAllEnded(): Promise<boolean> {
      const ended = await endedPayments();
      const wrong = orders.filter((order) => {
        const end = ended.get(order.refNo);
        return !end || !endsOf(order).some(([status]) => status === end.status);
      });
      const moved = (await movements()).length;
      const [known] = await rows<{ count: number }>(database, 'SELECT count(*) FROM movements');
      const [open] = await rows<{ count: number }>(
        database,
        `SELECT (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered')
           + (SELECT count(*) FROM events WHERE sequence IS NULL)
           + (SELECT count(*) FROM returns WHERE status <> 'completed') AS count`,
      );
      return wrong.length === 0 && known!.count === moved && open!.count === 0;
    }

    interface Ended {
      refNo: string;
      status: string;
      discrepancies: string[];
    }

    /** What has come to rest: final, or parked with nothing more to do. */
    async function endedPayments(): Promise<Map<string, Ended>> {
      const found = await rows<Ended>(
        database,
        `SELECT p.ref_no AS "refNo", p.status, array(
           SELECT d.kind FROM discrepancies d WHERE d.payment_id = p.id AND d.resolved_at IS NULL
         ) AS discrepancies
         FROM (
           SELECT id, ref_no, status, next_step FROM collections
           UNION ALL SELECT id, ref_no, status, next_step FROM payouts
           UNION ALL SELECT id, ref_no, status, next_step FROM reversals
         ) p WHERE p.next_step IS NULL`,
      );
      return new Map(found.map((payment) => [payment.refNo, payment]));
    }

    async function unfinished(): Promise<Ended[]> {
      const ended = [...(await endedPayments()).values()];
      return ended.filter(({ discrepancies }) => discrepancies.length > 0);
    }

    async function expectOneEventEach(): Promise<void> {
      const waiting = (await unfinished()).filter(({ status }) => status !== 'failed').length;
      const originals = orders.filter(({ kind }) => kind === 'reversal').length;
      const events = await rows<{ payment_id: string; sequence: number }>(
        database,
        'SELECT payment_id, sequence FROM events ORDER BY sequence',
      );
      expect(events).to.have.length(orders.length + originals - waiting);
      expect(new Set(events.map(({ payment_id }) => payment_id)).size).to.equal(events.length);
      expect(events.map(({ sequence }) => sequence)).to.deep.equal(events.map((_, at) => at + 1));
      for (const refNo of orders.flatMap(referencesOf)) {
        const ids = receiver.webhooksFor(refNo).map(({ headers }) => headers['webhook-id']);
        expect(new Set(ids).size, `webhook-ids for ${refNo}`).to.be.at.most(1);
      }
      const heard = new Set(receiver.received.map(({ payload }) => payload.data.ref_no));
      expect(heard.size, 'payments that the merchant heard of').to.equal(events.length);
    }

    async function expectOneMovementEach(): Promise<void> {
      const references = (await movements()).map(({ reference }) => reference);
      expect(new Set(references).size, 'movements at the gateway').to.equal(references.length);
    }

    async function expectReconciled(): Promise<void> {
      const gateway = createSimulatorGateway({
        baseUrl: options.env.SIMULATOR_URL!,
        timeoutMs: 5_000,
        settlingWindowMs: 500,
      });
      const day = (offsetMs: number) =>
        new Date(Date.now() + offsetMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
      const period = { from: day(-86_400_000), to: day(86_400_000) };
      const { start, end } = momentsOf(period);
      const completeUntil = new Date();
      const statement = await gateway.statement!(start, end);
      if (statement.outcome !== 'lines') throw new Error(statement.reason);
      const { lines } = statement;
      const settings = { gateway: gateway.name, channel: CHANNEL, period };
      const importId = await inTransaction(database, (trx) =>
        importStatement(trx, { ...settings, source: 'chaos', lines }),
      );
      const result = await reconcile(database, {
        ...settings,
        importId,
        covers: ['collection', 'payout', 'reversal'],
        completeUntil,
        settlingWindowMs: 500,
        ask: ({ kind, id, external_ref }) =>
          gateway.query({ kind, reference: id, externalRef: external_ref, callbackUrl: '' }),
      });
      expect(result).to.deep.include({ unknown: [], contradicting: [], missing: [], ruledOut: [] });
      expect(result.lines).to.deep.include({ matched: lines.length });
    }

    async function movements(): Promise<{ reference: string; kind: string }[]> {
      return (await request('GET', `${options.env.SIMULATOR_URL}/statement`)).body;
    }
  });
}

function referencesOf(order: Order): string[] {
  return order.kind === 'reversal' ? [order.refNo, originalOf(order)] : [order.refNo];
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
