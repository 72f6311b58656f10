import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';

/*
 * The keys that have proved callback addresses, and are not current any more. A gateway may send
 * news of a payment long after its key was taken out of SECRETS_KEY. Each is derived for this
 * one purpose, and is stored encrypted with the current key.
 */

/** Keys for callback addresses, by the ids of the keys that they are derived from. */
type CallbackKeys = ReadonlyMap<string, Buffer>;

/** Reads the kept key of a retired key. @returns null when none of this id was kept. */
export async function retiredCallbackKey(
  database: Database,
  secretsKeys: KeyRing,
  id: string,
): Promise<Buffer | null> {
  const row = await firstRow<KeptKey>(database, `${SELECT} WHERE id = :id`, { id });
  return row ? opened(secretsKeys, row) : null;
}

export interface KeptCallbackKeys {
  /** The ids of all that are kept. */
  ids: string[];
  /** The ids of the keys that were stored or encrypted again. */
  changed: string[];
  /** The ids of the keys that cannot be decrypted. */
  unreadable: string[];
  /** The ids with two keys: the kept one, and another one in the ring. */
  reused: string[];
}

/**
 * Keeps the callback keys of a ring that are not current, and encrypts all kept ones with the
 * current key.
 * @param derived has the callback keys of the whole ring.
 */
export async function keepCallbackKeys(
  trx: Transaction,
  secretsKeys: KeyRing,
  derived: CallbackKeys,
): Promise<KeptCallbackKeys> {
  const { current } = secretsKeys;
  const result: KeptCallbackKeys = { ids: [], changed: [], unreadable: [], reused: [] };
  for (const [id, secret] of derived) {
    if (id === current.id) continue;
    if (await insert(trx, id, sealed(secretsKeys, id, secret))) result.changed.push(id);
  }
  for (const row of await rows<KeptKey>(trx, `${SELECT} ORDER BY id FOR UPDATE`)) {
    const { id } = row;
    const kept = readable(secretsKeys, row);
    const ofRing = derived.get(id);
    result.ids.push(id);
    if (kept && ofRing && !kept.equals(ofRing)) result.reused.push(id);
    // The ring itself has the current key.
    else if (id !== current.id && (!kept || row.keyId !== current.id)) {
      const secret = kept ?? ofRing;
      if (secret) await update(trx, id, sealed(secretsKeys, id, secret));
      result[secret ? 'changed' : 'unreadable'].push(id);
    }
  }
  return result;
}

interface KeptKey extends Sealed {
  id: string;
}

const SELECT = 'SELECT id, key_id AS "keyId", ciphertext FROM retired_callback_keys';

function sealed(secretsKeys: KeyRing, id: string, secret: Buffer): Sealed {
  return seal(secretsKeys, secret.toString('base64'), sealContext(id));
}

function opened(secretsKeys: KeyRing, row: KeptKey): Buffer {
  return Buffer.from(open(secretsKeys, row, sealContext(row.id)), 'base64');
}

function readable(secretsKeys: KeyRing, row: KeptKey): Buffer | null {
  try {
    return opened(secretsKeys, row);
  } catch {
    return null;
  }
}

/** Binds a ciphertext to its id, so that it cannot be opened in another row. */
function sealContext(id: string): string {
  return `callback_key:${id}`;
}

/** @returns whether none of this id was kept before. */
async function insert(trx: Transaction, id: string, { keyId, ciphertext }: Sealed) {
  const inserted = await rows(
    trx,
    `INSERT INTO retired_callback_keys (id, key_id, ciphertext)
     VALUES (:id, :keyId, :ciphertext) ON CONFLICT (id) DO NOTHING RETURNING id`,
    { id, keyId, ciphertext },
  );
  return inserted.length > 0;
}

async function update(trx: Transaction, id: string, { keyId, ciphertext }: Sealed) {
  await rows(
    trx,
    `UPDATE retired_callback_keys SET key_id = :keyId, ciphertext = :ciphertext WHERE id = :id`,
    { id, keyId, ciphertext },
  );
}
