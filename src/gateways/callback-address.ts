import type { GatewayPaymentKind } from '../domain/gateway-results.ts';
import { equalInConstantTime, type KeyRing, mac } from '../process/key-ring.ts';

/**
 * The address to which a gateway reports the outcome of one payment. Gateways do not sign what they
 * send. So the last part of the address proves that we gave it out, and for which payment.
 */

const PATH = '/gateway/callbacks';
const PURPOSE = 'gateway-callback';
/** The addresses are for outcomes. Other kinds may follow. */
const CALLBACK_KIND = 'result';

export interface CallbackTarget {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
}

/** Makes the address of a payment. Never log it: whoever knows it can report an outcome. */
export function callbackUrl(
  baseUrl: string,
  keys: KeyRing,
  gateway: string,
  target: CallbackTarget,
): string {
  const subject = `${CALLBACK_KIND}~${target.kind}~${target.merchant_id}~${target.id}`;
  const proof = mac(keys.current, PURPOSE, `${gateway}~${subject}`).toString('base64url');
  return `${baseUrl}${PATH}/${gateway}/${subject}~${keys.current.id}~${proof}`;
}

const TOKEN =
  /^(result)~(collection|payout|reversal|return)~(\d{1,15})~([0-9a-f-]{36})~([\w-]{1,32})~([\w-]{43})$/;

/** Reads the last part of an address. @returns null unless we gave out exactly this address */
export function readCallbackToken(
  keys: KeyRing,
  gateway: string,
  token: string,
): CallbackTarget | null {
  const [, callbackKind, kind, merchantId, id, keyId, proof] = TOKEN.exec(token) ?? [];
  const key = keys.byId.get(keyId ?? '');
  if (!key || !proof) return null;
  const subject = `${callbackKind}~${kind}~${merchantId}~${id}`;
  const expected = mac(key, PURPOSE, `${gateway}~${subject}`).toString('base64url');
  if (!equalInConstantTime(expected, proof)) return null;
  return { kind: kind as GatewayPaymentKind, merchant_id: Number(merchantId), id: id! };
}
