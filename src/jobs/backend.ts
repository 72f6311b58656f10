import type { Database } from '../connections/database.ts';
import type { DatabaseAddress } from '../connections/database-address.ts';
import { installationId } from '../connections/installation.ts';
import type { RedisAddress } from '../connections/redis.ts';
import { postgresBackend } from './postgres-backend.ts';
import type { QueueBackend } from './queue-backend.ts';
import { redisBackend } from './redis-backend.ts';

/** Where queues are. In Redis, which installations may share, their keys begin with the id. */
export type QueueAddress = DatabaseAddress &
  ({ redisUrl?: undefined } | (RedisAddress & { installationId: string }));

/**
 * Returns the backend of the settings. Only this function knows which one it is. Connects to
 * nothing before a queue or worker is created. Other processes see `processName`: the worker
 * types, joined by plus signs, or `ALL_TYPES`.
 */
export function createQueueBackend(address: QueueAddress, processName = 'other'): QueueBackend {
  return address.redisUrl === undefined
    ? postgresBackend(address, processName)
    : redisBackend(address, address.installationId);
}

/** Returns the backend of the installation that this database belongs to. */
export async function queueBackendOf(
  { config, database }: { config: RedisAddress & DatabaseAddress; database: Database },
  processName?: string,
): Promise<QueueBackend> {
  const address = { ...config, installationId: await installationId(database) };
  return createQueueBackend(address as QueueAddress, processName);
}
