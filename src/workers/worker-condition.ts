import { type Condition, createRedisProbe } from '../connections/redis.ts';
import { CALLBACK_BASE_UNKNOWN, type CallbackBase } from '../service/callback-base.ts';
import type { Service } from '../service/service.ts';
import { waitAtMost } from '../time.ts';
import type { ProcessType } from './start-workers.ts';

/** Tells whether a process of these types sends payments to gateways. `refunds` sends returns. */
export function submits(types: readonly ProcessType[]): boolean {
  return types.includes('submission') || types.includes('refunds');
}

/** Shorter than load balancers wait. */
const ANSWER_TIMEOUT_MS = 2_000;

/** Returns undefined while nobody can tell. */
function knownBase(callbackBase: CallbackBase): Promise<string | null | undefined> {
  return waitAtMost(callbackBase.find(), ANSWER_TIMEOUT_MS, 'no answer').catch(() => undefined);
}

/**
 * Returns what a worker or dispatcher needs besides the database: a Redis, if there is one, that
 * takes its jobs and keeps them; and, if it submits, an address for callbacks.
 */
export function workerCondition(
  { config, callbackBase }: Service,
  types: readonly ProcessType[],
): () => Promise<Condition> {
  const probe = config.redisUrl ? createRedisProbe(config) : null;
  return async () => {
    const [redis, base] = await Promise.all([
      probe?.(),
      // While the database does not answer, that is the reason.
      submits(types) ? knownBase(callbackBase) : undefined,
    ]);
    const problems = [base === null ? CALLBACK_BASE_UNKNOWN : null, redis?.problem ?? null];
    const told = problems.filter((line) => line !== null);
    return {
      problem: told.length > 0 ? told.join('. ') : null,
      warnings: redis?.warnings ?? [],
    };
  };
}
