import { inOneTransaction, type Transaction } from '../../connections/database.ts';
import { chooseApp } from '../../domain/access/choose-app.ts';
import { Refusal } from '../../domain/errors.ts';
import { MAX_COUNT } from '../../domain/lists.ts';
import { spanOf } from '../../domain/period.ts';
import { listOwnEndpoints } from '../../domain/webhooks/list-endpoints.ts';
import { listOwnDeliveries, readFeed } from '../../domain/webhooks/list-own-deliveries.ts';
import {
  countRecoverable,
  type Recovery,
  recoverDeliveries,
} from '../../domain/webhooks/recover-deliveries.ts';
import { resendOwnWebhook } from '../../domain/webhooks/resend-webhook.ts';
import { exampleWebhook } from '../../domain/webhooks/sign.ts';
import { attemptsOf, findWebhook, type Webhook } from '../../domain/webhooks/webhook-file.ts';
import { postOptionsOf, postWebhook } from '../../outbound/webhook-client.ts';
import { UUID } from '../../records/schema.ts';
import {
  deliveryDetail,
  deliveryFile,
  feedEvent,
  listedDelivery,
  MAX_ATTEMPTS_SHOWN,
  resentDelivery,
  testedWebhook,
  webhookEndpoint,
} from '../../records/webhooks.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { MAX_RECOVERED } from '../endpoints/webhooks.ts';
import { deliveryFilterIn, envelopeOf, feedEnvelopeOf, pageRequestOf } from '../lists.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { createWaitingRoom, type WaitingRoom } from '../middleware/mount-awaited.ts';
import type { recovery, webhookTest } from '../schemas/bodies.ts';
import type { InputOf } from '../schemas/validator.ts';
import { callbackUrlIn } from './payments.ts';

/** Tests of one process that may be under way at the same time, each for up to a webhook's time. */
const MAX_TESTS = 20;
/** In one process, too: so that nobody floods somebody through us. */
const MAX_TESTS_OF_MERCHANT = 1;

export function addWebhookRoutes(context: ApiContext): void {
  addListRoutes(context);
  addDeliveryRoutes(context);
  const { webhookTests: waiters, webhookTestsRefused: refused } = context.meters.http;
  const room = createWaitingRoom(
    {
      places: MAX_TESTS,
      placesOfMerchant: MAX_TESTS_OF_MERCHANT,
      refusalOfMerchant: 'webhook_test_running',
    },
    { waiters, refused },
  );
  mount(context, endpoints.testWebhook, async (call) => ({
    body: await sendTest(context, room, call),
  }));
}

function addListRoutes(context: ApiContext): void {
  const { database, config } = context;

  mount(context, endpoints.listEvents, async ({ caller: { merchant_id }, query }) => {
    const wanted = { after: query.after, limit: query.page_size };
    const page = await readFeed(database, merchant_id, wanted);
    return { body: feedEnvelopeOf(config, endpoints.listEvents, query, page, feedEvent.present) };
  });

  mount(context, endpoints.listWebhooks, async ({ caller: { merchant_id }, query }) => {
    const filter = deliveryFilterIn(query);
    const page = await listOwnDeliveries(database, merchant_id, filter, pageRequestOf(query));
    return {
      body: envelopeOf(config, endpoints.listWebhooks, query, page, listedDelivery.present),
    };
  });

  mount(context, endpoints.listWebhookEndpoints, async ({ caller: { merchant_id }, query }) => {
    const page = await listOwnEndpoints(database, merchant_id, pageRequestOf(query));
    return {
      body: envelopeOf(
        config,
        endpoints.listWebhookEndpoints,
        query,
        page,
        webhookEndpoint.present,
      ),
    };
  });
}

function addDeliveryRoutes(context: ApiContext): void {
  const { database } = context;

  mount(context, endpoints.getWebhook, async (call) => {
    const { merchant_id, id } = deliveryIn(call);
    const webhook = await findWebhook(database, id, merchant_id);
    if (!webhook || webhook.status === null) throw new Refusal('webhook_not_found');
    return {
      body: deliveryDetail.present(await fileOf(database, webhook)),
      paymentId: webhook.payment_id,
    };
  });

  mount(context, endpoints.resendWebhook, async (call) => {
    const ref = deliveryIn(call);
    return inOneTransaction(call.database, async (trx) => {
      const { after, isResent } = await resendOwnWebhook(trx, ref);
      const file = { ...(await fileOf(trx, after)), resent: isResent };
      return { body: resentDelivery.present(file), paymentId: after.payment_id };
    });
  });

  mount(context, endpoints.recoverWebhooks, async ({ caller, body, database: target }) => {
    const wanted = recoveryIn(caller.merchant_id, body);
    return inOneTransaction(target, async (trx) => {
      const { resent } = await recoverDeliveries(trx, wanted, { limit: MAX_RECOVERED });
      return { body: { resent, remaining: await countRecoverable(trx, wanted, MAX_COUNT) } };
    });
  });
}

/** @throws Refusal when the id is no UUID, as for one that does not exist */
function deliveryIn({ caller: { merchant_id }, params: { id = '' } }: AuthenticatedCall) {
  if (!UUID.test(id)) throw new Refusal('webhook_not_found');
  return { merchant_id, id };
}

async function fileOf(database: ApiContext['database'] | Transaction, webhook: Webhook) {
  return deliveryFile(webhook, await attemptsOf(database, webhook, MAX_ATTEMPTS_SHOWN));
}

/** Times count from their first millisecond on. */
function recoveryIn(
  merchant_id: number,
  { since, until, endpoint }: InputOf<typeof recovery>,
): Recovery {
  const timeOf = (text: string) => new Date(spanOf(text)!.first);
  return { merchant_id, since: timeOf(since), until: until ? timeOf(until) : undefined, endpoint };
}

/** Sends an example with no transaction open. Nothing of it is recorded. */
async function sendTest(
  { database, config, logger }: ApiContext,
  room: WaitingRoom,
  call: AuthenticatedCall<InputOf<typeof webhookTest>>,
) {
  const { caller, body } = call;
  const { merchant_id } = caller;
  const callbackUrl = callbackUrlIn(config, body);
  room.enter(call, merchant_id);
  try {
    const app = { merchant_id, app_code: await chooseApp(database, caller, null, body.app_code) };
    const example = await exampleWebhook(database, config.secretsKeys, app);
    const options = postOptionsOf(config);
    const outcome = await postWebhook(callbackUrl, example.body, example.headers, options);
    logger.info('webhook tested', {
      merchant_id,
      webhook_id: example.id,
      // The path may hold a secret of the merchant's.
      endpoint: new URL(callbackUrl).origin,
      status: outcome.status,
      error: outcome.reason ?? outcome.error,
    });
    return testedWebhook.present({ ...outcome, webhook_id: example.id });
  } finally {
    room.leave(call);
  }
}
