import { creatorOf } from '../../domain/access/asker.ts';
import { rateOf } from '../../domain/access/caller.ts';
import { appOfToken, chooseApp, namedApp } from '../../domain/access/choose-app.ts';
import { isPortAllowed } from '../../domain/address.ts';
import { type ChannelRoute, channelOfPhone } from '../../domain/channels/channel.ts';
import { createCollection } from '../../domain/collections/create-collection.ts';
import { Refusal } from '../../domain/errors.ts';
import type { KeyToKeep } from '../../domain/idempotency.ts';
import { parseAmount } from '../../domain/money.ts';
import { listPayments } from '../../domain/payments/list-payments.ts';
import { findPayment, type MerchantPayment } from '../../domain/payments/payment-store.ts';
import { channelOfPayout, createPayout } from '../../domain/payouts/create-payout.ts';
import {
  awaitAcceptance,
  createReversal,
  findReversal,
} from '../../domain/reversals/create-reversal.ts';
import type { Config } from '../../process/config.ts';
import {
  collection,
  collectionDetail,
  listedCollection,
  listedPayout,
  payout,
  payoutDetail,
  reversal,
} from '../../records/payments.ts';
import { REVERSAL_REF_NO, UUID } from '../../records/schema.ts';
import { type ApiContext, BASE_PATH } from '../context.ts';
import { type Endpoint, endpoints, type Fields } from '../endpoints/endpoints.ts';
import {
  envelopeOf,
  type ListQuery,
  type PaymentQuery,
  pageRequestOf,
  paymentFilterIn,
} from '../lists.ts';
import { type Answer, type AuthenticatedCall, mount } from '../middleware/mount.ts';
import { mountAcceptance } from '../middleware/mount-acceptance.ts';
import {
  type AwaitedOperation,
  createWaitingRoom,
  mountAwaited,
} from '../middleware/mount-awaited.ts';
import { refuseOtherMethods } from '../middleware/requests.ts';
import {
  DEFAULT_NARRATION,
  type newCollection,
  type newPayout,
  type newReversal,
} from '../schemas/bodies.ts';
import type { InputOf } from '../schemas/validator.ts';

/**
 * Returns the callback URL of a valid body.
 * @throws Refusal when it must be https and is not, or when its port is not among WEBHOOK_PORTS
 */
export function callbackUrlIn(
  { requireHttps, webhookPorts }: Config,
  { callback_url }: { callback_url: string },
): string {
  const url = new URL(callback_url);
  const isPlain = requireHttps && url.protocol !== 'https:';
  if (isPlain || !isPortAllowed(url, webhookPorts)) {
    throw new Refusal('invalid_field', 'callback_url');
  }
  return callback_url;
}

/**
 * Finds the gateway that carries a valid amount over a channel.
 * @throws Refusal `channel_not_available` when the channel has no driver for this kind, and
 * `amount_not_whole`, `amount_below_channel`, `amount_above_channel` by the channel's rules
 */
export function gatewayFor(
  channels: ReadonlyMap<number, ChannelRoute>,
  kind: 'collection' | 'payout',
  channel: number,
  amount: string,
): { channel: number; gateway: string; amount_cents: number } {
  const route = channels.get(channel)?.[kind];
  if (!route) throw new Refusal('channel_not_available', String(channel));
  const amount_cents = parseAmount(amount)!;
  const { minCents, maxCents, stepCents } = route.amounts;
  if (amount_cents < minCents) throw new Refusal('amount_below_channel');
  if (amount_cents > maxCents) throw new Refusal('amount_above_channel');
  if (amount_cents % stepCents !== 0) throw new Refusal('amount_not_whole');
  return { channel, gateway: route.gateway, amount_cents };
}

type Kind = MerchantPayment['kind'];
type PaymentOf<K extends Kind> = Extract<MerchantPayment, { kind: K }>;
type Present<K extends Kind> = (payment: PaymentOf<K>) => object;

