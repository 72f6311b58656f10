import fc from 'fast-check';
import {
  type EmbeddedRedis,
  findRedisServer,
  startEmbeddedRedis,
} from '../../scripts/sandbox/embedded/redis.ts';
import { startReaper } from '../../scripts/sandbox/processes/reaper.ts';
import { PASSWORD_COST } from '../../src/domain/credentials/passwords.ts';
import { CHEAP_N } from './cheap-passwords.ts';
import { environment } from './environment.ts';
import { REQUIRE_ALL } from './programs.ts';
import { seedOfRun } from './seed.ts';

if (process.env.TEST_SEED) fc.configureGlobal({ seed: seedOfRun() });

let started: Promise<void> | undefined;
let redis: EmbeddedRedis | undefined;

/** Mocha runs these in each worker before each file. They start what a worker has of its own. */
export const mochaHooks = {
  async beforeAll(): Promise<void> {
    started ??= start();
    await started;
  },
};

/** Only for a run in one process. When a worker ends, its reaper ends what was left running. */
export async function mochaGlobalTeardown(): Promise<void> {
  if (!started) return;
  await redis?.stop();
  await environment.reaper.close();
}

async function start(): Promise<void> {
  PASSWORD_COST.N = CHEAP_N;
  environment.reaper = await startReaper();
  environment.redisUrl = process.env.REDIS_URL || (await startRedis());
}

/** Each worker has a Redis, so that the numbers of its databases are not shared. */
async function startRedis(): Promise<string | undefined> {
  if (!findRedisServer()) {
    if (REQUIRE_ALL) throw new Error('REQUIRE_ALL is set, but there is no Redis');
    return undefined;
  }
  redis = await startEmbeddedRedis({ reaper: environment.reaper });
  return redis.url;
}
