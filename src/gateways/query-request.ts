import type { AnyPayment } from '../domain/payments/payment-store.ts';
import type { Config } from '../process/config.ts';
import { callbackUrl } from './callback-address.ts';
import type { QueryRequest } from './gateway.ts';

type CallbackKeys = Pick<Config, 'secretsKeys'>;

/**
 * Makes the address to which the gateway reports this payment's outcome. Never log it.
 * @param base is where gateways reach the API.
 */
export function callbackUrlOf(
  { secretsKeys }: CallbackKeys,
  base: string,
  payment: AnyPayment,
): string {
  return callbackUrl(base, secretsKeys, payment.gateway, payment);
}

/** Makes a question about a payment. @param base is null while nobody knows it. */
export function queryRequestOf(
  keys: CallbackKeys,
  base: string | null,
  payment: AnyPayment,
): QueryRequest {
  return {
    kind: payment.kind,
    reference: payment.reference,
    externalRef: payment.external_ref,
    callbackUrl: base === null ? null : callbackUrlOf(keys, base, payment),
  };
}
