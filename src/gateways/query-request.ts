import type { AnyPayment } from '../domain/payments/payment-store.ts';
import type { KeyRing } from '../process/key-ring.ts';
import { callbackUrl } from './callback-address.ts';
import type { QueryRequest } from './gateway.ts';

/** Where gateways reach this service, and what proves its addresses. */
export interface CallbackSettings {
  gatewayCallbackUrl: string;
  secretsKeys: KeyRing;
}

/** Where the gateway will report this payment's outcome. Never log it. */
export function callbackUrlOf(settings: CallbackSettings, payment: AnyPayment): string {
  const { gatewayCallbackUrl, secretsKeys } = settings;
  const { kind, merchant_id: merchantId, id } = payment;
  return callbackUrl(gatewayCallbackUrl, secretsKeys, payment.gateway, {
    kind,
    merchant_id: merchantId,
    id,
  });
}

/** The question what became of a payment. */
export function queryRequestOf(settings: CallbackSettings, payment: AnyPayment): QueryRequest {
  return {
    kind: payment.kind,
    reference: payment.id,
    externalRef: payment.external_ref,
    callbackUrl: callbackUrlOf(settings, payment),
  };
}
