import type { Transaction } from '../../connections/database.ts';
import { requireMerchant } from '../../domain/merchants/manage-merchants.ts';
import {
  countRecoverable,
  type Recovery,
  recoverDeliveries,
} from '../../domain/webhooks/recover-deliveries.ts';
import { origin } from '../options/endpoints.ts';
import { flag, optional, required } from '../options/option.ts';
import * as read from '../options/readers.ts';
import * as search from '../options/search.ts';
import { type Answer, changes } from '../verb.ts';

/** One run sends so many at most: their rows are locked together. */
const MAX_PER_RUN = 10_000;
const MAX_PER_SECOND = 100;
/** Those of a run and those that are left are counted up to here. */
const MAX_COUNTED = 100_000;

export const recover = changes({
  role: 'support',
  summary: 'Sends again all webhooks that have not reached a merchant',
  notes: `Those that were given up, and those whose next attempt is not due yet; by the time of their events, oldest first, each under the same id and body. Their attempts begin anew, and endpoints that are held are probed at once. What is due or under way, or was sent again and waits for its turn, is left alone. So is what the receiver stopped with 410, and what is parked: webhooks resend sends these one by one. At most ${MAX_PER_RUN} in one run; run it again for the others. They are counted up to ${MAX_COUNTED}.`,
  options: {
    merchant_id: required('merchant', read.merchantId, 'Those of this merchant'),
    since: search.requiredSince,
    until: search.period.until,
    endpoint: optional('endpoint', origin, 'Only those to this scheme, host and port'),
    rate: optional(
      'rate',
      read.integer('COUNT', 1, MAX_PER_SECOND),
      `So many per second, at most ${MAX_PER_SECOND}. Default: as fast as the endpoint takes them`,
    ),
    isDryRun: flag('dry-run', 'Only count them'),
  },
  check: search.checkPeriod,
  run: async ({ database }, { rate, isDryRun, ...recovery }, { audited }) => {
    await requireMerchant(database, recovery.merchant_id);
    if (isDryRun) {
      const found = await countRecoverable(database, recovery, MAX_COUNTED);
      const count = Math.min(found, MAX_PER_RUN);
      return recoveryAnswer({ isDryRun, count, left: found - count, probed: 0 });
    }
    const result = await audited(async (trx) => {
      const value = await recoverIn(trx, recovery, rate);
      return {
        value,
        audit: value.count > 0 || value.probed > 0 ? auditOf(recovery, rate, value) : null,
      };
    });
    return recoveryAnswer({ isDryRun, ...result });
  },
});

interface Run {
  count: number;
  /** Those that another run would send. */
  left: number;
  /** Endpoints that were held and are probed at once. */
  probed: number;
}

async function recoverIn(
  trx: Transaction,
  recovery: Recovery,
  perSecond: number | undefined,
): Promise<Run> {
  const found = await countRecoverable(trx, recovery, MAX_COUNTED);
  const options = { limit: MAX_PER_RUN, perSecond };
  const { resent: count, probed } = await recoverDeliveries(trx, recovery, options);
  return { count, left: Math.max(0, found - count), probed };
}

function auditOf(recovery: Recovery, rate: number | undefined, { count, left, probed }: Run) {
  const { merchant_id, since, until = null, endpoint = null } = recovery;
  const details = { since, until, endpoint, rate: rate ?? null, count, left, probed };
  return { merchant_id, subject: `webhooks of merchant ${merchant_id}`, details };
}

function recoveryAnswer({ isDryRun, ...run }: Run & { isDryRun: boolean }): Answer {
  const { count, left, probed } = run;
  const isUnchanged = isDryRun || (count === 0 && probed === 0);
  const sent = isDryRun ? 'that would be sent again' : 'sent again';
  return {
    data: { dry_run: isDryRun, ...run },
    lines: [
      `Webhooks ${sent}: ${count}${isUnchanged ? '; nothing was changed' : ''}`,
      probed > 0 && `Endpoints probed at once: ${probed}`,
      left > 0 && `Left for another run: ${left}`,
    ],
  };
}
