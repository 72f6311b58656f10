import { validate as isUuid } from 'uuid';
import {
  listAllEndpoints,
  MAX_WAITING_COUNTED,
  type SupportEndpoint,
} from '../../domain/webhooks/list-endpoints.ts';
import { findWebhook, type Webhook } from '../../domain/webhooks/webhook-file.ts';
import { recordView } from '../access/audit.ts';
import { ConsoleError, type Visit } from '../visit.ts';

const MERCHANT_ID = /^[1-9]\d{0,14}$/;

/** Reads the endpoint that the address names. @throws ConsoleError without one */
export async function endpointIn({ service, params }: Visit): Promise<SupportEndpoint> {
  const { merchant_id = '', endpoint = '' } = params;
  const [found] = MERCHANT_ID.test(merchant_id)
    ? await listAllEndpoints(service.database, {
        merchant_id: Number(merchant_id),
        endpoint,
        countUpTo: MAX_WAITING_COUNTED,
        limit: 1,
      })
    : [];
  if (!found) throw new ConsoleError(404, 'There is no such endpoint, or nothing was sent to it');
  return found;
}

/** Reads the webhook that the address names. @throws ConsoleError without one */
export async function webhookIn({ service, params: { id = '' } }: Visit): Promise<Webhook> {
  const found = isUuid(id) ? await findWebhook(service.database, id) : undefined;
  if (!found) throw new ConsoleError(404, 'There is no such webhook. Look for it with the search');
  return found;
}

export async function recordWebhookView(
  visit: Visit,
  { id, merchant_id }: Webhook,
  action = 'webhooks.show',
): Promise<void> {
  const read = { action, subject: `webhooks ${id}`, merchant_id, lookedFor: {}, rows: 1 };
  await recordView(visit, read);
}