/** Serves a list of payments, newest first. The headers of a deprecated list name its successor. */
function mountList<K extends Kind, Query extends ListQuery & PaymentQuery>(
  context: ApiContext,
  endpoint: Endpoint<Fields, Query>,
  kind: K,
  present: Present<K>,
): void {
  const { database, config } = context;
  const successor = `${config.publicUrl}${BASE_PATH}${endpoints.listTransactions.path}`;
  const headers: Record<string, string> = endpoint.deprecated
    ? { Deprecation: 'true', Link: `<${successor}>; rel="successor-version"` }
    : {};
  mount(context, endpoint, async ({ caller: { merchant_id }, query }) => {
    const filter = paymentFilterIn(query, endpoint.deprecated ?? false);
    const page = await listPayments(database, kind, merchant_id, filter, pageRequestOf(query));
    return { headers, body: envelopeOf(config, endpoint, query, page, present) };
  });
}

/** Serves one payment by its id, the only parameter of the path. */
function mountDetail<K extends Kind>(
  context: ApiContext,
  endpoint: Endpoint,
  kind: K,
  present: Present<K>,
): void {
  mount(context, endpoint, async (call) => {
    const { caller, params } = call;
    const [id = ''] = Object.values(params);
    const ref = { kind, merchant_id: caller.merchant_id, id };
    const payment = UUID.test(id) ? await findPayment(context.database, ref) : undefined;
    if (!payment) throw new Refusal('transaction_not_found');
    return answerDetail(context, call, payment as PaymentOf<K>, present);
  });
}

/** Answers with one payment. The merchant's users with the role Admin also see who asked for it. */
async function answerDetail<Payment extends MerchantPayment>(
  { database }: ApiContext,
  { caller }: AuthenticatedCall,
  payment: Payment,
  present: (payment: Payment) => object,
): Promise<Answer> {
  const created_by = caller.role === 'Admin' ? await creatorOf(database, payment) : null;
  if (created_by === null) return answerWith(payment, present);
  return answerWith(payment, () => ({ ...present(payment), created_by }));
}

/** Answers with a payment, whose id then is in the log lines of the request. */
function answerWith<Payment extends { id: string }>(
  payment: Payment,
  present: (payment: Payment) => unknown,
): Answer {
  return { body: present(payment), paymentId: payment.id };
}

export function addCollectionRoutes(context: ApiContext): void {
  mountAcceptance(context, endpoints.initiateCollection, {
    accept: (call, key) => initiateCollection(context, call, key),
    present: collection.present,
  });
  mountList(context, endpoints.listCollections, 'collection', collectionDetail.present);
  // Before the detail, whose path matches this one too.
  refuseOtherMethods(context.router, [endpoints.initiateCollection]);
  mountDetail(context, endpoints.getCollection, 'collection', collectionDetail.present);
  mountList(context, endpoints.listCollectionsDeprecated, 'collection', listedCollection.present);
}

async function initiateCollection(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall<InputOf<typeof newCollection>>,
  key: KeyToKeep | null,
) {
  const payfrom = body.payfrom;
  const channel = channelOfPhone(payfrom);
  if (channel === null) throw new Refusal('invalid_phone_number', 'payfrom');
  const callback_url = callbackUrlIn(config, body);
  const app_code = await chooseApp(database, caller, 'collections', body.app_code);
  const request = {
    ...gatewayFor(channels, 'collection', channel, body.amount),
    ...caller.asker,
    merchant_id: caller.merchant_id,
    app_code,
    payfrom,
    ref_no: body.ref_no,
    account_number: body.account_number,
    callback_url,
    rate: rateOf(caller.ownCommission, config.commissionDefaults),
    deadline_ms: config.collectionDeadlineMs,
  };
  return createCollection(database, request, key);
}

