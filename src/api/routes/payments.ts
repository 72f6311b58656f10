import { creatorOf } from '../../domain/access/asker.ts';
import { rateOf } from '../../domain/access/caller.ts';
import { chooseApp, namedApp } from '../../domain/access/choose-app.ts';
import { isPortAllowed } from '../../domain/callback-url.ts';
import { type ChannelRoute, channelOfPhone } from '../../domain/channels/channel.ts';
import { createCollection } from '../../domain/collections/create-collection.ts';
import { Refusal } from '../../domain/errors.ts';
import { parseAmount } from '../../domain/money.ts';
import type { PayoutCategory } from '../../domain/payments/kinds.ts';
import { listPayments } from '../../domain/payments/list-payments.ts';
import { findPayment, type MerchantPayment } from '../../domain/payments/payment-store.ts';
import { createPayout } from '../../domain/payouts/create-payout.ts';
import { channelOfPayout } from '../../domain/payouts/payout-channel.ts';
import { awaitAcceptance, findReversal } from '../../domain/reversals/await-acceptance.ts';
import { createReversal } from '../../domain/reversals/create-reversal.ts';
import type { Config } from '../../process/config.ts';
import { type ApiContext, BASE_PATH } from '../context.ts';
import { type Endpoint, endpoints } from '../endpoints/endpoints.ts';
import { paymentFilterIn } from '../filters.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';
import { type Answer, type AuthenticatedCall, mount } from '../middleware/mount.ts';
import {
  type AwaitedOperation,
  createWaitingRoom,
  mountAwaited,
} from '../middleware/mount-awaited.ts';
import { envelopeOf, pageRequestOf } from '../pagination.ts';
import {
  collectionDetail,
  collectionRecord,
  listedCollection,
  listedPayout,
  payoutDetail,
  payoutRecord,
  reversalRecord,
} from '../presenters.ts';
import { DEFAULT_NARRATION } from '../schemas/bodies.ts';
import { REVERSAL_REF_NO, UUID } from '../schemas/fields.ts';

/**
 * Returns the callback URL of a valid body.
 * @throws Refusal when it must be https and is not, or when its port is not among WEBHOOK_PORTS
 */
export function callbackUrlIn(
  { requireHttps, webhookPorts }: Config,
  body: Record<string, unknown>,
): string {
  const callbackUrl = String(body.callback_url);
  const url = new URL(callbackUrl);
  const isPlain = requireHttps && url.protocol !== 'https:';
  if (isPlain || !isPortAllowed(url, webhookPorts)) {
    throw new Refusal('invalid_field', 'callback_url');
  }
  return callbackUrl;
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
  amount: unknown,
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
function mountList<K extends Kind>(
  context: ApiContext,
  endpoint: Endpoint,
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

/** Answers with one payment by itself. The merchant's Administrators also see who asked for it. */
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
  mount(context, endpoints.initiateCollection, async (call) =>
    answerWith(await initiateCollection(context, call), collectionRecord),
  );
  mountList(context, endpoints.listCollections, 'collection', collectionDetail);
  // Before the detail, whose path matches this one too.
  refuseOtherMethods(context.router, [endpoints.initiateCollection]);
  mountDetail(context, endpoints.getCollection, 'collection', collectionDetail);
  mountList(context, endpoints.listCollectionsDeprecated, 'collection', listedCollection);
}

async function initiateCollection(
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

export function addPayoutRoutes(context: ApiContext): void {
  mount(context, endpoints.initiatePayout, async (call) =>
    answerWith(await initiatePayout(context, call), payoutRecord),
  );
  mountList(context, endpoints.listPayouts, 'payout', payoutDetail);
  mountList(context, endpoints.listPayoutsDeprecated, 'payout', listedPayout);
  // Before the detail, whose path matches these two too.
  refuseOtherMethods(context.router, [endpoints.initiatePayout, endpoints.listPayoutsDeprecated]);
  mountDetail(context, endpoints.getPayout, 'payout', payoutDetail);
}

async function initiatePayout(
  { config, channels }: ApiContext,
  { caller, body, database }: AuthenticatedCall,
) {
  const callback_url = callbackUrlIn(config, body);
  const payto = String(body.payto);
  const channel = channelOfPayout(payto, body.channel as number | undefined);
  const app_code = await namedApp(database, caller, 'payouts', body.app_code as number);
  return createPayout(database, {
    ...gatewayFor(channels, 'payout', channel.code, body.amount),
    ...caller.asker,
    merchant_id: caller.merchant_id,
    app_code,
    payto,
    ref_no: String(body.ref_no),
    category: (body.category ?? 'other') as PayoutCategory,
    narration: String(body.narration || DEFAULT_NARRATION),
    callback_url,
    rate: rateOf(caller.ownPayoutFee, config.payoutFeeDefaults),
    deadline_ms: config.payoutDeadlinesMs[channel.type],
  });
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
  mountList(context, endpoints.listReversals, 'reversal', reversalRecord);
  mount(context, endpoints.getReversal, async (call) => {
    const reversal = await find(context, call, call.params.ref_no ?? '');
    return answerDetail(context, call, reversal, reversalRecord);
  });
}

function initiation(context: ApiContext): AwaitedOperation {
  const { config, database } = context;
  return {
    record: async ({ database: target, caller, body }) => {
      const reversal = await createReversal(target, {
        ...caller.asker,
        merchant_id: caller.merchant_id,
        // Null for a person: the reversal is booked on the collection's own app.
        app_code: caller.app?.code ?? null,
        checkout_ref_no: String(body.checkout_ref_no),
        ref_no: String(body.ref_no),
        reason: body.reason ? String(body.reason) : null,
        callback_url: callbackUrlIn(config, body),
      });
      return answerWith(reversal, reversalRecord);
    },
    settle: async ({ caller: { merchant_id }, body }, signal) => {
      const name = { merchant_id, ref_no: String(body.ref_no) };
      const reversal = await awaitAcceptance(database, name, config.reversalWaitMs, signal);
      if (!reversal) throw new Refusal('gateway_unreachable');
      return { body: reversalRecord(reversal) };
    },
    current: async (call) =>
      answerWith(await find(context, call, String(call.body.ref_no)), reversalRecord),
  };
}

async function find({ database }: ApiContext, { caller }: AuthenticatedCall, ref_no: string) {
  const reversal = REVERSAL_REF_NO.test(ref_no)
    ? await findReversal(database, { merchant_id: caller.merchant_id, ref_no })
    : undefined;
  if (!reversal) throw new Refusal('transaction_not_found');
  return reversal;
}
