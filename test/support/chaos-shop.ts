import { setTimeout as sleep } from 'node:timers/promises';
import { collectionBody, payoutBody, request } from './api-client.ts';
import { type Order, originalOf } from './chaos-mix.ts';
import type { TestMerchant } from './test-merchant.ts';

/** Into what part of the whole time the collections that are to be reversed are pressed. */
const ORIGINALS_PART = 1 / 8;
const RETRY_DELAY_MS = 300;
const LOOK_INTERVAL_MS = 1_000;
const GIVE_UP_MS = 240_000;

export interface Shop {
  baseUrl: string;
  merchant: TestMerchant;
  callbackUrl: string;
  /** Told of the first try of every initiation, when it is sent. */
  onFirstTry?: (first: Promise<FirstAnswer>) => void;
}

/** What came of the first try to initiate a payment. */
export interface FirstAnswer {
  refNo: string;
  path: string;
  /** When it was sent, in ms since 1970. */
  sentAt: number;
  /** When the answer came, in ms since 1970. */
  answeredAt: number;
  /** The HTTP status, or why there was none. */
  answer: number | string;
}

/**
 * Sends orders evenly over `spreadMs`, each as a careful merchant does: whatever is not
 * answered, or answered with a 503, is sent again with the same idempotency key. What a
 * reversal gives back is collected early on, so that only the reversal itself is left then.
 */
export async function sendOrders(
  shop: Shop,
  orders: readonly Order[],
  spreadMs: number,
): Promise<void> {
  await Promise.all(
    orders.map(async (order, index) => {
      const waitMs = (spreadMs * index) / orders.length;
      const due = sleep(waitMs);
      if (order.kind === 'reversal') {
        await sleep(waitMs * ORIGINALS_PART);
        await collectOriginal(shop, order);
      }
      await due;
      await (order.kind === 'reversal' ? sendReversal(shop, order) : sendPayment(shop, order));
    }),
  );
}

/** Sends one order now; of a reversal, its collection first. */
export async function sendOrder(shop: Shop, order: Order): Promise<void> {
  if (order.kind !== 'reversal') {
    await sendPayment(shop, order);
    return;
  }
  await collectOriginal(shop, order);
  await sendReversal(shop, order);
}

/** What a reversal is to give back: collected, once however often this is called. */
export async function collectOriginal(shop: Shop, order: Order): Promise<void> {
  const id = await sendPayment(shop, { ...order, kind: 'collection', refNo: originalOf(order) });
  await waitForCompletion(shop, id);
}

async function sendReversal(shop: Shop, order: Order): Promise<void> {
  await initiate(shop, '/reversals/initiate', {
    checkout_ref_no: originalOf(order),
    ref_no: order.refNo,
    callback_url: shop.callbackUrl,
  });
}

async function sendPayment(shop: Shop, { kind, refNo, account }: Order): Promise<string> {
  const common = { ref_no: refNo, callback_url: shop.callbackUrl };
  const { id } =
    kind === 'collection'
      ? await initiate(
          shop,
          '/collections/checkouts/initiate',
          collectionBody({ ...common, payfrom: account }),
        )
      : await initiate(
          shop,
          '/payouts/initiate',
          payoutBody(shop.merchant, { ...common, payto: account }),
        );
  return id;
}

async function initiate(shop: Shop, path: string, body: Record<string, unknown>) {
  const refNo = String(body.ref_no);
  const headers = { 'idempotency-key': refNo };
  const sentAt = Date.now();
  const answer = await persist(
    () =>
      request('POST', `${shop.baseUrl}${path}`, { access: shop.merchant.access, body, headers }),
    (first) =>
      shop.onFirstTry?.(
        first.then((answer) => ({ refNo, path, sentAt, answeredAt: Date.now(), answer })),
      ),
  );
  // A reversal that the gateway does not answer to in time is accepted all the same.
  if (answer.status !== 200 && answer.status !== 502) {
    throw new Error(`${path} ${refNo}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}

async function waitForCompletion(shop: Shop, id: string): Promise<void> {
  const url = `${shop.baseUrl}/collections/checkouts/${id}`;
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const { body } = await persist(() => request('GET', url, { access: shop.merchant.access }));
    if (body.status === 'completed') return;
    if (Date.now() > deadline) throw new Error(`Collection ${id} stayed ${body.status}`);
    await sleep(LOOK_INTERVAL_MS);
  }
}

/** Until there is an answer that says something. */
async function persist(
  ask: () => ReturnType<typeof request>,
  onFirst: (answer: Promise<number | string>) => void = () => {},
): ReturnType<typeof request> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (let tries = 1; ; tries += 1) {
    const asked = ask().catch((error: Error) => error);
    if (tries === 1) {
      onFirst(asked.then((first) => (first instanceof Error ? first.message : first.status)));
    }
    const answer = await asked;
    const isAway = answer instanceof Error || answer.status === 503;
    if (!isAway) return answer;
    if (Date.now() > deadline) throw new Error(`No answer: ${JSON.stringify(answer)}`);
    await sleep(RETRY_DELAY_MS);
  }
}
