import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import type { SupportEndpoint } from '../../domain/webhooks/all-endpoints.ts';
import {
  MAX_LEFT_COUNTED,
  MAX_PER_SECOND,
  previewRecovery,
  recoverAudited,
} from '../../domain/webhooks/recover-audited.ts';
import type { Recovery } from '../../domain/webhooks/recover-deliveries.ts';
import type { Webhook } from '../../domain/webhooks/webhook-file.ts';
import { recordView } from '../access/record-view.ts';
import { pathTo } from '../routes.ts';
import type { Given, ThingAction } from '../shell/action.tsx';
import { DayFilters, TextFilter } from '../shell/filters.tsx';
import { daysIn, numberIn } from '../shell/given.ts';
import { nairobiTime } from '../shell/time.tsx';
import { endpointIn, webhookIn } from './query.ts';
import { performResend, previewResend } from './resend.ts';

/** Sends again everything that has not reached an endpoint. */
export const recover: ThingAction<SupportEndpoint> = {
  ...{ route: 'endpointRecover', action: 'webhooks.recover', carried: ['since', 'until', 'rate'] },
  ...{ title: 'Send webhooks again', verb: 'Send again' },
  find: endpointIn,
  back: (endpoint) => ({ path: pathTo('endpoint', { ...endpoint }), words: endpoint.endpoint }),
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
  perform: async (visit, endpoint, audited) => {
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
        <span class="hint">The days are those of the events, in Nairobi</span>
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

/** Lets one webhook go out again. */
export const resend: ThingAction<Webhook> = {
  ...{ route: 'webhookResend', action: 'webhooks.resend' },
  ...{ title: 'Resend a webhook', verb: 'Resend' },
  find: webhookIn,
  back: ({ id }) => ({ path: pathTo('webhook', { id }), words: `Webhook ${id}` }),
  preview: async (visit, webhook) => {
    const { id, merchant_id } = webhook;
    await recordView(visit, {
      ...{ action: 'webhooks.show', subject: `webhooks ${id}`, merchant_id },
      ...{ lookedFor: {}, rows: 1 },
    });
    return previewResend(webhook);
  },
  perform: (_visit, { id }, audited) => performResend(audited, id),
};
