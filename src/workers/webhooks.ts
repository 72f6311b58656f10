import { openSecret } from '../domain/merchants/app-secrets.ts';
import {
  awaitSecret,
  type DeliveryRef,
  findDelivery,
  recordAttempt,
} from '../domain/webhooks/delivery.ts';
import { signatureHeaders } from '../domain/webhooks/sign.ts';
import { postOptionsOf, postWebhook } from '../outbound/webhook-client.ts';
import type { Service } from '../process/boot.ts';
import type { LogFields } from '../process/logger.ts';

const MS_PER_SECOND = 1_000;

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
    timestamp: Math.floor(Date.now() / MS_PER_SECOND),
    secrets: secrets.map((sealed) =>
      openSecret(config.secretsKeys, signs_webhooks_with, sealed, delivery),
    ),
  });
  const { callback_url, body } = delivery;
  const outcome = await postWebhook(callback_url, body, headers, postOptionsOf(config));
  const result = await recordAttempt(database, delivery, outcome);
  meters.webhookAttempts.observe({ result }, outcome.durationMs / MS_PER_SECOND);
  logger.info('webhook attempted', {
    event_id: ref.event_id,
    attempt: delivery.attempts + 1,
    result,
    status: outcome.status,
    error: outcome.reason ?? outcome.error,
  });
  return true;
}
