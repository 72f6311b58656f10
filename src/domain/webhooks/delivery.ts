import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { IS_READ_ONLY, requireWritable } from '../../connections/database-errors.ts';
import { changeStep, type StepChange } from '../../jobs/outbox.ts';
import type { Sealed } from '../../process/key-ring.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../time.ts';
import { type SecretKind, signingSecretsOf } from '../merchants/app-secrets.ts';
import { IS_SETTLED, noteAttempt } from './endpoint-store.ts';

/** The delays after each failed attempt. No attempt follows the last one. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  1 * HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
];

/** Each delay is lengthened by up to this share, so that retries of one moment spread out. */
export const RETRY_JITTER = 0.2;

/** The most of a receiver's `Retry-After` that counts: the ladder's longest delay. */
export const MAX_RETRY_AFTER_MS = Math.max(...RETRY_DELAYS_MS);

const STATUS_GONE = 410;

/** The delay of a webhook that waits until its app has a secret to sign with. */
const SECRET_WAIT_MS = 5 * MINUTE_MS;

/** Names a delivery and the step of its job. */
export interface DeliveryRef {
  merchant_id: number;
  event_id: string;
  step_no: number;
}

/** An event to deliver, as the worker needs it. */
export interface Delivery extends DeliveryRef {
  app_code: number;
  signs_webhooks_with: SecretKind;
  /** The valid secrets of the app, encrypted, oldest first. Two in an overlap. */
  secrets: Sealed[];
  payment_id: string;
  callback_url: string;
  endpoint: string;
  /** The endpoint works: a success says nothing new about it. */
  is_settled: boolean;
  body: string;
  sequence: number;
  attempts: number;
  /** The attempts before it was sent again by hand. The ladder began anew then. */
  attempts_before_resend: number;
}

/** The result of an attempt: the status of the answer, or the error without one. */
export interface AttemptOutcome {
  status: number | null;
  error: string | null;
  /** Why the host was refused, for operators only: it may tell what is inside our network. */
  reason: string | null;
  /** No answer came within the time. False for answers, and for other errors. */
  timedOut: boolean;
  /** The wait that an answer 429 or 503 asks for, from now on. Not bounded yet. */
  retryAfterMs: number | null;
  /** The beginning of the answer's body, storable. Null without an answer. */
  answer: string | null;
  durationMs: number;
}

/**
 * Reads a delivery for its job. @returns null when the job is stale.
 * @throws an outage while the database is read-only, because no attempt could be recorded.
 */
export async function findDelivery(database: Database, ref: DeliveryRef): Promise<Delivery | null> {
  const found = await rows<Delivery & Sealed & { isDue: boolean; isReadOnly: boolean }>(
    database,
    // The key alone is a condition: for more, the planner might read an index of waiting deliveries.
    `SELECT d.merchant_id, d.event_id, d.attempts, d.attempts_before_resend, d.step_no,
       e.app_code, e.payment_id, e.callback_url, e.endpoint, e.body, e.sequence,
       a.signs_webhooks_with, s."keyId", s.ciphertext,
       coalesce(${IS_SETTLED}, false) AS is_settled,
       d.step_no = :step_no AND d.next_step = 'deliver' AND d.admitted_at IS NOT NULL AS "isDue",
       ${IS_READ_ONLY} AS "isReadOnly"
     FROM webhook_deliveries d JOIN events e ON e.merchant_id = d.merchant_id AND e.id = d.event_id
     JOIN apps a ON a.merchant_id = e.merchant_id AND a.code = e.app_code
     LEFT JOIN LATERAL (${signingSecretsOf('a')}) s ON true
     LEFT JOIN webhook_endpoints p
       ON p.merchant_id = e.merchant_id AND p.endpoint = e.endpoint
     WHERE d.merchant_id = :merchant_id AND d.event_id = :event_id
     ORDER BY s.created_at, s.id`,
    ref,
  );
  const [first] = found;
  if (!first?.isDue) return null;
  requireWritable(first);
  // An app without a valid secret has one row, without a key.
  return { ...first, secrets: found.filter(({ keyId }) => keyId !== null) };
}