export function addPayoutRoutes(context: ApiContext): void {
  mountAcceptance(context, endpoints.initiatePayout, {
    accept: (call, key) => initiatePayout(context, call, key),
    present: payout.present,
  });
  mountList(context, endpoints.listPayouts, 'payout', payoutDetail.present);
  mountList(context, endpoints.listPayoutsDeprecated, 'payout', listedPayout.present);
  // Before the detail, whose path matches these two too.
  refuseOtherMethods(context.router, [endpoints.initiatePayout, endpoints.listPayoutsDeprecated]);
  mountDetail(context, endpoints.getPayout, 'payout', payoutDetail.present);
}

async function initiatePayout(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall<InputOf<typeof newPayout>>,
  key: KeyToKeep | null,
) {
  const callback_url = callbackUrlIn(config, body);
  const payto = body.payto;
  const channel = channelOfPayout(payto, body.channel);
  const app_code = await namedApp(database, caller, 'payouts', body.app_code);
  const request = {
    ...gatewayFor(channels, 'payout', channel.code, body.amount),
    ...caller.asker,
    merchant_id: caller.merchant_id,
    app_code,
    payto,
    ref_no: body.ref_no,
    category: body.category ?? 'other',
    narration: body.narration || DEFAULT_NARRATION,
    callback_url,
    rate: rateOf(caller.ownPayoutFee, config.payoutFeeDefaults),
    deadline_ms: config.payoutDeadlinesMs[channel.type],
  };
  return createPayout(database, request, key);
}

/** Requests of one process that may wait for the gateway at the same time. */
const MAX_WAITING = 100;
/** A quarter: in an outage of the gateway one merchant leaves three quarters to the others. */
export const MAX_WAITING_OF_MERCHANT = 25;

export function addReversalRoutes(context: ApiContext): void {
  const { http } = context.meters;
  const room = createWaitingRoom(
    { places: MAX_WAITING, placesOfMerchant: MAX_WAITING_OF_MERCHANT },
    { waiters: http.reversalWaiters, refused: http.reversalWaitersRefused },
  );
  mountAwaited(context, endpoints.initiateReversal, room, initiation(context));
  mountList(context, endpoints.listReversals, 'reversal', reversal.present);
  mount(context, endpoints.getReversal, async (call) => {
    const found = await find(context, call, call.params.ref_no ?? '');
    return answerDetail(context, call, found, reversal.present);
  });
}

function initiation(context: ApiContext): AwaitedOperation<InputOf<typeof newReversal>> {
  const { config, database } = context;
  return {
    record: async ({ database: target, caller, body }, takePlace) => {
      const request = {
        ...caller.asker,
        merchant_id: caller.merchant_id,
        // Null for a person: the reversal is booked on the collection's own app.
        app_code: appOfToken(caller, body.app_code),
        named_app: body.app_code ?? null,
        checkout_ref_no: body.checkout_ref_no,
        amount_cents: body.amount === undefined ? null : parseAmount(body.amount),
        ref_no: body.ref_no,
        reason: body.reason || null,
        callback_url: callbackUrlIn(config, body),
      };
      return answerWith(await createReversal(target, request, takePlace), reversal.present);
    },
    settle: async ({ caller: { merchant_id }, body }, signal) => {
      const name = { merchant_id, ref_no: body.ref_no };
      const accepted = await awaitAcceptance(database, name, config.reversalWaitMs, signal);
      if (!accepted) throw new Refusal('gateway_unreachable');
      return { body: reversal.present(accepted) };
    },
    current: async (call) =>
      answerWith(await find(context, call, call.body.ref_no), reversal.present),
  };
}

async function find({ database }: ApiContext, { caller }: AuthenticatedCall, ref_no: string) {
  const reversal = REVERSAL_REF_NO.test(ref_no)
    ? await findReversal(database, { merchant_id: caller.merchant_id, ref_no })
    : undefined;
  if (!reversal) throw new Refusal('transaction_not_found');
  return reversal;
}
