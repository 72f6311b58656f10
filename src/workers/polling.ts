import type { PaymentRef } from '../domain/payments/payment-store.ts';
import { findPaymentToPoll, recordQuery } from '../domain/submission/polling.ts';
import { queryRequestOf } from '../gateways/query-request.ts';
import { gatewayNamed } from '../gateways/registry.ts';
import type { Service } from '../process/boot.ts';

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
  const result = await gateway.query(queryRequestOf(config, base, payment, askedAt));
  const { pollFirstMs } = config;
  const recording = { pollFirstMs, parserOf };
  const rule = { ...gateway, resubmit: gateway.resubmit(payment.kind) };
  await recordQuery(database, question, result, rule, recording);
  logger.info('polled', { kind: ref.kind, gateway: gateway.name, outcome: result.outcome });
  return true;
}
