import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Database, rows } from '../../connections/database.ts';
import { Refusal } from '../errors.ts';
import { type PersonRef, realmOf } from './people.ts';

/** The cost of a hash, in the names of RFC 7914. It takes 128 × N × r bytes of memory. */
interface Cost {
  N: number;
  r: number;
  p: number;
}

/** As OWASP advises: 128 MiB. */
export const ADVISED_COST: Readonly<Cost> = { N: 2 ** 17, r: 8, p: 1 };
/** The cost of new hashes. Only tests and the seeds of the sandbox lower it. */
export const PASSWORD_COST: Cost = { ...ADVISED_COST };

/** The lengths of a new password, in characters. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

const GENERATED_BYTES = 15;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

const scryptAsync = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  keyBytes: number,
  options: Cost & { maxmem: number },
) => Promise<Buffer>;

/** Makes a password for a person, of 20 letters, digits, dashes and underscores. */
export function generatePassword(): string {
  return randomBytes(GENERATED_BYTES).toString('base64url');
}

/** Hashes a password for storage: `scrypt$N,r,p$salt$hash`, salt and hash in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const cost = { ...PASSWORD_COST };
  return stored(cost, salt, await derive(password, salt, cost));
}

/**
 * Checks a password. Without a stored hash the check takes as long and fails.
 * @throws LineIsFull when too many hashes wait for their turn
 */
export async function isPassword(
  password: string,
  hash: string | null | undefined,
): Promise<boolean> {
  // A hash that no password has.
  const nobody = stored(PASSWORD_COST, Buffer.alloc(SALT_BYTES), Buffer.alloc(KEY_BYTES));
  const { cost, salt, key } = parse(hash ?? nobody);
  const actual = await derive(password, salt, cost);
  return timingSafeEqual(actual, key) && typeof hash === 'string';
}

/** Hashes a password again if the stored hash costs less than today's. @returns null if not. */
export async function renewedHash(password: string, hash: string): Promise<string | null> {
  const { N, r, p } = parse(hash).cost;
  const isLess = N * r * p < PASSWORD_COST.N * PASSWORD_COST.r * PASSWORD_COST.p;
  return isLess ? hashPassword(password) : null;
}

/** A right password, by its stored hash. */
export interface ProvenPassword {
  hash: string;
  /** A hash of the same password at today's cost. Null when the stored one costs as much. */
  renewed: string | null;
}

/**
 * Checks the password of a log-in. A hash that costs less than today's is computed again before the
 * answer, right or wrong, so that the duration of the answer tells nothing about the account.
 * @returns null when the password is wrong, or the account is unknown
 * @throws LineIsFull when too many hashes wait for their turn
 */
export async function provePassword(
  password: string,
  hash: string | null | undefined,
): Promise<ProvenPassword | null> {
  const isRight = await isPassword(password, hash);
  const renewed = hash ? await renewedHash(password, hash) : null;
  return hash && isRight ? { hash, renewed } : null;
}

/**
 * Stores the renewed hash of a proven password, unless the password has changed meanwhile.
 * @returns the newest hash. If it replaced nothing it proves nothing, and the log-in reads again.
 */
export async function renewHash(
  database: Database,
  person: PersonRef,
  { hash, renewed }: ProvenPassword,
): Promise<string> {
  if (renewed === null) return hash;
  const { people, isPerson } = realmOf(person);
  await rows(
    database,
    `UPDATE ${people} SET password_hash = :renewed WHERE ${isPerson} AND password_hash = :hash`,
    { ...person, hash, renewed },
  );
  return renewed;
}

function stored({ N, r, p }: Cost, salt: Buffer, key: Buffer): string {
  return `scrypt$${N},${r},${p}$${salt.toString('base64')}$${key.toString('base64')}`;
}

function parse(hash: string): { cost: Cost; salt: Buffer; key: Buffer } {
  const [, cost = '', salt = '', key = ''] = hash.split('$');
  const [N = 0, r = 0, p = 0] = cost.split(',').map(Number);
  return { cost: { N, r, p }, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  // Twice what the hash itself needs: scrypt counts its other buffers too.
  const maxmem = 2 * 128 * cost.N * cost.r;
  return takeTurn(() => scryptAsync(password, salt, KEY_BYTES, { ...cost, maxmem }));
}

/** Hashes that one process computes at once. Each takes one of the four threads of Node's pool. */
const MAX_AT_ONCE = 2;
/** Hashes that may wait for their turn, some ten seconds. More are refused, to be tried again. */
const MAX_WAITING = 40;
/** Log-ins of strangers that may be checked, or wait, in one process: half of the places. */
const MAX_OF_STRANGERS = 20;
/** Log-ins of strangers from one network. */
const MAX_OF_NETWORK = 10;

/** Refuses a password because too many others are being checked. Nothing is wrong with it. */
export class LineIsFull extends Refusal {
  constructor() {
    super('unavailable');
  }
}

let running = 0;
const waiting: (() => void)[] = [];

/** Computes a hash when its turn has come. @throws LineIsFull when too many wait */
export async function takeTurn<Result>(compute: () => Promise<Result>): Promise<Result> {
  if (running < MAX_AT_ONCE) running += 1;
  else if (waiting.length >= MAX_WAITING) throw new LineIsFull();
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await compute();
  } finally {
    // The next one takes over this one's place.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

let strangers = 0;
const ofNetwork = new Map<string, number>();

/**
 * Checks a log-in, of users or staff, in a place of the line. Strangers never get all places, so a
 * flood of wrong passwords leaves room for people who were logged in lately.
 * @param isKnown says that the account was logged in to from this network lately
 * @throws LineIsFull when strangers, or their network, have all of their places
 */
export async function inLine<Result>(
  network: string,
  isKnown: boolean,
  check: () => Promise<Result>,
): Promise<Result> {
  if (isKnown) return check();
  const taken = ofNetwork.get(network) ?? 0;
  if (taken >= MAX_OF_NETWORK || strangers >= MAX_OF_STRANGERS) throw new LineIsFull();
  strangers += 1;
  ofNetwork.set(network, taken + 1);
  try {
    return await check();
  } finally {
    strangers -= 1;
    const left = ofNetwork.get(network)! - 1;
    if (left > 0) ofNetwork.set(network, left);
    else ofNetwork.delete(network);
  }
}
