import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** Keys by id. The first encrypts and signs. All decrypt and verify, so that keys can rotate. */
export interface KeyRing {
  current: Key;
  byId: ReadonlyMap<string, Key>;
}

export interface Key {
  id: string;
  /** 32 bytes. As an object, because from bytes each use would have to make one. */
  secret: KeyObject;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const DEVELOPMENT_SECRET = Buffer.alloc(KEY_BYTES, 'malipo-development-key');
/** A published key: a development checkout runs with it, and production refuses it. */
export const DEVELOPMENT_KEYS = `dev:${DEVELOPMENT_SECRET.toString('base64')}`;

/** Finds the development key in a ring, under any id. */
export function hasDevelopmentKey(ring: KeyRing): boolean {
  return secretsOf(ring).some((secret) => secret.equals(DEVELOPMENT_SECRET));
}

/** Finds a key that is one byte repeated, such as 32 zeroes. */
export function hasGuessableKey(ring: KeyRing): boolean {
  return secretsOf(ring).some((secret) => new Set(secret).size === 1);
}

/** Finds a key that has two ids: a rotation that changed nothing. */
export function hasRepeatedKey(ring: KeyRing): boolean {
  return new Set(secretsOf(ring).map((secret) => secret.toString('hex'))).size < ring.byId.size;
}

/** Finds a key that two rings have in common. */
export function shareKey(one: KeyRing, other: KeyRing): boolean {
  return secretsOf(one).some((secret) => secretsOf(other).some((each) => each.equals(secret)));
}

function secretsOf({ byId }: KeyRing): Buffer[] {
  return [...byId.values()].map(({ secret }) => secret.export());
}

/**
 * Reads `id:base64,id:base64`.
 * @throws Error that says what is wrong and does not repeat the text
 */
export function keyRingFromText(text: string): KeyRing {
  const byId = new Map<string, Key>();
  for (const item of text.split(',').map((part) => part.trim())) {
    const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]+={0,2})$/.exec(item) ?? [];
    const secret = Buffer.from(encoded ?? '', 'base64');
    if (!id || secret.length !== KEY_BYTES) {
      throw new Error(`must be a list of id:key with keys of ${KEY_BYTES} bytes in base64`);
    }
    if (byId.has(id)) throw new Error(`names the key ${id} twice`);
    byId.set(id, { id, secret: createSecretKey(secret) });
  }
  const [current] = byId.values();
  if (!current) throw new Error('must contain a key');
  return { current, byId };
}

/** A stored secret: the id of its key, and AES-256-GCM's nonce, ciphertext and tag in a row. */
export interface Sealed {
  keyId: string;
  ciphertext: Buffer;
}

/** Encrypts with the current key. Opening needs the same `context`, such as the secret's owner. */
export function seal(ring: KeyRing, plaintext: string, context: string): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', ring.current.secret, nonce);
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return { keyId: ring.current.id, ciphertext: Buffer.concat([nonce, body, cipher.getAuthTag()]) };
}

/** Decrypts. @throws Error when the key is not in the ring or the text was altered */
export function open(ring: KeyRing, sealed: Sealed, context: string): string {
  const key = ring.byId.get(sealed.keyId);
  if (!key) throw new Error(`SECRETS_KEY has no key ${sealed.keyId}, which a stored secret needs`);
  const nonce = sealed.ciphertext.subarray(0, NONCE_BYTES);
  const tag = sealed.ciphertext.subarray(-TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key.secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(tag);
  const body = sealed.ciphertext.subarray(NONCE_BYTES, -TAG_BYTES);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}

const derivedKeys = new WeakMap<Key, Map<string, Buffer>>();

/** Derives a key for one purpose, so that a ring can serve several. Keeps it while the key lives. */
export function derivedKey(key: Key, purpose: string): Buffer {
  const known = derivedKeys.get(key) ?? new Map<string, Buffer>();
  derivedKeys.set(key, known);
  const derived =
    known.get(purpose) ?? Buffer.from(hkdfSync('sha256', key.secret, '', purpose, KEY_BYTES));
  known.set(purpose, derived);
  return derived;
}

/** Returns a MAC under a derived key. */
export function mac(derived: Buffer, message: string): Buffer {
  return createHmac('sha256', derived).update(message).digest();
}

/** Compares in a time that does not depend on where the two differ. */
export function equalInConstantTime(a: string | Buffer, b: string | Buffer): boolean {
  // Digests have one length, so this also hides the lengths.
  const digest = (value: string | Buffer) => createHmac('sha256', 'equal').update(value).digest();
  return timingSafeEqual(digest(a), digest(b));
}
