import { createHash, randomBytes } from 'node:crypto';
import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { UserRef } from './people.ts';

const CODE_COUNT = 10;
/** Random bytes of a code: too many to reverse its plain hash by trying. */
const CODE_BYTES = 10;
const GROUPS = /.{5}(?=.)/g;

/** Gives a user ten new recovery codes in place of all others. Only their hashes are stored. */
export async function renewRecoveryCodes(trx: Transaction, user: UserRef): Promise<string[]> {
  const { merchant_id, user_id } = user;
  const codes = Array.from({ length: CODE_COUNT }, () => randomBytes(CODE_BYTES).toString('hex'));
  await forgetRecoveryCodes(trx, user);
  await rows(
    trx,
    `INSERT INTO recovery_codes (merchant_id, user_id, code_hash)
     SELECT :merchant_id, :user_id, unnest(CAST(:hashes AS bytea[]))`,
    { merchant_id, user_id, hashes: codes.map(hashOf) },
  );
  return codes.map((code) => code.replaceAll(GROUPS, '$&-'));
}

export async function forgetRecoveryCodes(trx: Transaction, user: UserRef): Promise<void> {
  await rows(
    trx,
    'DELETE FROM recovery_codes WHERE merchant_id = :merchant_id AND user_id = :user_id',
    user,
  );
}

/** Uses a recovery code of a user. It is good once. @returns whether it was one. */
export async function useRecoveryCode(
  trx: Transaction,
  { merchant_id, user_id }: UserRef,
  code: string,
): Promise<boolean> {
  return hasRow(
    trx,
    `DELETE FROM recovery_codes
     WHERE merchant_id = :merchant_id AND user_id = :user_id AND code_hash = :hash
     RETURNING user_id`,
    { merchant_id, user_id, hash: hashOf(code) },
  );
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
