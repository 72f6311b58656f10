import { messageOf } from '../connections/database-errors.ts';
import {
  recordSecurityEvent,
  SECURITY_EVENTS,
  type SecurityEvent,
  type SecurityEventKind,
} from '../domain/security/security-events.ts';
import type { Service } from '../service/service.ts';
import { MINUTE_MS } from '../time.ts';
import { networkOf } from './caller.ts';

/** Events of one kind that one process records for refusals. A stranger must not fill the disk. */
const MAX_EVENTS_PER_MINUTE = 60;
/** One network leaves room for what others do. */
const MAX_EVENTS_OF_NETWORK_PER_MINUTE = 15;

/** Whom a program that goes on and on annoys once a minute only, by the kind of the event. */
const ONCE_A_MINUTE: Partial<Record<SecurityEventKind, (event: SecurityEvent) => string>> = {
  address_refused: ({ family, app_code, user_id, ip }) => `${family ?? app_code ?? user_id} ${ip}`,
  revoked_token_used: ({ family }) => String(family),
  log_in_limited: ({ account_hash }) => String(account_hash),
};

/**
 * Returns what records the event of a refusal. Events above the limits are only counted. It never
 * throws: the refusal is the answer, whether its event was written or not.
 */
export function refusedEvents({ database, logger }: Pick<Service, 'database' | 'logger'>) {
  const limits = new Map<SecurityEventKind, ReturnType<typeof atMost>>();
  return async (event: SecurityEvent): Promise<void> => {
    const { kind } = event;
    const once = ONCE_A_MINUTE[kind];
    const ofKey = once ? 1 : MAX_EVENTS_OF_NETWORK_PER_MINUTE;
    const mayRecord = limits.get(kind) ?? atMost(MAX_EVENTS_PER_MINUTE, MINUTE_MS, ofKey);
    limits.set(kind, mayRecord);
    const key = once ? once(event) : networkOf(event.ip ?? null);
    if (!mayRecord(key)) return SECURITY_EVENTS.publish({ kind });
    try {
      await recordSecurityEvent(database, event);
    } catch (error) {
      logger.warn('a security event was not recorded', { kind, error: messageOf(error) });
    }
  };
}

/**
 * Returns a function that says yes `limit` times in each period, and `limitOfKey` of them to one
 * key. Without a key only `limit` counts.
 */
export function atMost(limit: number, periodMs: number, limitOfKey = 1): (key?: string) => boolean {
  let periodStart = Number.NEGATIVE_INFINITY;
  let count = 0;
  const countOfKey = new Map<string, number>();
  return (key) => {
    if (performance.now() - periodStart >= periodMs) {
      periodStart = performance.now();
      count = 0;
      countOfKey.clear();
    }
    const before = key === undefined ? 0 : (countOfKey.get(key) ?? 0);
    if (count >= limit || before >= limitOfKey) return false;
    count += 1;
    if (key !== undefined) countOfKey.set(key, before + 1);
    return true;
  };
}
