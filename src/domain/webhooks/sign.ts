import { createHmac } from 'node:crypto';

export interface Signable {
  event_id: string;
  /** Counts up by one per merchant. A gap means that an event has not arrived yet. */
  sequence: number;
  /** The Unix time of this attempt, in seconds. */
  timestamp: number;
  body: string;
  /** The secrets that the receiver may know, oldest first. More than one in an overlap. */
  secrets: string[];
}

/** Marks a secret of Standard Webhooks, whose key is the base64 behind it. */
const STANDARD_PREFIX = 'whsec_';

/**
 * Makes the headers that prove to a receiver that a webhook is ours. `X-Service-Signature` can hold
 * one signature only: it stays with the oldest secret until that ends. The `webhook-signature` of
 * Standard Webhooks has one for each secret.
 */
export function signatureHeaders({ event_id, sequence, timestamp, body, secrets }: Signable) {
  const oldest = Buffer.from(secrets[0]!);
  const standard = secrets.map((secret) =>
    hmac(standardKey(secret), `${event_id}.${timestamp}.${body}`).toString('base64'),
  );
  return {
    'x-service-timestamp': String(timestamp),
    'x-service-signature': hmac(oldest, `${timestamp}.${body}`).toString('hex'),
    'x-service-event-sequence': String(sequence),
    'webhook-id': event_id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.map((signature) => `v1,${signature}`).join(' '),
  };
}

/** Returns the bytes that the published libraries sign with. They take an app secret as its text. */
function standardKey(secret: string): Buffer {
  return secret.startsWith(STANDARD_PREFIX)
    ? Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
    : Buffer.from(secret);
}

function hmac(key: Buffer, material: string): Buffer {
  return createHmac('sha256', key).update(material).digest();
}
