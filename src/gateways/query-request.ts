import type { AnyPayment } from '../domain/payments/payment-store.ts';
import type { Config } from '../process/config.ts';
import { callbackUrl } from './callback-address.ts';
import type { QueryRequest } from './gateway.ts';

type CallbackSettings = Pick<Config, 'gatewayCallbackUrl' | 'secretsKeys'>;

/** Makes the address to which the gateway reports this payment's outcome. Never log it. */
export function callbackUrlOf(config: CallbackSettings, payment: AnyPayment): string {
  return callbackUrl(config.gatewayCallbackUrl, config.secretsKeys, payment.gateway, payment);
}

export function queryRequestOf(config: CallbackSettings, payment: AnyPayment): QueryRequest {
  return {
    kind: payment.kind,
    reference: payment.reference,
    externalRef: payment.external_ref,
    callbackUrl: callbackUrlOf(config, payment),
  };
}
