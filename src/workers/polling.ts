import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { findPaymentToPoll, recordQuery } from '../domain/submission/polling.ts';
import { queryRequestOf } from '../gateways/query-request.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import type { Service } from '../process/boot.ts';

export async function pollPayment(
  { database, config, logger, gateways }: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<void> {
  const question = await findPaymentToPoll(database, ref, stepNo);
  if (!question) return;
  const { payment } = question;
  const gateway = gatewayNamed(gateways, payment.gateway);
  const result = await gateway.query(queryRequestOf(config, payment));
  await recordQuery(database, question, result, gateway, config.pollFirstMs);
  logger.info('polled', { kind: ref.kind, gateway: gateway.name, outcome: result.outcome });
}
