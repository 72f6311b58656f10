import { OperatorRefusal } from '../domain/errors.ts';
import { requireMerchant } from '../domain/merchants/merchant.ts';
import { counted } from '../domain/text.ts';
import { listAllEndpoints, MAX_WAITING_COUNTED } from '../domain/webhooks/list-endpoints.ts';
import {
  MAX_LEFT_COUNTED,
  MAX_PER_RUN,
  MAX_PER_SECOND,
  previewRecovery,
  probeAudited,
  type Recovery,
  recoverAudited,
} from '../domain/webhooks/recover-deliveries.ts';
import { isDue, isUnderWay, resendAudited } from '../domain/webhooks/resend-webhook.ts';
import { findWebhook, type Webhook } from '../domain/webhooks/webhook-file.ts';
import { flag, optional, required } from './field.ts';
import { define, type Noun } from './operation.ts';
import { checkPeriod, period, requiredSince } from './period.ts';
import * as read from './readers.ts';

export const WEBHOOK: Noun<Webhook> = {
  fields: {
    id: required('webhook', read.uuid, 'The webhook-id, which the merchant knows too'),
  },
  argument: 'id',
  find: async ({ database }, { id }) => {
    const found = await findWebhook(database, String(id));
    if (found) return found;
    throw new OperatorRefusal(`There is no webhook ${id}`);
  },
};

/** Sends one webhook again. A page offers it unless a copy would help nobody. */
export const resendWebhook = define<Webhook, Record<never, never>>({
  name: 'webhooks.resend',
  role: 'support',
  title: 'Resend a webhook',
  button: 'Resend',
  summary: 'Sends a webhook again now, whatever became of it, under the same id and body',
  notes:
    'The dispatcher lets it go when there is a place at its endpoint, and the ladder of attempts begins anew. One that is under way or due stays as it is. If its endpoint is held, that is probed at once. Receivers know a second copy by its webhook-id.',
  about: WEBHOOK,
  fields: {},
  whyNot: (webhook) => {
    if (webhook.status === null) return 'It goes out for the first time soon';
    const isHeld = webhook.endpoint_probe_at !== null;
    const isAtHand = isUnderWay(webhook) || (isDue(webhook) && !isHeld);
    return isAtHand ? 'It is under way or due already: a second copy would help nobody' : null;
  },
  preview: ({ subject: webhook }) => {
    const { attempts, endpoint } = webhook;
    if (isDue(webhook)) {
      return [
        `It is due, and waits for ${endpoint}, which is held. The endpoint is probed at once.`,
      ];
    }
    return [
      `It goes to ${endpoint} as attempt ${attempts! + 1}, under the same webhook-id and with the same body.`,
      'The ladder of attempts begins anew. A receiver knows a second copy by its webhook-id.',
    ];
  },
  perform: async ({ audited, subject: { id } }) => {
    const { after, isResent, isProbed } = await resendAudited(audited, id);
    const state = isUnderWay(after) ? 'under way' : 'due';
    const words = isResent
      ? `goes out again, as attempt ${after.attempts! + 1}`
      : `is ${state}: ${isProbed ? 'its endpoint is probed at once' : 'nothing was changed'}`;
    return {
      title: `Webhook ${id} ${words}`,
      row: after,
      more: { resent: isResent, probed: isProbed },
      isDone: isResent || isProbed,
    };
  },
});

/** A merchant's receivers, or one of them: scheme, host and port. */
type Receiver = Pick<Recovery, 'merchant_id' | 'endpoint'>;

const ORIGINS = 'scheme, host and port such as https://shop.example or https://shop.example:8443';

/** Scheme, host and port of callback addresses, in any spelling. A path would match nothing. */
const origin = read.reader('ORIGIN', ORIGINS, (raw) => {
  const url = URL.canParse(raw) ? new URL(raw) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
});

const RECEIVER: Noun<Receiver> = {
  fields: {
    merchant_id: required('merchant', read.merchantId, 'Those of this merchant'),
    endpoint: optional('endpoint', origin, 'Only those to this scheme, host and port'),
  },
  argument: 'merchant_id',
  find: async ({ database }, names) => {
    const { merchant_id, endpoint } = names as unknown as Receiver;
    await requireMerchant(database, merchant_id);
    return { merchant_id, endpoint };
  },
};

