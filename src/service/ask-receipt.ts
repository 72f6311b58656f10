import { firstRow } from '../connections/database.ts';
import type { Audited } from '../domain/audit/audit.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import type { AnyPayment } from '../domain/payments/payment-store.ts';
import { type AddressUse, callbackUrlOf } from '../gateways/callback-address.ts';
import type { Service } from './service.ts';

/**
 * Returns the driver's question about receipts.
 * @throws OperatorRefusal when the payment's gateway cannot be asked
 */
export function receiptQuestionOf(
  { gateways }: Pick<Service, 'gateways'>,
  { gateway }: Pick<AnyPayment, 'gateway'>,
) {
  const ask = gateways.get(gateway)?.askReceipt;
  if (ask) return ask;
  throw new OperatorRefusal(`The gateway ${gateway} cannot be asked about a receipt`);
}

/**
 * Asks the gateway about a receipt that a person has given for a payment. The audit log has the
 * question before it goes out. The answer comes as a callback.
 * @throws OperatorRefusal when the gateway cannot be asked, or has not taken the question
 */
export async function askReceipt(
  service: Service,
  audited: Audited,
  payment: AnyPayment,
  receipt: string,
): Promise<void> {
  const ask = receiptQuestionOf(service, payment);
  const base = await service.callbackBase.find();
  if (base === null) throw new OperatorRefusal('Nobody knows yet where gateways reach us');
  const askedAt = await audited(async (trx) => {
    const now = await firstRow<{ at: Date }>(trx, 'SELECT clock_timestamp() AS at');
    const { kind, merchant_id, id } = payment;
    const audit = { merchant_id, subject: `${kind} ${id}`, details: { trans_id: receipt } };
    return { value: now!.at, audit };
  });
  const urlOf = (use: AddressUse) => callbackUrlOf(service.config, base, payment, use);
  const answer = await ask({
    receipt,
    callbackUrl: urlOf({ address: 'receipt', askedAt, receipt }),
    timeoutUrl: urlOf({ address: 'timeout' }),
  });
  if (answer.outcome === 'asked') return;
  throw new OperatorRefusal(`The gateway has not taken the question: ${answer.reason}`);
}
