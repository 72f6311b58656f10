import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Of a new password. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const scryptAsync = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  keyBytes: number,
) => Promise<Buffer>;

/** Hashes a password for storage: `scrypt$salt$hash`, both in base64. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await scryptAsync(password, salt, KEY_BYTES);
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/** A hash that no password has. It makes the check of an unknown user take as long as any other. */
const NOBODY = `scrypt$${Buffer.alloc(SALT_BYTES).toString('base64')}$${Buffer.alloc(KEY_BYTES).toString('base64')}`;

/** Checks a password. Without a stored hash the check takes as long and fails. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, salt = '', hash = ''] = (stored ?? NOBODY).split('$');
  const expected = Buffer.from(hash, 'base64');
  const actual = await scryptAsync(password, Buffer.from(salt, 'base64'), KEY_BYTES);
  return timingSafeEqual(actual, expected) && stored !== undefined;
}
