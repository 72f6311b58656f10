import { createHmac } from 'node:crypto';

export interface Signable {
  event_id: string;
  /** Counts up by one per merchant. A gap means that an event has not arrived yet. */
  sequence: number;
  /** The Unix time of this attempt, in seconds. */
  timestamp: number;
  body: string;
  secret: string;
}

/**
 * Makes the headers that prove to a receiver that a webhook is ours. It signs with one secret
 * for two conventions: `X-Service-*`, and Standard Webhooks, which writes the secret as `whsec_`
 * and the base64 of its bytes.
 */
export function signatureHeaders({ event_id, sequence, timestamp, body, secret }: Signable) {
  return {
    'x-service-timestamp': String(timestamp),
    'x-service-signature': hmac(secret, `${timestamp}.${body}`).toString('hex'),
    'x-service-event-sequence': String(sequence),
    'webhook-id': event_id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${hmac(secret, `${event_id}.${timestamp}.${body}`).toString('base64')}`,
  };
}

function hmac(secret: string, material: string): Buffer {
  return createHmac('sha256', secret).update(material).digest();
}
