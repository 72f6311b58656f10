import { Redis } from 'ioredis';
import type { Logger } from './logger.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/** A connection that is silent for so long is made anew. */
const SILENCE_MS = 5_000;
const MAX_RECONNECT_DELAY_MS = 2_000;

/**
 * A connection for questions that may go unanswered: while Redis is away, or slower than
 * `answerTimeoutMs`, a command fails at once instead of waiting.
 */
export function openImpatientRedis(url: string, answerTimeoutMs: number, logger: Logger): Redis {
  const client = new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: answerTimeoutMs,
    socketTimeout: SILENCE_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries) => Math.min(tries * 100, MAX_RECONNECT_DELAY_MS),
  });
  client.on('error', (error) => logger.warn('redis error', { error: error.message }));
  return client;
}
