import { Router } from 'express';
import { channelOfPhone } from '../../domain/channels/channel.ts';
import { createCollection } from '../../domain/collections/create-collection.ts';
import { Refusal } from '../../domain/errors.ts';
import { rateOf } from '../../domain/identity/authenticate.ts';
import { chooseApp } from '../../domain/identity/choose-app.ts';
import { addLogContext } from '../../process/logger.ts';
import { callbackUrlIn } from '../callback-url.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { collectionDetail, collectionRecord, listedCollection } from '../presenters/collection.ts';
import { carriedBy } from './carried-by.ts';
import { deprecatedListReader, detailReader, listReader } from './payment-reads.ts';

export function collectionRoutes(context: ApiContext): Router {
  const router = Router();

  mount(router, context, endpoints.initiateCollection, async (call) => {
    const collection = await initiate(context, call);
    addLogContext({ payment_id: collection.id });
    return { body: collectionRecord(collection) };
  });

  const list = endpoints.listCollections;
  mount(router, context, list, listReader(context, 'collection', list, collectionDetail));

  const detail = detailReader(context, 'collection', 'checkout_id', collectionDetail);
  mount(router, context, endpoints.getCollection, detail);

  const old = endpoints.listCollectionsDeprecated;
  mount(router, context, old, deprecatedListReader(context, 'collection', old, listedCollection));

  return router;
}

async function initiate(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall,
) {
  const channel = channelOfPhone(String(body.payfrom));
  if (channel === null) throw new Refusal('invalid_phone_number');
  const callbackUrl = callbackUrlIn(config, body);
  const appCode = await chooseApp(
    database,
    caller,
    'collections',
    body.app_code as number | undefined,
  );
  return createCollection(database, {
    ...carriedBy(channels, channel, body.amount),
    merchant_id: caller.merchant_id,
    app_code: appCode,
    payfrom: String(body.payfrom),
    ref_no: String(body.ref_no),
    account_number: String(body.account_number),
    callback_url: callbackUrl,
    rate: rateOf(caller.ownCommission, config.commissionDefaults),
    deadline_ms: config.collectionDeadlineMs,
  });
}
