import { openSecret } from '../domain/merchants/app-secrets.ts';
import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { findStoredCallback } from '../domain/settlement/callback-store.ts';
import { processCallback } from '../domain/settlement/process-callback.ts';
import { refundPayout } from '../domain/settlement/refund-payout.ts';
import { findPaymentToPoll, recordQuery } from '../domain/submission/polling.ts';
import {
  awaitSecret,
  type DeliveryRef,
  findDelivery,
  recordAttempt,
} from '../domain/webhooks/delivery.ts';
import { signatureHeaders } from '../domain/webhooks/sign.ts';
import { queryRequestOf } from '../gateways/callback-address.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import { postOptionsOf, postWebhook } from '../outbound/webhook-client.ts';
import type { LogFields } from '../process/logger.ts';
import type { Service } from '../service/service.ts';
import { SECOND_MS } from '../time.ts';
import { traced, tracedCall } from '../tracing/tracing.ts';
import { namesOf } from './submission.ts';

/** Applies one stored callback. @returns whether it was still stored. */
export async function processStoredCallback(
  { database, logger, meters, bell, parserOf }: Service,
  merchantId: number,
  callbackId: string,
  fields: LogFields,
): Promise<boolean> {
  const callback = await findStoredCallback(database, merchantId, callbackId);
  if (!callback) return false;
  fields.payment_id = callback.payment_id;
  const settlement = await traced('process callback', callback.payment_id, () =>
    processCallback(database, callback, parserOf),
  );
  if (settlement === 'unclear') meters.unknownCodes.inc({ gateway: callback.gateway });
  // Only a completion leaves no next step.
  if (settlement !== 'completed') bell.ring('outbox');
  logger.info('callback processed', { callback_id: callback.id, settlement });
  return true;
}

/** Asks the gateway how a payment has ended. @returns whether there was something to ask. */
export async function pollPayment(
  { database, config, logger, gateways, parserOf, callbackBase }: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<boolean> {
  const question = await findPaymentToPoll(database, ref, stepNo);
  if (!question) return false;
  const { payment, askedAt } = question;
  const gateway = gatewayNamed(gateways, payment.gateway);
  const base = await callbackBase.find();
  const calledAt = performance.now();
  const result = await gateway.query(queryRequestOf(config, base, payment, askedAt));
  const gateway_ms = Math.round(performance.now() - calledAt);
  const { pollFirstMs } = config;
  const recording = { pollFirstMs, parserOf };
  const rule = { ...gateway, resubmit: gateway.resubmit(payment.kind) };
  await recordQuery(database, question, result, rule, recording);
  logger.info('polled', {
    ...namesOf(payment),
    gateway: gateway.name,
    outcome: result.outcome,
    gateway_ms,
  });
  return true;
}

/** Puts the money of one failed payout back into its wallet. @returns whether it did. */
export async function refundFailedPayout(
  { database, config, logger, parserOf }: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<boolean> {
  const isRefunded = await refundPayout(database, ref, stepNo, {
    parserOf,
    allPaused: config.submissionPaused,
  });
  if (isRefunded) logger.info('refunded', { kind: ref.kind });
  return isRefunded;
}

/**
 * Sends one event once: sign, POST, record. A process that dies before the record sends it
 * again, under the same webhook-id, by which receivers recognize it.
 * @returns false when the job is stale, or the webhook waits for a secret to sign with.
 */
export async function deliverWebhook(
  { database, config, logger, meters }: Service,
  ref: DeliveryRef,
  fields: LogFields,
): Promise<boolean> {
  const delivery = await findDelivery(database, ref);
  if (!delivery) return false;
  fields.payment_id = delivery.payment_id;
  const { signs_webhooks_with, secrets } = delivery;
  if (secrets.length === 0) {
    await awaitSecret(database, delivery);
    return false;
  }
  const headers = signatureHeaders({
    ...delivery,
    timestamp: Math.floor(Date.now() / SECOND_MS),
    secrets: secrets.map((sealed) =>
      openSecret(config.secretsKeys, signs_webhooks_with, sealed, delivery),
    ),
  });
  const post = () =>
    postWebhook(delivery.callback_url, delivery.body, headers, postOptionsOf(config));
  const { outcome, result } = await traced('deliver webhook', delivery.payment_id, async () => {
    const outcome = await tracedCall(
      'POST webhook',
      { 'server.address': new URL(delivery.callback_url).hostname },
      post,
    );
    return { outcome, result: await recordAttempt(database, delivery, outcome) };
  });
  meters.webhookAttempts.observe({ result }, outcome.durationMs / SECOND_MS);
  logger.info('webhook attempted', {
    event_id: ref.event_id,
    attempt: delivery.attempts + 1,
    result,
    status: outcome.status,
    error: outcome.reason ?? outcome.error,
  });
  return true;
}
