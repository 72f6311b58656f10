import type { AnyPayment } from '../domain/payments/payment-store.ts';
import type { Config } from '../process/config.ts';
import { type AddressUse, callbackUrl } from './callback-address.ts';
import type { QueryRequest } from './gateway.ts';

type CallbackKeys = Pick<Config, 'secretsKeys'>;

/**
 * Makes an address at which the gateway reports about this payment. Never log it.
 * @param base is where gateways reach the API.
 */
export function callbackUrlOf(
  { secretsKeys }: CallbackKeys,
  base: string,
  payment: AnyPayment,
  use?: AddressUse,
): string {
  return callbackUrl(base, secretsKeys, payment.gateway, payment, use);
}

/**
 * Makes a question about a payment.
 * @param base is null while nobody knows it.
 * @param askedAt is the database's time.
 */
export function queryRequestOf(
  keys: CallbackKeys,
  base: string | null,
  payment: AnyPayment,
  askedAt: Date,
): QueryRequest {
  const urlOf = (use: AddressUse) =>
    base === null ? null : callbackUrlOf(keys, base, payment, use);
  return {
    kind: payment.kind,
    reference: payment.reference,
    externalRef: payment.external_ref,
    callbackUrl: urlOf({ address: 'answer', askedAt }),
    timeoutUrl: urlOf({ address: 'timeout' }),
  };
}
