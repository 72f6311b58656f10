import { createHmac, timingSafeEqual } from 'node:crypto';
import type { webhooks } from './generated/schema.ts';

/** Headers as Node, a framework or `fetch` has them. Names may be in any case. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

interface Delivery {
  /** Of the event, the same at every attempt. Keep it, and take each event once. */
  id: string;
  /** Of two events of one payment the one with the higher number is true. It is not signed. */
  sequence: number;
}

/** A webhook of the API's document whose body has this type, event and data. */
interface Documented<Type, Event, Data> {
  post: {
    requestBody: {
      content: {
        'application/json': { notification: { type: Type; event: Event }; data: Data };
      };
    };
  };
}

/**
 * The event that a webhook reports. `type` tells which fields `data` has. New types may come. That
 * of type `test` is no payment, although its `result_code` is 0.
 */
export type WebhookEvent = {
  [Name in keyof webhooks]: webhooks[Name] extends Documented<infer Type, infer Event, infer Data>
    ? Delivery & { type: Type; event: Event; data: Data }
    : never;
}[keyof webhooks];

/** A webhook is not authentic, too old, or no JSON. Answer 401 and do nothing. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** An older webhook may be a copy that somebody has recorded. */
export const TOLERANCE_S = 300;

/**
 * Verifies a webhook and returns its event. Both signatures are checked, in constant time:
 * `webhook-signature`, which covers the event's id, and `X-Service-Signature`. While secrets
 * overlap the latter is by the oldest one, so then the former is enough.
 * @param rawBody what was received, before any parsing
 * @param secrets the app secret or the webhook secret, as it was given to you; several while you
 *   replace one
 * @throws WebhookVerificationError when it is not authentic or cannot be read, and TypeError without a secret
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): WebhookEvent {
  const read = readerOf(headers);
  const id = read('webhook-id');
  const timestamp = read('x-service-timestamp');
  const standard = read('webhook-signature').split(' ');
  const own = read('x-service-signature');
  const keys = keysOf([secrets].flat());
  requireRecent(timestamp);
  if (read('webhook-timestamp') !== timestamp) throw refused('has two times');
  const isStandard = keys.some(({ standardKey }) => {
    const expected = hmac(standardKey, `${id}.${timestamp}.`, rawBody).toString('base64');
    return standard.some((signature) => isSame(signature, `v1,${expected}`));
  });
  const isOwn = keys.some(({ ownKey }) =>
    isSame(own, hmac(ownKey, `${timestamp}.`, rawBody).toString('hex')),
  );
  const overlap = standard.length > 1;
  if (!isStandard || !(isOwn || overlap)) throw refused('is signed with another secret');
  return { ...eventOf(rawBody), id, sequence: Number(read('x-service-event-sequence')) };
}

function eventOf(rawBody: string | Uint8Array) {
  try {
    const { notification, data } = JSON.parse(Buffer.from(rawBody).toString());
    return { ...notification, data };
  } catch {
    throw refused('is no JSON object');
  }
}

function readerOf(headers: WebhookHeaders): (name: string) => string {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const byName = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = byName.get(name);
    if (typeof value !== 'string' || value === '') throw refused(`lacks the header ${name}`);
    return value;
  };
}

function requireRecent(timestamp: string): void {
  const ageS = Math.abs(Date.now() / 1_000 - Number(timestamp));
  if (!(ageS <= TOLERANCE_S)) throw refused(`is more than ${TOLERANCE_S} seconds from now`);
}

/** Marks a secret of Standard Webhooks, whose key is the base64 behind it. */
const STANDARD_PREFIX = 'whsec_';

/** Anybody can sign with an empty key. */
function keysOf(secrets: readonly string[]): { ownKey: Buffer; standardKey: Buffer }[] {
  const keys = secrets.map((secret) => ({
    ownKey: Buffer.from(secret),
    standardKey: secret.startsWith(STANDARD_PREFIX)
      ? Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
      : Buffer.from(secret),
  }));
  if (keys.length === 0 || keys.some(({ standardKey }) => standardKey.length === 0)) {
    throw new TypeError('A webhook is verified with a secret that is not empty');
  }
  return keys;
}

function hmac(key: Buffer, start: string, rawBody: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(start).update(rawBody).digest();
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refused(reason: string): WebhookVerificationError {
  return new WebhookVerificationError(`The webhook ${reason}`);
}
