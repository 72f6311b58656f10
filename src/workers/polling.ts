import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { findPaymentToPoll, recordQuery } from '../domain/submission/polling.ts';
import { queryRequestOf } from '../gateways/query-request.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import type { Service } from '../process/boot.ts';

export async function pollPayment(
  { database, config, logger, gateways, parserOf }: Service,
  ref: PaymentRef,
  stepNo: number,
): Promise<void> {
  const question = await findPaymentToPoll(database, ref, stepNo);
  if (!question) return;
  const { payment } = question;
  const gateway = gatewayNamed(gateways, payment.gateway);
  const result = await gateway.query(queryRequestOf(config, payment));
  const { pollFirstMs } = config;
  const recording = { pollFirstMs, parserOf };
  await recordQuery(database, question, result, gateway, recording);
  logger.info('polled', { kind: ref.kind, gateway: gateway.name, outcome: result.outcome });
}
