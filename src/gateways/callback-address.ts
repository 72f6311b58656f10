import type { GatewayPaymentKind } from '../domain/gateway-results.ts';
import { derivedKey, equalInConstantTime, type KeyRing, mac } from '../process/key-ring.ts';

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
  const proof = proofOf(derivedKey(keys.current, PURPOSE), gateway, subject);
  return `${baseUrl}${PATH}/${gateway}/${subject}~${keys.current.id}~${proof}`;
}

const TOKEN =
  /^(result)~(collection|payout|reversal|return)~(\d{1,15})~([0-9a-f-]{36})~([\w-]{1,32})~([\w-]{43})$/;

/**
 * Reads the last part of an address. @returns null unless we gave out exactly this address.
 * @param retiredKey finds the key for addresses of a key that is not in the ring any more.
 */
export async function readCallbackToken(
  keys: KeyRing,
  gateway: string,
  token: string,
  retiredKey: (id: string) => Promise<Buffer | null>,
): Promise<CallbackTarget | null> {
  const [, callbackKind, kind, merchantId, id, keyId, proof] = TOKEN.exec(token) ?? [];
  if (!keyId || !proof) return null;
  const known = keys.byId.get(keyId);
  const key = known ? derivedKey(known, PURPOSE) : await retiredKey(keyId);
  if (!key) return null;
  const expected = proofOf(key, gateway, `${callbackKind}~${kind}~${merchantId}~${id}`);
  if (!equalInConstantTime(expected, proof)) return null;
  return { kind: kind as GatewayPaymentKind, merchant_id: Number(merchantId), id: id! };
}

/** Returns the keys that prove addresses, by the ids of the ring's keys. */
export function callbackKeysOf(keys: KeyRing): ReadonlyMap<string, Buffer> {
  return new Map([...keys.byId].map(([id, key]) => [id, derivedKey(key, PURPOSE)]));
}

function proofOf(key: Buffer, gateway: string, subject: string): string {
  return mac(key, `${gateway}~${subject}`).toString('base64url');
}