export const DELIVERY_RESULTS = ['delivered', 'retry', 'exhausted', 'stopped'] as const;
export type DeliveryResult = (typeof DELIVERY_RESULTS)[number];

/**
 * Records an attempt, and either ends the delivery or schedules the next attempt. What it says about
 * the endpoint is recorded with it, unless it says nothing new.
 */
export async function recordAttempt(
  database: Database,
  delivery: Delivery,
  outcome: AttemptOutcome,
  random: () => number = Math.random,
): Promise<DeliveryResult> {
  const result = resultOf(delivery, outcome);
  if (result === 'delivered' && delivery.is_settled) {
    await endAttempt(database, delivery, outcome, result, random);
    return result;
  }
  await inTransaction(database, async (trx) => {
    const isFirst = await endAttempt(trx, delivery, outcome, result, random);
    if (isFirst) await noteAttempt(trx, delivery, outcome, result);
  });
  return result;
}

/** @returns false when another job of the delivery has recorded its attempt before. */
function endAttempt(
  database: Database | Transaction,
  delivery: Delivery,
  outcome: AttemptOutcome,
  result: DeliveryResult,
  random: () => number,
): Promise<boolean> {
  const ended = result !== 'retry';
  return changeStep(
    database,
    { kind: 'webhook', merchant_id: delivery.merchant_id, id: delivery.event_id },
    ended ? 'none' : nextAttempt(rungOf(delivery), outcome, random),
    {
      set: {
        status: ended ? result : 'pending',
        attempts: delivery.attempts + 1,
        admitted_at: null,
      },
      assign: DELIVERED_AT,
      onlyIf: { step_no: delivery.step_no },
      also: attemptOf(outcome),
    },
  );
}

/** Lets a delivery wait whose app has no valid secret to sign with. That is no attempt. */
export async function awaitSecret(database: Database, delivery: Delivery): Promise<void> {
  await changeStep(
    database,
    { kind: 'webhook', merchant_id: delivery.merchant_id, id: delivery.event_id },
    { next: 'deliver', delayMs: SECRET_WAIT_MS, queue: null },
    { set: { admitted_at: null }, onlyIf: { step_no: delivery.step_no } },
  );
}

/** The first time stays, whatever becomes of a copy that is sent again by hand. */
const DELIVERED_AT = `delivered_at = coalesce(delivered_at,
  CASE WHEN CAST(:set_status AS text) = 'delivered' THEN clock_timestamp() END)`;

/** Tells whether a receiver has taken a webhook: it answered 2xx. */
export function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

function resultOf(delivery: Delivery, { status }: AttemptOutcome): DeliveryResult {
  if (isTaken(status)) return 'delivered';
  if (status === STATUS_GONE) return 'stopped';
  return rungOf(delivery) < RETRY_DELAYS_MS.length ? 'retry' : 'exhausted';
}

/** Returns the number of attempts before this one, since the ladder began. */
function rungOf({ attempts, attempts_before_resend }: Delivery): number {
  return attempts - attempts_before_resend;
}

/** A receiver may ask for a longer wait than the ladder's next one, but not for more attempts. */
function nextAttempt(
  rung: number,
  { retryAfterMs }: AttemptOutcome,
  random: () => number,
): StepChange {
  const ladderMs = RETRY_DELAYS_MS[rung]! * (1 + random() * RETRY_JITTER);
  const delayMs = Math.max(ladderMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  return { next: 'deliver', delayMs, queue: null };
}

function attemptOf({ status, error, reason, answer, durationMs }: AttemptOutcome) {
  return {
    cte: `attempted AS (
      INSERT INTO webhook_attempts
        (merchant_id, event_id, attempt_no, response_status, error, reason, answer, duration_ms)
      SELECT merchant_id, event_id, attempts, :response_status, :error, :reason, :answer, :duration_ms
      FROM moved
    )`,
    bindings: {
      response_status: status,
      error,
      reason,
      answer,
      duration_ms: Math.round(durationMs),
    },
  };
}
