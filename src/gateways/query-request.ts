import type { AnyPayment } from '../domain/payments/payment-store.ts';
import type { KeyRing } from '../process/key-ring.ts';
import { callbackUrl } from './callback-address.ts';
import type { QueryRequest } from './gateway.ts';

/** The address of this service for gateways, and the keys that prove its callback addresses. */
export interface CallbackSettings {
  gatewayCallbackUrl: string;
  secretsKeys: KeyRing;
}

/** Makes the address to which the gateway reports this payment's outcome. Never log it. */
export function callbackUrlOf(settings: CallbackSettings, payment: AnyPayment): string {
  const { gatewayCallbackUrl, secretsKeys } = settings;
  return callbackUrl(gatewayCallbackUrl, secretsKeys, payment.gateway, payment);
}

/** Makes the request that asks for the state of a payment. */
export function queryRequestOf(settings: CallbackSettings, payment: AnyPayment): QueryRequest {
  return {
    kind: payment.kind,
    reference: payment.id,
    externalRef: payment.external_ref,
    callbackUrl: callbackUrlOf(settings, payment),
  };
}
