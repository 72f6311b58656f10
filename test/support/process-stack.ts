import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  type MerchantReceiver,
  startMerchantReceiver,
} from '../../scripts/sandbox/merchant-receiver.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { startProcess, USUAL_TYPES } from '../../scripts/sandbox/stack.ts';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import type { Database } from '../../src/connections/database.ts';
import type { Config } from '../../src/process/config.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type Answer, clientOf, collectionBody, payoutBody, reversalBody } from './api-client.ts';
import { environment } from './environment.ts';
import { eventually } from './eventually.ts';
import { makeFolder } from './make-folder.ts';
import { PROGRAMS_FROM } from './programs.ts';
import { createTestMerchant, type TestMerchant } from './test-merchant.ts';

/** The service as processes of their own, over a database that is migrated. */
export interface ProcessStack {
  config: Config;
  baseUrl: string;
  merchant: TestMerchant;
  /**
   * So many collections, payouts and reversals at once, each from its request, which must be
   * accepted at the first try, to its webhook with a valid signature; `look` meanwhile.
   */
  play(count: number, look?: () => Promise<void>): Promise<void>;
  /** Lines of any process that are warnings or errors, but for those of a machine too busy. */
  complaints(): string[];
  stop(): Promise<void>;
}

const LOOK_INTERVAL_MS = 10;
const WALLET_CENTS = 100_000_000;
/** One process of each type of the Procfile, or one that runs all workers. */
const SHAPES = {
  'every type': USUAL_TYPES,
  'web and worker': ['simulator', 'web', 'all'],
} as const;

export async function startProcessStack(options: {
  /** How the test itself reaches the database. */
  database: Database;
  /** How the service does, and what else it needs. */
  env: Record<string, string>;
  shape: keyof typeof SHAPES;
}): Promise<ProcessStack> {
  const { database, shape } = options;
  const env = await environmentOf(options.env);
  const config = loadConfig(env);
  const logFolder = makeFolder('stack');
  const { reaper } = environment;
  const merchant = await createTestMerchant({ database, config });
  await topUpPayoutWallet(database, merchant.merchant_id, WALLET_CENTS, 'stack');
  const receiver = await startMerchantReceiver(merchant.app_secret);
  const processes = await Promise.all(
    SHAPES[shape].map((type) =>
      startProcess(type, { env, logFolder, reaper, from: PROGRAMS_FROM }),
    ),
  );
  const baseUrl = `${config.publicUrl}/api/v1`;
  return {
    ...{ config, baseUrl, merchant },
    play: async (count, look = async () => {}) => {
      let isOver = false;
      const plays = Array.from({ length: count }, () => playOne({ baseUrl, merchant, receiver }));
      const played = Promise.all(plays).finally(() => {
        isOver = true;
      });
      played.catch(() => {});
      while (!isOver) {
        await look();
        await sleep(LOOK_INTERVAL_MS);
      }
      await played;
    },
    complaints: () => complaintsIn(logFolder),
    stop: async () => {
      await Promise.all(processes.map((child) => child.stop()));
      await receiver.close();
    },
  };
}

interface Play {
  baseUrl: string;
  merchant: TestMerchant;
  receiver: MerchantReceiver;
}

async function playOne({ baseUrl, merchant, receiver }: Play): Promise<void> {
  const client = clientOf({ baseUrl }, merchant);
  const callback = { callback_url: receiver.url };
  const initiate = async (path: string, body: Record<string, unknown>) => {
    const answer: Answer = await client.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body as { id: string; ref_no: string };
  };
  const collection = await initiate('/collections/checkouts/initiate', collectionBody(callback));
  const payout = await initiate('/payouts/initiate', payoutBody(merchant, callback));
  await heard(receiver, collection.ref_no, 'collection transaction.completed');
  const reversal = await initiate('/reversals/initiate', reversalBody(collection.ref_no, callback));
  await heard(receiver, payout.ref_no, 'payout transaction.completed');
  await heard(receiver, reversal.ref_no, 'reversal transaction.completed');
}

async function heard(receiver: MerchantReceiver, refNo: string, what: string): Promise<void> {
  let webhook: Awaited<ReturnType<MerchantReceiver['webhookFor']>> | undefined;
  void receiver.webhookFor(refNo).then((received) => {
    webhook = received;
  });
  const { payload, verified } = await eventually(`the webhook of ${what}`, async () => webhook);
  expect(`${payload.notification.type} ${payload.notification.event}`).to.equal(what);
  expect(verified, `signature of ${refNo}`).to.equal(true);
}

/** On a busy machine Redis may take longer than the rate limiter waits for an answer or a connection. */
const SLOW_REDIS =
  /"error":"(?:Command timed out|connect ETIMEDOUT)","level":"warn","message":"redis error"/;

function complaintsIn(logFolder: string): string[] {
  return readdirSync(logFolder)
    .filter((file) => file !== 'simulator.log')
    .flatMap((file) => readFileSync(join(logFolder, file), 'utf8').split('\n'))
    .filter((line) => line !== '' && !/"level":"(info|debug)"/.test(line))
    .filter((line) => !SLOW_REDIS.test(line));
}

async function environmentOf(env: Record<string, string>): Promise<NodeJS.ProcessEnv> {
  const [port, simulatorPort] = [await findFreePort(), await findFreePort()];
  return {
    PATH: process.env.PATH,
    POLL_FIRST_MS: '500',
    SIMULATOR_DELAY_MS: '50',
    SWEEP_INTERVAL_MS: '500',
    RATE_LIMIT_PER_MINUTE: '100000',
    RATE_LIMIT_BURST: '100000',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SIMULATOR_PORT: String(simulatorPort),
    SIMULATOR_URL: `http://127.0.0.1:${simulatorPort}`,
    ...env,
  };
}
