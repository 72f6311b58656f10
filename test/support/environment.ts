import type { EmbeddedPostgres } from '../../scripts/sandbox/embedded/postgres.ts';
import type { Reaper } from '../../scripts/sandbox/embedded/reaper.ts';
import { findRedisServer, type startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';

/** What the global setup has started; filled before the first test runs. */
export const environment = {
  reaper: undefined as unknown as Reaper,
  /** What the tests write to disk is in here. */
  folder: '',
  serverUrl: '',
  template: '',
  redisUrl: undefined as string | undefined,
  /** Only when the tests have started their own. */
  postgres: undefined as EmbeddedPostgres | undefined,
  redis: undefined as Awaited<ReturnType<typeof startEmbeddedRedis>> | undefined,
  /** The address of another database on the same server. */
  urlOf(name: string): string {
    const url = new URL(this.serverUrl);
    url.pathname = `/${name}`;
    return url.href;
  },
};

export type BackendName = 'postgres' | 'redis';

/** The queue backends that the flows run on here; known before anything is started. */
export function backendsUnderTest(): BackendName[] {
  return process.env.REDIS_URL || findRedisServer() ? ['postgres', 'redis'] : ['postgres'];
}
