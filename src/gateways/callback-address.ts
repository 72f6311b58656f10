import {
  CALLBACK_ADDRESSES,
  type CallbackAddress,
  type GatewayPaymentKind,
} from '../domain/gateway-results.ts';
import type { AnyPayment } from '../domain/payments/payment-store.ts';
import type { Config } from '../process/config.ts';
import { derivedKey, equalInConstantTime, type KeyRing, mac } from '../process/key-ring.ts';
import type { QueryRequest } from './gateway.ts';

/**
 * The addresses at which a gateway reports about one payment. Gateways do not sign their reports.
 * So the last part of an address proves that we gave the address out, for this payment and use.
 */

const PATH = '/gateway/callbacks';
const PURPOSE = 'gateway-callback';

export interface CallbackTarget {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
}

/** A use of an address. An answer's address says when its question was asked, and about what. */
export type AddressUse =
  | { address: 'result' | 'timeout' }
  | { address: 'answer'; askedAt: Date }
  | { address: 'receipt'; askedAt: Date; receipt: string };

/** The contents of a callback address that we gave out. */
export interface CallbackSource extends CallbackTarget {
  address: CallbackAddress;
  /** The time of the question, in the address for its answer. Null in other addresses. */
  askedAt: Date | null;
  /** The receipt that was asked about. Null in other addresses. */
  receipt: string | null;
}

/** Makes an address of a payment. Never log it: anybody who knows it can report an outcome. */
export function callbackUrl(
  baseUrl: string,
  keys: KeyRing,
  gateway: string,
  target: CallbackTarget,
  use: AddressUse = { address: 'result' },
): string {
  const subject = `${wordOf(use)}~${target.kind}~${target.merchant_id}~${target.id}`;
  const proof = proofOf(derivedKey(keys.current, PURPOSE), gateway, subject);
  return `${baseUrl}${PATH}/${gateway}/${subject}~${keys.current.id}~${proof}`;
}

/** Names the use. A receipt is in hex: it may spell a word that gateways refuse in addresses. */
function wordOf(use: AddressUse): string {
  if (!('askedAt' in use)) return use.address;
  const word = `${use.address}.${use.askedAt.getTime()}`;
  return use.address === 'answer' ? word : `${word}.${Buffer.from(use.receipt).toString('hex')}`;
}

const TOKEN = new RegExp(
  [
    `^((${CALLBACK_ADDRESSES.join('|')})(?:\\.(\\d{13}))?(?:\\.([0-9a-f]+))?)`,
    '(collection|payout|reversal|return)',
    '(\\d{1,15})',
    '([0-9a-f-]{36})',
    '([\\w-]{1,32})',
    '([0-9a-f]{64})$',
  ].join('~'),
);

/**
 * Reads the last part of an address. @returns null unless we gave out exactly this address.
 * @param retiredKey finds the key that proves addresses made before their key left the ring.
 */
export async function readCallbackToken(
  keys: KeyRing,
  gateway: string,
  token: string,
  retiredKey: (id: string) => Promise<Buffer | null>,
): Promise<CallbackSource | null> {
  const [, word, address, askedAt, receipt, kind, merchantId, id, keyId, proof] =
    TOKEN.exec(token) ?? [];
  if (!keyId || !proof) return null;
  const known = keys.byId.get(keyId);
  const key = known ? derivedKey(known, PURPOSE) : await retiredKey(keyId);
  if (!key) return null;
  const expected = proofOf(key, gateway, `${word}~${kind}~${merchantId}~${id}`);
  if (!equalInConstantTime(expected, proof)) return null;
  return {
    kind: kind as GatewayPaymentKind,
    merchant_id: Number(merchantId),
    id: id!,
    address: address as CallbackAddress,
    askedAt: askedAt === undefined ? null : new Date(Number(askedAt)),
    receipt: receipt === undefined ? null : Buffer.from(receipt, 'hex').toString(),
  };
}

/** Returns the keys that prove addresses, by the ids of the ring's keys. */
export function callbackKeysOf(keys: KeyRing): ReadonlyMap<string, Buffer> {
  return new Map([...keys.byId].map(([id, key]) => [id, derivedKey(key, PURPOSE)]));
}

/** The use of an address for a balance, and when the gateway was asked for it. */
export interface FloatSource {
  /** 'float-timeout' is for "not answered in time". */
  use: 'float' | 'float-timeout';
  askedAt: Date;
}

const FLOAT = /^((float|float-timeout)\.(\d{13}))~([\w-]{1,32})~([0-9a-f]{64})$/;

/**
 * Makes the address to which a gateway sends the balance of an account. Never log it. An answer may come minutes later.
 * @param source.askedAt is the database's time.
 */
export function floatUrl(
  baseUrl: string,
  keys: KeyRing,
  gateway: string,
  { use, askedAt }: FloatSource,
): string {
  const word = `${use}.${askedAt.getTime()}`;
  const proof = proofOf(derivedKey(keys.current, PURPOSE), gateway, word);
  return `${baseUrl}${PATH}/${gateway}/${word}~${keys.current.id}~${proof}`;
}

/**
 * Reads the last part of an address for a balance.
 * @returns null unless we gave out this address.
 */
export function readFloatToken(keys: KeyRing, gateway: string, token: string): FloatSource | null {
  const [, word, use, askedAt, keyId, proof] = FLOAT.exec(token) ?? [];
  const key = keys.byId.get(keyId ?? '');
  if (!word || !key || !proof) return null;
  const expected = proofOf(derivedKey(key, PURPOSE), gateway, word);
  if (!equalInConstantTime(expected, proof)) return null;
  return { use: use as FloatSource['use'], askedAt: new Date(Number(askedAt)) };
}

const UNREAD = 'unread';

/**
 * Makes the address for messages that nobody reads, because some products require an address. It
 * proves nothing, so it is no secret, and it stays the same when keys change.
 */
export function unreadUrl(baseUrl: string, gateway: string): string {
  return `${baseUrl}${PATH}/${gateway}/${UNREAD}`;
}

export function isUnread(token: string): boolean {
  return token === UNREAD;
}

/**
 * Makes a proof in hex. Base64 may spell a word that gateways refuse in addresses, such as "exe".
 */
function proofOf(key: Buffer, gateway: string, subject: string): string {
  return mac(key, `${gateway}~${subject}`).toString('hex');
}

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
 * @param base is where gateways reach the API; null while that address is unknown.
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
