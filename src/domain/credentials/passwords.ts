import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Refusal } from '../errors.ts';

/** The cost of a hash, in the names of RFC 7914. It takes 128 × N × r bytes of memory. */
interface Cost {
  N: number;
  r: number;
  p: number;
}

/** As OWASP advises: 128 MiB. */
export const ADVISED_COST: Readonly<Cost> = { N: 2 ** 17, r: 8, p: 1 };
/** The cost of new hashes. Only tests lower it. */
export const PASSWORD_COST: Cost = { ...ADVISED_COST };

/** Of a new password. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Hashes that one process computes at once. Each takes one of the four threads of Node's pool. */
const MAX_AT_ONCE = 2;
/** Hashes that may wait for their turn, some ten seconds. More are refused, to be tried again. */
const MAX_WAITING = 40;

const scryptAsync = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  keyBytes: number,
  options: Cost & { maxmem: number },
) => Promise<Buffer>;

/** Hashes a password for storage: `scrypt$N,r,p$salt$hash`, salt and hash in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const cost = { ...PASSWORD_COST };
  return stored(cost, salt, await derive(password, salt, cost));
}

/**
 * Checks a password. Without a stored hash the check takes as long and fails.
 * @throws Refusal `unavailable` when too many hashes wait for their turn
 */
export async function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  // A hash that no password has.
  const nobody = stored(PASSWORD_COST, Buffer.alloc(SALT_BYTES), Buffer.alloc(KEY_BYTES));
  const { cost, salt, key } = parse(hash ?? nobody);
  const actual = await derive(password, salt, cost);
  return timingSafeEqual(actual, key) && hash !== undefined;
}

/** Hashes a password again if the stored hash costs less than today's. @returns null if not. */
export async function renewedHash(password: string, hash: string): Promise<string | null> {
  const { N, r, p } = parse(hash).cost;
  const isLess = N * r * p < PASSWORD_COST.N * PASSWORD_COST.r * PASSWORD_COST.p;
  return isLess ? hashPassword(password) : null;
}

function stored({ N, r, p }: Cost, salt: Buffer, key: Buffer): string {
  return `scrypt$${N},${r},${p}$${salt.toString('base64')}$${key.toString('base64')}`;
}

function parse(hash: string): { cost: Cost; salt: Buffer; key: Buffer } {
  const [, cost = '', salt = '', key = ''] = hash.split('$');
  const [N = 0, r = 0, p = 0] = cost.split(',').map(Number);
  return { cost: { N, r, p }, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  if (running < MAX_AT_ONCE) running += 1;
  else if (waiting.length >= MAX_WAITING) throw new Refusal('unavailable');
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    // Twice what the hash itself needs: scrypt counts its other buffers too.
    const maxmem = 2 * 128 * cost.N * cost.r;
    return await scryptAsync(password, salt, KEY_BYTES, { ...cost, maxmem });
  } finally {
    // The next one takes over this one's place.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
