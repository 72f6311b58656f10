import type { Database } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import type { Audited } from '../audited-change.ts';
import { rekeySecrets, secretsWithoutKey } from './app-secrets.ts';

/** Small, so that no transaction locks apps' secrets for long. */
const BATCH_SIZE = 100;

export interface RekeyedSecrets {
  count: number;
  /** Apps with a secret in use that cannot be decrypted with the key that it names. */
  unreadable: number[];
  /** Secrets in use whose keys are not in the ring. */
  missing: { count: number; keyIds: string[] };
}

/**
 * Encrypts all app secrets again, with the first key of the ring, in batches. Each batch is a
 * transaction of its own, which an interruption does not undo.
 */
export async function rekeyAllSecrets(
  database: Database,
  audited: Audited,
  keys: KeyRing,
): Promise<RekeyedSecrets> {
  const unreadable = new Set<number>();
  let count = 0;
  let after: string | null = null;
  do {
    const from: string | null = after;
    const batch = await audited(async (trx) => {
      const value = await rekeySecrets(trx, keys, from, BATCH_SIZE);
      const details = { count: value.count, from_keys: value.fromKeys, to_key: keys.current.id };
      const audit = { merchant_id: null, subject: 'app secrets', details };
      return { value, audit: value.count > 0 ? audit : null };
    });
    count += batch.count;
    for (const code of batch.unreadable) unreadable.add(code);
    after = batch.next;
  } while (after !== null);
  const missing = await secretsWithoutKey(database, keys);
  return { count, unreadable: [...unreadable], missing };
}
