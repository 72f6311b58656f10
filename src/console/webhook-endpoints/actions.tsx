import { OperatorRefusal } from '../../domain/errors.ts';
import type { SupportEndpoint } from '../../domain/webhooks/list-endpoints.ts';
import {
  MAX_LEFT_COUNTED,
  MAX_PER_SECOND,
  previewRecovery,
  type Recovery,
  recoverAudited,
} from '../../domain/webhooks/recover-deliveries.ts';
import type { Webhook } from '../../domain/webhooks/webhook-file.ts';
import { recordView } from '../access/audit.ts';
import { pathTo } from '../routes.ts';
import type { Action, Given, Resource } from '../shell/action.ts';
import { DayFilters, TextFilter } from '../shell/filters.tsx';
import { nairobiTime } from '../shell/links.tsx';
import { daysIn, numberIn } from '../shell/read-fields.ts';
import { endpointIn, recordWebhookView, webhookIn } from './query.ts';
import { performResend, previewResend, whyNotResent } from './resend.ts';

export const ENDPOINT: Resource<SupportEndpoint> = {
  find: endpointIn,
  nameOf: ({ endpoint }) => endpoint,
  pathOf: (endpoint) => pathTo('endpoint', { ...endpoint }),
};

/** Sends again everything that has not reached an endpoint. */
export const recover: Action<SupportEndpoint> = {
  ...{ action: 'webhooks.recover', title: 'Send webhooks again', verb: 'Send again' },
  carried: ['since', 'until', 'rate'],
  preview: async (visit, endpoint, given) => {
    const recovery = recoveryIn(endpoint, given);
    const rate = rateIn(given);
    const { count, left } = await previewRecovery(visit.service.database, recovery);
    await recordView(visit, {
      ...{ action: 'webhooks.recover', subject: 'webhooks', merchant_id: endpoint.merchant_id },
      ...{ lookedFor: { ...recovery }, rows: count },
    });
    if (count === 0)
      throw new OperatorRefusal(`Nothing is left to send again ${wordsOf(recovery)}`);
    const pace = rate === undefined ? 'as fast as the endpoint takes them' : `${rate} per second`;
    const more = left < MAX_LEFT_COUNTED ? `${left}` : `at least ${left}`;
    return [
      `${count} webhooks go out again ${wordsOf(recovery)}, oldest first, ${pace}.`,
      ...(left > 0 ? [`${more} more are left for another run.`] : []),
      'Each keeps its webhook-id and its body, so that the receiver knows a second copy.',
      'The ladder of attempts begins anew. An endpoint that is held is probed at once.',
    ];
  },
  perform: async (visit, endpoint, { audited }) => {
    const recovery = recoveryIn(endpoint, visit.form);
    const { count } = await recoverAudited(audited, recovery, rateIn(visit.form));
    if (count === 0) throw new OperatorRefusal('Nothing is left to send again');
  },
  choices: (endpoint, given) => (
    <form class="card filters" method="get" action={pathTo('endpointRecoverForm', { ...endpoint })}>
      <DayFilters query={given} />
      <TextFilter name="rate" label="Per second at most" type="number" query={given} />
      <p class="buttons">
        <button type="submit" class="quiet">
          Show what happens
        </button>
        <span class="hint">The days on which the events happened, in Nairobi</span>
      </p>
    </form>
  ),
};

/** @throws OperatorRefusal without a first day: nobody means all webhooks of all times */
function recoveryIn({ merchant_id, endpoint }: SupportEndpoint, given: Given) {
  const { since, until } = daysIn(given);
  if (!since) throw new OperatorRefusal('Say from which day on');
  return { merchant_id, endpoint, since, until };
}

function rateIn(given: Given): number | undefined {
  const rate = numberIn(given, 'rate');
  if (rate !== undefined && rate > MAX_PER_SECOND) {
    throw new OperatorRefusal(`At most ${MAX_PER_SECOND} go out per second`);
  }
  return rate;
}

function wordsOf({ endpoint, since, until }: Recovery): string {
  const end = until ? ` and before ${nairobiTime(until)}` : '';
  return `to ${endpoint}, of events from ${nairobiTime(since)} on${end}`;
}

export const WEBHOOK: Resource<Webhook> = {
  find: webhookIn,
  recordView: (visit, webhook) => recordWebhookView(visit, webhook),
  nameOf: ({ id }) => `Webhook ${id}`,
  pathOf: ({ id }) => pathTo('webhook', { id }),
};

/** Lets one webhook go out again. */
export const resend: Action<Webhook> = {
  ...{ action: 'webhooks.resend', title: 'Resend a webhook', verb: 'Resend' },
  whyNot: whyNotResent,
  preview: (_visit, webhook) => previewResend(webhook),
  perform: async (_visit, { id }, { audited }) => {
    await performResend(audited, id);
  },
};
