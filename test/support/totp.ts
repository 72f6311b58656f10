import { createHmac } from 'node:crypto';
import { inTransaction } from '../../src/connections/database.ts';
import { setTotp, storeTotpSecret } from '../../src/domain/credentials/one-time-passwords.ts';
import type { Service } from '../../src/service/service.ts';
import type { TestUser } from './test-merchant.ts';

const STEP_MS = 30_000;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * The one-time password that a phone shows, so many steps from now. By the words of RFC 6238, so
 * that the service is not checked with its own library.
 */
export function otpOf(secret: string, steps = 0): string {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g)!;
  const key = Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / STEP_MS) + steps));
  const digest = createHmac('sha1', key).update(counter).digest();
  const number = digest.readUInt32BE(digest.at(-1)! & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** A well-formed one-time password that the secret gives at no time near now. */
export function wrongOtpOf(secret: string): string {
  const near = [-3, -2, -1, 0, 1, 2, 3].map((steps) => otpOf(secret, steps));
  return ['000000', '111111', '222222', '333333', '444444', '555555', '666666', '777777'].find(
    (code) => !near.includes(code),
  )!;
}

/** Switches one-time passwords on for a user, as an enrolment does. @returns the secret. */
export async function enableTotp(
  { database, config }: Pick<Service, 'database' | 'config'>,
  merchant_id: number,
  { userId: user_id, email }: TestUser,
): Promise<string> {
  return inTransaction(database, async (trx) => {
    const user = { merchant_id, user_id };
    await setTotp(trx, user, true);
    return (await storeTotpSecret(trx, config.secretsKeys, user, email)).secret;
  });
}
