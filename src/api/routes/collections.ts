import { Router } from 'express';
import { channelOfPhone } from '../../domain/channels/channel.ts';
import { createCollection } from '../../domain/collections/create-collection.ts';
import { listCollections } from '../../domain/collections/list-collections.ts';
import { Refusal } from '../../domain/errors.ts';
import { chooseApp, rateOf } from '../../domain/merchants/authenticate.ts';
import { parseAmount } from '../../domain/money.ts';
import type { PaymentStatus } from '../../domain/payments/payment.ts';
import { findPayment } from '../../domain/payments/payment-store.ts';
import { addLogContext } from '../../logger.ts';
import { BASE_PATH } from '../base-path.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { envelopeOf, pageRequestOf } from '../pagination.ts';
import { collectionDetail, collectionRecord, listedCollection } from '../presenters/collection.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The integer statuses of the API, in the order of their codes. */
const STATUS_CODES: PaymentStatus[] = ['pending', 'processing', 'failed', 'completed'];

/** What the deprecated list calls pending has two names elsewhere. */
const DEPRECATED_STATUSES: Record<string, PaymentStatus[]> = {
  pending: ['pending', 'processing'],
  completed: ['completed'],
  failed: ['failed'],
};

export function collectionRoutes(context: ApiContext): Router {
  const { database, config } = context;
  const router = Router();

  mount(router, context, endpoints.initiateCollection, async (call) => {
    const collection = await initiate(context, call);
    addLogContext({ payment_id: collection.id });
    return { body: collectionRecord(collection) };
  });

  mount(router, context, endpoints.listCollections, async ({ caller, query }) => {
    const status = query.status as number | undefined;
    const filter = {
      ...commonFilter(query),
      statuses: status === undefined ? undefined : [STATUS_CODES[status]!],
    };
    const page = await listCollections(database, caller.merchantId, filter, pageRequestOf(query));
    const { path } = endpoints.listCollections;
    return { body: envelopeOf(config.publicUrl, path, query, page, collectionDetail) };
  });

  mount(router, context, endpoints.getCollection, async ({ caller, params }) => {
    const id = params.checkout_id ?? '';
    const collection = UUID.test(id)
      ? await findPayment(database, { kind: 'collection', merchantId: caller.merchantId, id })
      : undefined;
    if (collection?.kind !== 'collection') throw new Refusal('transaction_not_found');
    addLogContext({ payment_id: collection.id });
    return { body: collectionDetail(collection) };
  });

  mount(router, context, endpoints.listCollectionsDeprecated, async ({ caller, query }) => {
    const filter = {
      ...commonFilter(query),
      statuses: DEPRECATED_STATUSES[String(query.status)],
      phone: phoneIn(query),
    };
    const page = await listCollections(database, caller.merchantId, filter, pageRequestOf(query));
    const { path } = endpoints.listCollectionsDeprecated;
    return {
      headers: {
        Deprecation: 'true',
        Link: `<${config.publicUrl}${BASE_PATH}${endpoints.listTransactions.path}>; rel="successor-version"`,
      },
      body: envelopeOf(config.publicUrl, path, query, page, listedCollection),
    };
  });

  return router;
}

async function initiate(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall,
) {
  const channel = channelOfPhone(String(body.payfrom));
  if (channel === null) throw new Refusal('invalid_phone_number');
  const callbackUrl = String(body.callback_url);
  if (config.requireHttps && !/^https:/i.test(callbackUrl)) {
    throw new Refusal('invalid_field', 'callback_url');
  }
  const appCode = await chooseApp(
    database,
    caller,
    'collections',
    body.app_code as number | undefined,
  );
  const route = channels.get(channel);
  if (!route) throw new Refusal('channel_not_available', String(channel));
  const amountCents = parseAmount(body.amount)!;
  if (amountCents % route.amountStepCents !== 0) throw new Refusal('invalid_amount');
  return createCollection(database, {
    merchantId: caller.merchantId,
    appCode,
    payfrom: String(body.payfrom),
    amountCents,
    refNo: String(body.ref_no),
    accountNumber: String(body.account_number),
    callbackUrl,
    channel,
    gateway: route.gateway,
    rate: rateOf(caller, config.commissionDefaults),
    deadlineMs: config.collectionDeadlineMs,
  });
}

function commonFilter(query: Record<string, unknown>) {
  return { ...daysIn(query), refNo: query.ref_no as string | undefined };
}

/** The days of a checked query. @throws Refusal when they are the wrong way round */
export function daysIn(query: Record<string, unknown>) {
  const dateFrom = query.date_from as string | undefined;
  const dateTo = query.date_to as string | undefined;
  if (dateFrom && dateTo && dateFrom > dateTo) throw new Refusal('invalid_query', 'date_from');
  return { dateFrom, dateTo };
}

/** A phone of a checked query, with the plus that an address may have turned into a space. */
export function phoneIn({ phone }: Record<string, unknown>): string | undefined {
  return phone === undefined ? undefined : `+${String(phone).replace(/^[+ ]/, '')}`;
}
