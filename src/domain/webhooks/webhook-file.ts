import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { type SecretKind, signingSecretsOf } from '../merchants/app-secrets.ts';
import type { MerchantPayment } from '../payments/payment-store.ts';
import { type DeliveryStatus, REF_NO } from './list-deliveries.ts';

/** A webhook with its delivery, as support sees it. */
export interface Webhook {
  /** The event's, which the merchant knows as `webhook-id`. */
  id: string;
  merchant_id: number;
  merchant_name: string;
  app_code: number;
  app_name: string;
  payment_kind: MerchantPayment['kind'];
  payment_id: string;
  ref_no: string | null;
  type: string;
  /** Above 1: it corrects what the merchant was told before. */
  change_no: number;
  /** Null until the dispatcher has numbered it. It has no delivery before. */
  sequence: number | null;
  endpoint: string;
  callback_url: string;
  /** The exact bytes of every attempt. */
  body: string;
  created_at: Date;
  /** Null without a delivery, as the others below. */
  status: DeliveryStatus | null;
  attempts: number | null;
  /** The first time that the receiver took it, also if it was sent again since. */
  delivered_at: Date | null;
  attempts_before_resend: number | null;
  /** Set while a job of it waits or runs. */
  admitted_at: Date | null;
  next_attempt_at: Date | null;
  is_due: boolean | null;
  parked_reason: string | null;
  /** Since when its endpoint has failed, if that is why it waits. */
  endpoint_failing_since: Date | null;
  /** When the endpoint is tried next. Null if it works. */
  endpoint_probe_at: Date | null;
  signs_webhooks_with: SecretKind;
  /** Its app has a valid secret to sign with. Without one it waits. */
  can_be_signed: boolean;
}

/** One POST of a webhook. */
export interface WebhookAttempt {
  attempt_no: number;
  attempted_at: Date;
  duration_ms: number;
  /** The status of the answer, or the error without one. */
  response_status: number | null;
  error: string | null;
  /** Why the host was refused. For operators only. */
  reason: string | null;
  /** The beginning of the answer's body, as the receiver gave it. Null without an answer. */
  answer: string | null;
}

/**
 * Finds a webhook of a merchant, or for an operator one of whatever merchant. Each merchant takes one
 * probe, as in `findPayments`.
 */
export function findWebhook(
  database: Database | Transaction,
  id: string,
  merchantId: number | null = null,
): Promise<Webhook | undefined> {
  return firstRow<Webhook>(
    database,
    `SELECT e.id, e.merchant_id, m.name AS merchant_name, e.app_code, a.name AS app_name,
       e.payment_kind, e.payment_id, ${REF_NO} AS ref_no, e.type, e.change_no, e.sequence,
       e.endpoint, e.callback_url, e.body, e.created_at, d.status, d.attempts,
       d.delivered_at, d.attempts_before_resend, d.admitted_at, d.next_step_at AS next_attempt_at,
       d.next_step_at <= clock_timestamp() AS is_due, d.parked_reason,
       p.failing_since AS endpoint_failing_since, p.probe_at AS endpoint_probe_at,
       a.signs_webhooks_with, EXISTS (${signingSecretsOf('a')}) AS can_be_signed
     FROM merchants m
     CROSS JOIN LATERAL (
       SELECT * FROM events WHERE merchant_id = m.id AND id = CAST(:id AS uuid) LIMIT 1
     ) AS e
     JOIN apps a ON a.merchant_id = e.merchant_id AND a.code = e.app_code
     LEFT JOIN ${STEP_TABLES.webhook.table} d ON d.merchant_id = e.merchant_id AND d.event_id = e.id
     LEFT JOIN webhook_endpoints p ON p.merchant_id = e.merchant_id AND p.endpoint = e.endpoint
       AND p.breaker = 'open' AND d.next_step IS NOT NULL
     ${merchantId === null ? '' : 'WHERE m.id = :merchant_id'}`,
    { id, merchant_id: merchantId },
  );
}

/**
 * Reads the attempts of a webhook that retention has kept, oldest first.
 * @param most is how many of the newest are read. Null: all.
 */
export async function attemptsOf(
  database: Database | Transaction,
  { merchant_id, id }: Pick<Webhook, 'merchant_id' | 'id'>,
  most: number | null = null,
): Promise<WebhookAttempt[]> {
  const newestFirst = await rows<WebhookAttempt>(
    database,
    `SELECT attempt_no, attempted_at, duration_ms, response_status, error, reason, answer
     FROM webhook_attempts WHERE merchant_id = :merchant_id AND event_id = :id
     ORDER BY attempted_at DESC, attempt_no DESC LIMIT :most`,
    { merchant_id, id, most },
  );
  return newestFirst.reverse();
}
