import type { DatabaseAddress } from '../connections/database-address.ts';
import type { RedisAddress } from '../connections/redis.ts';
import { postgresBackend } from './postgres-backend.ts';
import type { QueueBackend } from './queue-backend.ts';
import { redisBackend } from './redis-backend.ts';

/**
 * Returns the backend of the settings. Only this function knows which one it is. Connects to
 * nothing before a queue or worker is created. Other processes see `processName`: the worker
 * types, joined by plus signs, or `ALL_TYPES`.
 */
export function createQueueBackend(
  config: RedisAddress & DatabaseAddress,
  processName = 'other',
): QueueBackend {
  return config.redisUrl ? redisBackend(config) : postgresBackend(config, processName);
}
