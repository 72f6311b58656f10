import { createHmac } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Database, rows } from '../../connections/database.ts';
import type { KeyRing, Sealed } from '../../process/key-ring.ts';
import { SECOND_MS } from '../../time.ts';
import { Refusal } from '../errors.ts';
import {
  type AppRef,
  openSecret,
  type SecretKind,
  signingSecretsOf,
} from '../merchants/app-secrets.ts';
import { formatAmount } from '../money.ts';

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

/** A webhook that is ready to be sent. */
export interface ExampleWebhook {
  id: string;
  body: string;
  headers: Record<string, string>;
}

/** No event has this number: the example stands in no order. */
const EXAMPLE_SEQUENCE = 0;

/**
 * Makes a webhook about no payment, signed as an app's webhooks, so that a merchant can try a receiver.
 * Its values are made up, and nothing is recorded.
 * @throws Refusal `signing_secret_missing` when the app has no valid secret
 */
export async function exampleWebhook(
  database: Database,
  secretsKeys: KeyRing,
  app: AppRef,
): Promise<ExampleWebhook> {
  const sealed = await rows<Sealed & { kind: SecretKind }>(
    database,
    `SELECT a.signs_webhooks_with AS kind, s."keyId", s.ciphertext
     FROM apps a CROSS JOIN LATERAL (${signingSecretsOf('a')}) s
     WHERE a.merchant_id = :merchant_id AND a.code = :app_code
     ORDER BY s.created_at, s.id`,
    app,
  );
  if (sealed.length === 0) throw new Refusal('signing_secret_missing');
  const secrets = sealed.map((secret) => openSecret(secretsKeys, secret.kind, secret, app));
  const now = new Date();
  const id = uuidv7();
  const body = JSON.stringify(exampleBody(now));
  const timestamp = Math.floor(now.getTime() / SECOND_MS);
  const signable = { event_id: id, sequence: EXAMPLE_SEQUENCE, timestamp, body, secrets };
  return { id, body, headers: signatureHeaders(signable) };
}

/** The fields of a collection's webhook. */
function exampleBody(now: Date) {
  return {
    notification: { type: 'test', event: 'webhook.test' },
    data: {
      id: '00000000-0000-0000-0000-000000000000',
      result_code: 0,
      result_description: 'This is a test. There is no payment.',
      amount: formatAmount(100),
      ref_no: 'TEST-ONLY',
      beneficiary: { account: '+254700000000', kyc: null },
      transaction_date: now.toISOString(),
      external_ref: 'TEST-ONLY',
      trans_id: 'TEST-ONLY',
    },
  };
}
