import { createHmac } from 'node:crypto';

export interface Signable {
  eventId: string;
  /** Per merchant, counting up by one: a gap means that an event has not arrived yet. */
  sequence: number;
  /** Unix time in seconds at which this attempt is sent. */
  timestamp: number;
  body: string;
  secret: string;
}

/**
 * The headers by which a receiver knows that a webhook is ours. Two conventions over the
 * same secret: `X-Service-*`, and those of Standard Webhooks, for which the secret is
 * written as `whsec_` and the base64 of its bytes.
 */
export function signatureHeaders(message: Signable): Record<string, string> {
  const { eventId, sequence, timestamp, body, secret } = message;
  return {
    'x-service-timestamp': String(timestamp),
    'x-service-signature': hmac(secret, `${timestamp}.${body}`).toString('hex'),
    'x-service-event-sequence': String(sequence),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${hmac(secret, `${eventId}.${timestamp}.${body}`).toString('base64')}`,
  };
}

function hmac(secret: string, material: string): Buffer {
  return createHmac('sha256', secret).update(material).digest();
}
