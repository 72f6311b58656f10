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
import { actionDone, actionForm } from '../shell/action.tsx';
import { idIn, numberIn, textIn, wordIn } from '../shell/given.ts';
import type { Answer, Visit } from '../visit.ts';
import { recover, resend } from './actions.tsx';
import { endpointIn, PAGE_SIZE, webhookIn } from './query.ts';
import { EndpointPage, EndpointsPage } from './view.tsx';
import { WebhookPage } from './webhook-view.tsx';

export const webhookEndpointHandlers = {
  endpoints: async (visit: Visit): Promise<Answer> => {
    const merchant_id = numberIn(visit.query, 'merchant');
    const state = wordIn(visit.query, 'state', ENDPOINT_STATES);
    const found = await listAllEndpoints(visit.service.database, {
      ...{ merchant_id, state, after: afterIn(visit) },
      ...{ countUpTo: MAX_WAITING_COUNTED, limit: PAGE_SIZE + 1 },
    });
    await recordView(visit, {
      ...{ action: 'webhooks.endpoints', subject: 'webhooks', merchant_id: merchant_id ?? null },
      ...{ lookedFor: { merchant_id, state }, rows: Math.min(found.length, PAGE_SIZE) },
    });
    return { page: <EndpointsPage visit={visit} found={found} />, title: 'Webhook endpoints' };
  },

  endpoint: async (visit: Visit): Promise<Answer> => {
    const endpoint = await endpointIn(visit);
    const status = wordIn(visit.query, 'status', UNDELIVERED) ?? 'pending';
    const { merchant_id } = endpoint;
    const found = await listDeliveries(visit.service.database, {
      ...{ merchant_id, endpoint: endpoint.endpoint, status },
      ...{ after: idIn(visit.query, 'after'), limit: PAGE_SIZE + 1 },
    });
    await recordView(visit, {
      ...{ action: 'webhooks.list', subject: 'webhooks', merchant_id },
      lookedFor: { endpoint: endpoint.endpoint, status },
      rows: Math.min(found.length, PAGE_SIZE),
    });
    const page = <EndpointPage visit={visit} {...{ endpoint, status, found }} />;
    return { page, title: endpoint.endpoint };
  },

  /** Without a first day it takes the last days, so that the form says which. */
  endpointRecoverForm: async (visit: Visit): Promise<Answer> => {
    if (visit.query.since) return actionForm(recover)(visit);
    const query = new URLSearchParams({ ...visit.query, since: dayBefore(RECOVERED_DAYS) });
    return { goTo: `${pathTo('endpointRecoverForm', visit.params)}?${query}` };
  },
  endpointRecover: actionDone(recover),

  webhook: async (visit: Visit): Promise<Answer> => webhookPage(visit, 'webhooks.show'),
  /** Shows personal data for this one time. */
  webhookReveal: async (visit: Visit): Promise<Answer> => webhookPage(visit, 'webhooks.reveal'),
  /** Whoever reloads a revealed page sees the webhook veiled. */
  webhookRevealed: async ({ params }: Visit): Promise<Answer> => ({
    goTo: pathTo('webhook', params),
  }),
  webhookResendForm: actionForm(resend),
  webhookResend: actionDone(resend),
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
  const { id, merchant_id } = webhook;
  const read = { action, subject: `webhooks ${id}`, merchant_id, lookedFor: {}, rows: 1 };
  await recordView(visit, read);
  const isRevealed = action === 'webhooks.reveal';
  const page = <WebhookPage visit={visit} {...{ webhook, attempts, isRevealed }} />;
  return { page, title: `Webhook ${id}` };
}
