import { channelOfPhone } from '../../domain/channels/channel.ts';
import { createCollection } from '../../domain/collections/create-collection.ts';
import { Refusal } from '../../domain/errors.ts';
import { rateOf } from '../../domain/identity/authenticate.ts';
import { chooseApp } from '../../domain/identity/choose-app.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
import { type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { collectionDetail, collectionRecord, listedCollection } from '../presenters.ts';
import { callbackUrlIn, gatewayFor } from './payment-initiation.ts';
import { answerWith, mountDetail, mountList } from './payment-reads.ts';

export function addCollectionRoutes(context: ApiContext): void {
  mount(context, endpoints.initiateCollection, async (call) =>
    answerWith(await initiate(context, call), collectionRecord),
  );
  mountList(context, endpoints.listCollections, 'collection', collectionDetail);
  // Before the detail, whose path matches this one too.
  refuseOtherMethods(context.router, [endpoints.initiateCollection]);
  mountDetail(context, endpoints.getCollection, 'collection', collectionDetail);
  mountList(context, endpoints.listCollectionsDeprecated, 'collection', listedCollection);
}

async function initiate(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall,
) {
  const payfrom = String(body.payfrom);
  const channel = channelOfPhone(payfrom);
  if (channel === null) throw new Refusal('invalid_phone_number', 'payfrom');
  const callback_url = callbackUrlIn(config, body);
  const named = body.app_code as number | undefined;
  const app_code = await chooseApp(database, caller, 'collections', named);
  return createCollection(database, {
    ...gatewayFor(channels, 'collection', channel, body.amount),
    ...caller.asker,
    merchant_id: caller.merchant_id,
    app_code,
    payfrom,
    ref_no: String(body.ref_no),
    account_number: String(body.account_number),
    callback_url,
    rate: rateOf(caller.ownCommission, config.commissionDefaults),
    deadline_ms: config.collectionDeadlineMs,
  });
}
