import { derivedKey, type KeyRing, mac } from '../../process/key-ring.ts';

/** The key for this is derived from SECRETS_KEY, as for callback addresses, and serves nothing else. */
const PURPOSE = 'security-account';

/**
 * Hashes the account of a log-in: an e-mail address in any case, or an app key. So events and limits
 * can be told apart by account, and a copy of the database does not name who was tried.
 */
export function accountHash({ current }: Pick<KeyRing, 'current'>, account: string): string {
  return hashUnder(derivedKey(current, PURPOSE), account);
}

/** Hashes an account under every key of the ring, to find events from before a rotation too. */
export function accountHashes({ byId }: Pick<KeyRing, 'byId'>, account: string): string[] {
  return [...byId.values()].map((key) => hashUnder(derivedKey(key, PURPOSE), account));
}

function hashUnder(key: Buffer, account: string): string {
  return mac(key, account.toLowerCase()).toString('hex');
}