/** Sends one webhook to endpoints that are held, to see whether they work again. */
export const probeEndpoints = define<Receiver, Record<never, never>>({
  name: 'webhooks.probe',
  role: 'support',
  title: 'Probe an endpoint that is held',
  button: 'Probe now',
  summary:
    'Sends one webhook now to each endpoint of a merchant that is held, to see whether it works again',
  notes:
    'The first webhook that is taken lets the others go. If it is not taken, the next probe comes at its time. Endpoints that work get nothing by it.',
  about: RECEIVER,
  fields: {},
  preview: async ({ service, subject }) => {
    const held = await listAllEndpoints(service.database, {
      ...{ ...subject, state: 'held', countUpTo: MAX_WAITING_COUNTED, limit: MAX_NAMED },
    });
    if (held.length === 0) {
      const whose = subject.endpoint ?? `No endpoint of merchant ${subject.merchant_id}`;
      throw new OperatorRefusal(
        `${whose} is ${subject.endpoint ? 'not ' : ''}held: what waits goes out by itself`,
      );
    }
    return [
      ...held.map(
        ({ endpoint, waiting }) =>
          `One webhook goes to ${endpoint} now. ${waiting < MAX_WAITING_COUNTED ? waiting : `At least ${waiting}`} wait for it.`,
      ),
      'If it is taken, the others follow. If not, the next probe comes at its time.',
    ];
  },
  perform: async ({ audited, subject }) => {
    const probed = await probeAudited(audited, subject);
    return {
      title:
        probed > 0
          ? `Endpoints probed at once: ${probed}`
          : 'No probe can go earlier: it is due now',
      more: { probed },
      isDone: probed > 0,
    };
  },
});

/** The most endpoints that a preview names. */
const MAX_NAMED = 20;

/** Sends again everything that has not reached a merchant, or one of its endpoints. */
export const recoverWebhooks = define({
  name: 'webhooks.recover',
  role: 'support',
  title: 'Send webhooks again',
  button: 'Send again',
  summary: 'Sends again all webhooks that have not reached a merchant',
  notes: `Those that were given up, and those whose next attempt is not due yet; by the time of their events, oldest first, each under the same id and body. Their attempts begin anew, and endpoints that are held are probed at once. What is due or under way, or was sent again and waits for its turn, is left alone. So is what the receiver stopped with 410, and what is parked: webhooks resend sends these one by one. At most ${MAX_PER_RUN} in one run; run it again for the others. Those are counted up to ${MAX_LEFT_COUNTED}.`,
  about: RECEIVER,
  fields: {
    since: requiredSince,
    until: period.until,
    rate: optional(
      'rate',
      read.integer('COUNT', 1, MAX_PER_SECOND),
      `The number per second, at most ${MAX_PER_SECOND}. Default: as fast as the endpoint takes them`,
      { label: 'Per second at most' },
    ),
    isDryRun: flag('dry-run', 'Only count them'),
  },
  asks: ['since', 'until', 'rate'],
  asksFirst: true,
  check: checkPeriod,
  preview: async ({ service, subject, time }, values) => {
    if (!values) return null;
    const { rate, ...times } = values;
    const { count, left } = await previewRecovery(service.database, { ...subject, ...times });
    const to = subject.endpoint ?? `merchant ${subject.merchant_id}`;
    const end = times.until ? ` and before ${time(times.until)}` : '';
    const which = `to ${to}, of events from ${time(times.since)} on${end}`;
    if (count === 0) {
      throw new OperatorRefusal(
        `Nothing is left to send again ${which}. Webhooks that wait for an endpoint which is held go out when it works: probe it now (webhooks probe)`,
      );
    }
    const pace = rate === undefined ? 'as fast as the endpoint takes them' : `${rate} per second`;
    const more = left < MAX_LEFT_COUNTED ? `${left}` : `at least ${left}`;
    return [
      `${counted(count, 'webhook')} ${count === 1 ? 'goes' : 'go'} out again ${which}, oldest first, ${pace}.`,
      ...(left > 0 ? [`${more} more are left for another run.`] : []),
      'Each keeps its webhook-id and its body, so that the receiver knows a second copy.',
      'The ladder of attempts begins anew. An endpoint that is held is probed at once.',
    ];
  },
  perform: async ({ audited, service, subject }, { rate, isDryRun, ...times }) => {
    const recovery = { ...subject, ...times };
    const run = isDryRun
      ? { ...(await previewRecovery(service.database, recovery)), probed: 0 }
      : await recoverAudited(audited, recovery, rate);
    const { count, left, probed } = run;
    const isUnchanged = isDryRun || (count === 0 && probed === 0);
    const sent = isDryRun ? 'that would be sent again' : 'sent again';
    return {
      title: `Webhooks ${sent}: ${count}${isUnchanged ? '; nothing was changed' : ''}`,
      more: { dry_run: isDryRun, ...run },
      notes: [
        probed > 0 && `Endpoints probed at once: ${probed}`,
        left > 0 && `Left for another run: ${left}${left < MAX_LEFT_COUNTED ? '' : ' or more'}`,
      ],
      isDone: !isUnchanged,
    };
  },
});
