import type { IncomingMessage, ServerResponse } from 'node:http';
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from './verify-webhook.ts';

export interface ReceiverOptions {
  /** The app secret or the webhook secret, as it was given to you; several while you replace one. */
  secrets: string | readonly string[];
  /**
   * Acts on a webhook that is authentic, before it is acknowledged. If this throws, the answer is 500, and
   * the webhook comes again. It may come again anyway: act on each `id` once.
   */
  onEvent(event: WebhookEvent): unknown;
  /** Gets what went wrong on your side. Default: `console.error`. */
  onError?(error: unknown): void;
}

/** A request of Node, with the body that Express may have read. */
type Incoming = IncomingMessage & { body?: unknown };

/** More than any webhook has. */
const MAX_BODY_BYTES = 65_536;

/**
 * Returns a handler for webhooks, for a route of Express or a server of Node. It verifies each one, and
 * answers 401 to what is not authentic, or too large. In Express no parser may have read the body before,
 * but `express.raw()`: the signature is about its bytes.
 */
export function webhookReceiver({
  secrets,
  onEvent,
  onError = console.error,
}: ReceiverOptions): (request: Incoming, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    try {
      const event = verifyWebhook(await rawBodyOf(request), request.headers, secrets);
      await onEvent(event);
      response.writeHead(200).end();
    } catch (error) {
      const isForeign = error instanceof WebhookVerificationError;
      if (!isForeign) onError(error);
      response.writeHead(isForeign ? 401 : 500).end();
    }
  };
}

async function rawBodyOf(request: Incoming): Promise<Uint8Array> {
  if (request.body instanceof Uint8Array) return request.body;
  if (request.body !== undefined) {
    throw new TypeError('A parser has read the body: put the receiver before express.json()');
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new WebhookVerificationError('The webhook is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
