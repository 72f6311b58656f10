import type { GatewayPaymentKind } from '../domain/gateway-results.ts';
import { equalInConstantTime, type KeyRing, mac } from '../process/key-ring.ts';

/**
 * The address under which a gateway reports one payment's outcome. Its last part proves
 * that we gave it out, and for which payment: gateways do not sign what they send.
 */

const PATH = '/gateway/callbacks';
const PURPOSE = 'gateway-callback';

/** What is asked of the gateway at this address; only outcomes so far. */
type CallbackKind = 'result';

export interface CallbackTarget {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
}

/** Never log it: who knows it can report an outcome. */
export function callbackUrl(
  baseUrl: string,
  keys: KeyRing,
  gateway: string,
  target: CallbackTarget,
): string {
  const callbackKind: CallbackKind = 'result';
  const subject = `${callbackKind}~${target.kind}~${target.merchant_id}~${target.id}`;
  const proof = mac(keys.current, PURPOSE, `${gateway}~${subject}`).toString('base64url');
  return `${baseUrl}${PATH}/${gateway}/${subject}~${keys.current.id}~${proof}`;
}

const TOKEN =
  /^(result)~(collection|payout|reversal|return)~(\d{1,15})~([0-9a-f-]{36})~([\w-]{1,32})~([\w-]{43})$/;

/** Reads the last part of an address. @returns null unless we gave out exactly this one. */
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
