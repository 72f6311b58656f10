import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runner } from 'mocha';
import { startEmbeddedPostgres } from '../../scripts/sandbox/embedded/postgres.ts';
import { startReaper } from '../../scripts/sandbox/embedded/reaper.ts';
import { findRedisServer, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { migrate } from '../../src/connections/migrations.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { environment } from './environment.ts';
import { REQUIRE_ALL } from './programs.ts';

/**
 * Starts what the tests stand on: one PostgreSQL with a migrated template that each file
 * clones, and Redis where there is one. Set DATABASE_URL or REDIS_URL to use your own.
 */

const TEMPLATE = `malipo_test_template_${process.pid}`;
/** Others may go through it, and see nothing. */
const TRAVERSABLE = 0o711;
/** A browser that has just ended may still write. */
const REMOVE_TRIES = 10;
const stops: (() => Promise<unknown>)[] = [];

export async function mochaGlobalSetup(): Promise<void> {
  const reaper = await startReaper();
  stops.push(() => reaper.close());
  environment.reaper = reaper;
  environment.folder = mkdtempSync(join(tmpdir(), 'malipo-test-'));
  // Some servers run as another user when the tests run as root.
  chmodSync(environment.folder, TRAVERSABLE);
  reaper.removeFolder(environment.folder);
  environment.serverUrl = process.env.DATABASE_URL || (await startPostgres());
  environment.template = TEMPLATE;
  await makeTemplate();
  environment.redisUrl = process.env.REDIS_URL || (await startRedis());
  const backends = environment.redisUrl ? 'PostgreSQL and Redis' : 'PostgreSQL';
  console.log(`Queue backends under test: ${backends}`);
  if (!environment.redisUrl) {
    if (REQUIRE_ALL) throw new Error('REQUIRE_ALL is set, but there is no Redis');
    console.log('(With redis-server on the PATH, or REDIS_URL, the flows also run on Redis.)');
  }
}

/** Leaves nothing behind, but for the logs of a run that has failed. */
export async function mochaGlobalTeardown(this: Runner): Promise<void> {
  for (const stop of stops.reverse()) await stop();
  if (this.failures > 0) console.log(`What the processes wrote: ${environment.folder}`);
  else rmSync(environment.folder, { recursive: true, force: true, maxRetries: REMOVE_TRIES });
}

async function startPostgres(): Promise<string> {
  const folder = join(environment.folder, 'postgres');
  const postgres = await startEmbeddedPostgres({ folder, reaper: environment.reaper });
  environment.postgres = postgres;
  stops.push(() => postgres.stop());
  return postgres.url;
}

async function makeTemplate(): Promise<void> {
  const server = openDatabase(environment.serverUrl, 2, 'malipo-test');
  await rows(server, `CREATE DATABASE ${TEMPLATE}`);
  stops.push(async () => {
    await rows(server, `DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
    await server.destroy();
  });
  const databaseUrl = environment.urlOf(TEMPLATE);
  const template = openDatabase(databaseUrl, 2, 'malipo-test');
  await migrate(template);
  await template.destroy();
  await createQueueBackend({ databaseUrl }).migrate();
}

async function startRedis(): Promise<string | undefined> {
  if (!findRedisServer()) return undefined;
  const redis = await startEmbeddedRedis({ reaper: environment.reaper });
  environment.redis = redis;
  stops.push(() => redis.stop());
  return redis.url;
}
