import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { findStoredCallback } from '../domain/settlement/callback-store.ts';
import { processCallback } from '../domain/settlement/process-callback.ts';
import { findPaymentToPoll, recordQuery } from '../domain/submission/polling.ts';
import { queryRequestOf } from '../gateways/query-request.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import type { Service } from '../process/boot.ts';
import { addLogContext } from '../process/logger.ts';

/** Asks the gateway what became of one payment. */
export async function pollPayment(
  context: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<void> {
  const { database, config, logger, gateways } = context;
  const question = await findPaymentToPoll(database, ref, stepNo);
  if (!question) return;
  const { payment } = question;
  const gateway = gatewayNamed(gateways, payment.gateway);
  const result = await gateway.query(queryRequestOf(config, payment));
  await recordQuery(database, question, result, gateway, config.pollFirstMs);
  logger.info('polled', { kind: ref.kind, gateway: gateway.name, outcome: result.outcome });
}

/** Applies one stored callback to its payment. */
export async function processStoredCallback(
  { database, logger, gateways }: Service,
  merchantId: number,
  callbackId: string,
): Promise<void> {
  const callback = await findStoredCallback(database, merchantId, callbackId);
  if (!callback) return;
  addLogContext({ payment_id: callback.payment_id });
  const gateway = gatewayNamed(gateways, callback.gateway);
  const settlement = await processCallback(database, callback, (body) =>
    gateway.parseCallback(body),
  );
  logger.info('callback processed', { callback_id: callback.id, settlement });
}
