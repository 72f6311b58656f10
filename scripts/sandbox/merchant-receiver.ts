import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Refuses older webhooks, which somebody may have recorded and replayed. */
const TOLERANCE_S = 300;

export interface ReceivedWebhook {
  webhookId: string;
  verified: boolean;
  payload: {
    notification: { type: string; event: string };
    data: { ref_no: string; result_code: number; result_description: string; amount: string };
  };
}

export interface MerchantReceiver {
  url: string;
  /** Resolves with the webhook of this reference, also when it has come already. */
  webhookFor(refNo: string): Promise<ReceivedWebhook>;
  close(): Promise<void>;
}

/** Starts the smallest receiver that a merchant needs: it verifies the signature and answers 200. */
export async function startMerchantReceiver(appSecret: string): Promise<MerchantReceiver> {
  const received = new Map<string, ReceivedWebhook>();
  const waiting = new Map<string, (webhook: ReceivedWebhook) => void>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const payload = JSON.parse(body) as ReceivedWebhook['payload'];
    const webhook = {
      webhookId: String(request.headers['webhook-id']),
      verified: isAuthentic(request, body, appSecret),
      payload,
    };
    response.end('ok');
    received.set(payload.data.ref_no, webhook);
    waiting.get(payload.data.ref_no)?.(webhook);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    webhookFor: (refNo) =>
      new Promise((resolve) => {
        const early = received.get(refNo);
        if (early) resolve(early);
        else waiting.set(refNo, resolve);
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Checks the signature over timestamp and raw body, and the timestamp's age, as a merchant should. */
function isAuthentic(request: IncomingMessage, body: string, appSecret: string): boolean {
  const timestamp = String(request.headers['x-service-timestamp'] ?? '');
  const signature = Buffer.from(String(request.headers['x-service-signature'] ?? ''), 'hex');
  const expected = createHmac('sha256', appSecret).update(`${timestamp}.${body}`).digest();
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_S;
  return signature.length === expected.length && timingSafeEqual(signature, expected) && isRecent;
}
