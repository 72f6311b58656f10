import type { Database, Transaction } from '../../connections/database.ts';
import type { Audited } from '../audited-change.ts';
import { countRecoverable, type Recovery, recoverDeliveries } from './recover-deliveries.ts';

/** One run sends so many at most: their rows are locked together. */
export const MAX_PER_RUN = 10_000;
export const MAX_PER_SECOND = 100;
/** What another run would send is counted up to here. */
export const MAX_LEFT_COUNTED = 100_000;

export interface Recovered {
  count: number;
  /** Those that another run would send, up to `MAX_LEFT_COUNTED`. */
  left: number;
  /** Endpoints that were held and are probed at once. */
  probed: number;
}

/** Counts what a run would send, and changes nothing. */
export async function previewRecovery(
  database: Database | Transaction,
  recovery: Recovery,
): Promise<Omit<Recovered, 'probed'>> {
  const found = await countRecoverable(database, recovery, MAX_PER_RUN + MAX_LEFT_COUNTED);
  const count = Math.min(found, MAX_PER_RUN);
  return { count, left: found - count };
}

/**
 * Sends webhooks of a merchant again, with a line in the audit log.
 * @param perSecond how many become due in each second; undefined: all at once
 */
export function recoverAudited(
  audited: Audited,
  recovery: Recovery,
  perSecond: number | undefined,
): Promise<Recovered> {
  return audited(async (trx) => {
    const found = await previewRecovery(trx, recovery);
    const options = { limit: MAX_PER_RUN, perSecond };
    const { resent: count, probed } = await recoverDeliveries(trx, recovery, options);
    const value = { count, left: Math.max(0, found.count + found.left - count), probed };
    const isChange = count > 0 || probed > 0;
    return { value, audit: isChange ? auditOf(recovery, perSecond, value) : null };
  });
}

function auditOf(recovery: Recovery, rate: number | undefined, done: Recovered) {
  const { merchant_id, since, until = null, endpoint = null } = recovery;
  const details = { since, until, endpoint, rate: rate ?? null, ...done };
  return { merchant_id, subject: `webhooks of merchant ${merchant_id}`, details };
}
