import { setTimeout as sleep } from 'node:timers/promises';
import { collectionBody, payoutBody, request } from './api-client.ts';
import { type Order, originalOf } from './chaos-mix.ts';
import type { TestMerchant } from './test-merchant.ts';

const RETRY_DELAY_MS = 300;
const GIVE_UP_MS = 60_000;

export interface Shop {
  baseUrl: string;
  merchant: TestMerchant;
  callbackUrl: string;
}

/**
 * Sends an order as a careful merchant does: whatever is not answered, or answered with a
 * 503, is sent again with the same idempotency key.
 */
export async function sendOrder(shop: Shop, order: Order): Promise<void> {
  if (order.kind !== 'reversal') {
    await sendPayment(shop, order);
    return;
  }
  const original = originalOf(order);
  const id = await sendPayment(shop, { ...order, kind: 'collection', refNo: original });
  await waitForCompletion(shop, id);
  await initiate(shop, '/reversals/initiate', {
    checkout_ref_no: original,
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
  const headers = { 'idempotency-key': String(body.ref_no) };
  const answer = await persist(() =>
    request('POST', `${shop.baseUrl}${path}`, { access: shop.merchant.access, body, headers }),
  );
  // A reversal that the gateway does not answer to in time is accepted all the same.
  if (answer.status !== 200 && answer.status !== 502) {
    throw new Error(`${path} ${body.ref_no}: ${answer.status} ${JSON.stringify(answer.body)}`);
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
    await sleep(RETRY_DELAY_MS);
  }
}

/** Until there is an answer that says something. */
async function persist(ask: () => ReturnType<typeof request>): ReturnType<typeof request> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const answer = await ask().catch((error: Error) => error);
    const isAway = answer instanceof Error || answer.status === 503;
    if (!isAway) return answer;
    if (Date.now() > deadline) throw new Error(`No answer: ${JSON.stringify(answer)}`);
    await sleep(RETRY_DELAY_MS);
  }
}
