import { requireMerchant } from '../../domain/merchants/merchant.ts';
import {
  MAX_LEFT_COUNTED,
  MAX_PER_RUN,
  MAX_PER_SECOND,
  previewRecovery,
  type RecoveredBatch,
  recoverAudited,
} from '../../domain/webhooks/recover-deliveries.ts';
import { flag, optional, required } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { origin } from '../options/endpoints.ts';
import * as search from '../options/search.ts';
import { type Answer, changes } from '../verb.ts';

export const recover = changes({
  role: 'support',
  summary: 'Sends again all webhooks that have not reached a merchant',
  notes: `Those that were given up, and those whose next attempt is not due yet; by the time of their events, oldest first, each under the same id and body. Their attempts begin anew, and endpoints that are held are probed at once. What is due or under way, or was sent again and waits for its turn, is left alone. So is what the receiver stopped with 410, and what is parked: webhooks resend sends these one by one. At most ${MAX_PER_RUN} in one run; run it again for the others. Those are counted up to ${MAX_LEFT_COUNTED}.`,
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
      const preview = await previewRecovery(database, recovery);
      return recoveryAnswer({ isDryRun, ...preview, probed: 0 });
    }
    return recoveryAnswer({ isDryRun, ...(await recoverAudited(audited, recovery, rate)) });
  },
});

function recoveryAnswer({ isDryRun, ...run }: RecoveredBatch & { isDryRun: boolean }): Answer {
  const { count, left, probed } = run;
  const isUnchanged = isDryRun || (count === 0 && probed === 0);
  const sent = isDryRun ? 'that would be sent again' : 'sent again';
  return {
    data: { dry_run: isDryRun, ...run },
    lines: [
      `Webhooks ${sent}: ${count}${isUnchanged ? '; nothing was changed' : ''}`,
      probed > 0 && `Endpoints probed at once: ${probed}`,
      left > 0 && `Left for another run: ${left}${left < MAX_LEFT_COUNTED ? '' : ' or more'}`,
    ],
  };
}
