import {
  ENDPOINT_STATES,
  type EndpointKey,
  listAllEndpoints,
} from '../../domain/webhooks/all-endpoints.ts';
import { listDeliveries, UNDELIVERED } from '../../domain/webhooks/list-deliveries.ts';
import { MAX_WAITING_COUNTED } from '../../domain/webhooks/list-own-endpoints.ts';
import { attemptsOf } from '../../domain/webhooks/webhook-file.ts';
import { DEFAULT_ZONE, startOfDay } from '../../domain/zone.ts';
import { recordView } from '../access/record-view.ts';
import { pathTo } from '../routes.ts';
import { actionHandlers } from '../shell/action.ts';
import { listPage, PAGE_SIZE } from '../shell/list-page.tsx';
import { idIn, numberIn, textIn, wordIn } from '../shell/read-filter.ts';
import type { Answer, Visit } from '../visit.ts';
import { ENDPOINT, recover, resend, WEBHOOK } from './actions.tsx';
import { endpointIn, recordWebhookView, webhookIn } from './query.ts';
import { EndpointPage, EndpointsPage } from './view.tsx';
import { WebhookPage } from './webhook-view.tsx';

const recovery = actionHandlers('endpointRecover', ENDPOINT, () => recover);

export const webhookEndpointHandlers = {
  endpoints: async (visit: Visit): Promise<Answer> => {
    const merchant_id = numberIn(visit.query, 'merchant');
    const state = wordIn(visit.query, 'state', ENDPOINT_STATES);
    const narrowed = { merchant_id, state, after: afterIn(visit), countUpTo: MAX_WAITING_COUNTED };
    const page = await listPage(
      (limit) => listAllEndpoints(visit.service.database, { ...narrowed, limit }),
      (last) => `${last.state}/${last.merchant_id}/${last.endpoint}`,
    );
    await recordView(visit, {
      ...{ action: 'webhooks.endpoints', subject: 'webhooks', merchant_id: merchant_id ?? null },
      ...{ lookedFor: { merchant_id, state }, rows: page.rows.length },
    });
    const { query } = visit;
    return { page: <EndpointsPage {...{ query, page }} />, title: 'Webhook endpoints' };
  },

  endpoint: async (visit: Visit): Promise<Answer> => {
    const endpoint = await endpointIn(visit);
    const status = wordIn(visit.query, 'status', UNDELIVERED) ?? 'pending';
    const { merchant_id } = endpoint;
    const narrowed = { merchant_id, endpoint: endpoint.endpoint, status };
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listDeliveries(visit.service.database, { ...narrowed, after, limit }),
      ({ id }) => id,
    );
    await recordView(visit, {
      ...{ action: 'webhooks.list', subject: 'webhooks', merchant_id },
      lookedFor: { endpoint: endpoint.endpoint, status },
      rows: page.rows.length,
    });
    const shown = <EndpointPage visit={visit} {...{ endpoint, status, page }} />;
    return { page: shown, title: endpoint.endpoint };
  },

  ...recovery,
  /** Without a first day it takes the last days, so that the form says which. */
  endpointRecoverForm: async (visit: Visit): Promise<Answer> => {
    if (visit.query.since) return recovery.endpointRecoverForm(visit);
    const query = new URLSearchParams({ ...visit.query, since: dayBefore(RECOVERED_DAYS) });
    return { goTo: `${pathTo('endpointRecoverForm', visit.params)}?${query}` };
  },

  webhook: async (visit: Visit): Promise<Answer> => webhookPage(visit, 'webhooks.show'),
  /** Shows personal data for this one time. */
  webhookReveal: async (visit: Visit): Promise<Answer> => webhookPage(visit, 'webhooks.reveal'),
  /** Whoever reloads a revealed page sees the webhook veiled. */
  webhookRevealed: async ({ params }: Visit): Promise<Answer> => ({
    goTo: pathTo('webhook', params),
  }),
  ...actionHandlers('webhookResend', WEBHOOK, () => resend),
};

const RECOVERED_DAYS = 7;
const DAY_MS = 86_400_000;

/** Returns the day of Nairobi that was so many days ago, YYYY-MM-DD. */
function dayBefore(days: number): string {
  const offsetMs = -startOfDay('1970-01-01', DEFAULT_ZONE).getTime();
  return new Date(Date.now() + offsetMs - days * DAY_MS).toISOString().slice(0, 10);
}

/** The last endpoint of the page before: all parts of the place in the order of the list. */
function afterIn({ query }: Visit): EndpointKey | undefined {
  const [state, merchant, ...endpoint] = (textIn(query, 'after') ?? '').split('/');
  if (!state) return undefined;
  const key = { state, merchant: merchant ?? '' };
  return {
    state: wordIn(key, 'state', ENDPOINT_STATES)!,
    merchant_id: numberIn(key, 'merchant') ?? 0,
    endpoint: endpoint.join('/'),
  };
}

async function webhookPage(
  visit: Visit,
  action: 'webhooks.show' | 'webhooks.reveal',
): Promise<Answer> {
  const webhook = await webhookIn(visit);
  const attempts = await attemptsOf(visit.service.database, webhook, PAGE_SIZE);
  await recordWebhookView(visit, webhook, action);
  const isRevealed = action === 'webhooks.reveal';
  const page = <WebhookPage visit={visit} {...{ webhook, attempts, isRevealed }} />;
  return { page, title: `Webhook ${webhook.id}` };
}
