import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import {
  derivedKey,
  equalInConstantTime,
  type Key,
  type KeyRing,
  mac,
  type Sealed,
} from '../../process/key-ring.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts';
import { Refusal } from '../errors.ts';
import {
  type AppRef,
  IS_VALID,
  newestSecretId,
  openSecret,
  SECRET_TABLES,
  type SecretKind,
} from '../merchants/app-secrets.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import { passwordProblem } from './password-problem.ts';
import { hashPassword } from './passwords.ts';
import type { UserRef } from './people.ts';
import { revokeTokens } from './sessions.ts';

/*
 * Who has seen the password of a user, or the secret of an app, can empty a wallet. So staff see none
 * where e-mail works: a link goes to the owner, who sets the password, or reads the secret, through
 * it. Its code is made when the e-mail is, so that it is nowhere else. A key of SECRETS_KEY signs the offer
 * and the code: a link that somebody has only written into the database is neither mailed nor good.
 */

/** A link is good once, and for so long after its e-mail. */
const SET_UP_MS = 24 * HOUR_MS;
/** An offer that could not be mailed for so long is void: see retention-rules.ts. */
const OFFER_MS = 2 * DAY_MS;
/** The time after which an e-mail is tried again, with another code. */
const TELL_AGAIN_MS = 5 * MINUTE_MS;
/** A code is a name of so many random bytes, then the signature. */
const NAME_BYTES = 16;
/** The key for this is derived from SECRETS_KEY, and serves nothing else. */
const PURPOSE = 'set-up-link';

/**
 * Offers a link to a user, or for the newest secret of an app. Older links of theirs end. It goes to the address of
 * the user, or of the merchant, of this moment.
 */
export async function offerSetUp(
  trx: Transaction,
  { current }: Pick<KeyRing, 'current'>,
  holder: UserRef | (AppRef & { kind: SecretKind }),
): Promise<void> {
  const none = { user_id: null, app_code: null, secret_kind: null };
  const { kind: secret_kind = null, ...owner } = { kind: null, ...holder };
  const secret_id = 'kind' in holder ? await newestSecretId(trx, holder.kind, holder) : null;
  const names = { ...none, ...owner, secret_kind, secret_id };
  await rows(
    trx,
    `DELETE FROM set_ups WHERE merchant_id = :merchant_id AND (user_id = CAST(:user_id AS uuid)
       OR app_code = CAST(:app_code AS bigint) AND secret_kind = :secret_kind)`,
    names,
  );
  const email = await addressOf(trx, names);
  const link = { ...names, id: uuidv7(), email, created_at: new Date() };
  await rows(
    trx,
    `INSERT INTO set_ups (${SIGNED.join(', ')}, signature)
     VALUES (${SIGNED.map((column) => `:${column}`).join(', ')}, :signature)`,
    { ...link, signature: signatureOf(current, OFFER, link) },
  );
}

async function addressOf(
  trx: Transaction,
  names: Pick<SignedLink, 'merchant_id' | 'user_id'>,
): Promise<string> {
  const found = await firstRow<{ email: string }>(
    trx,
    `SELECT coalesce(u.email, m.email) AS email FROM merchants m
     LEFT JOIN users u ON u.merchant_id = m.id AND u.id = CAST(:user_id AS uuid)
     WHERE m.id = :merchant_id`,
    names,
  );
  return found!.email;
}

/** A link that was not used, as staff may see it. */
export interface OpenSetUp {
  secret_kind: SecretKind | null;
  /** Null: its e-mail has not gone out. */
  good_until: Date | null;
}

/** Lists the links of a user or of an app that were not used. They may be too old by now. */
export function openSetUps(
  database: Database,
  { merchant_id, ...holder }: UserRef | AppRef,
): Promise<OpenSetUp[]> {
  return rows<OpenSetUp>(
    database,
    `SELECT secret_kind, CASE WHEN tell_at IS NULL THEN expires_at END AS good_until FROM set_ups
     WHERE merchant_id = :merchant_id
       AND (user_id = CAST(:user_id AS uuid) OR app_code = CAST(:app_code AS bigint))
     ORDER BY id`,
    { user_id: null, app_code: null, merchant_id, ...holder },
  );
}

/** Ends all links of a merchant. */
export async function endSetUps(trx: Transaction, merchant_id: number): Promise<void> {
  await rows(trx, 'DELETE FROM set_ups WHERE merchant_id = :merchant_id', { merchant_id });
}

/** A link that is to be mailed. Without an app it is a user's, for a password. */
export interface SetUp extends SignedLink {
  code: string;
  code_hash: Buffer;
  expires_at: Date;
  merchant_name: string;
}

/**
 * Takes a link that was not mailed, with a code of its own, so that no other process mails it for a
 * while. A code that was mailed before is good no more.
 * @returns null when all were mailed
 * @throws Error when the service has not offered it. It is deleted then.
 */
export async function takeSetUp(
  database: Database,
  { current, byId }: KeyRing,
): Promise<SetUp | null> {
  const name = randomBytes(NAME_BYTES);
  const taken = await firstRow<Omit<SetUp, 'code'> & { signature: Buffer }>(
    database,
    `WITH taken AS (
       UPDATE set_ups SET code_hash = :code_hash,
         expires_at = now() + :set_up_ms * interval '1 millisecond',
         tell_at = now() + :again_ms * interval '1 millisecond'
       WHERE id = (SELECT id FROM set_ups WHERE tell_at <= now()
         ORDER BY tell_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
       RETURNING *
     )
     SELECT t.*, m.name AS merchant_name FROM taken t JOIN merchants m ON m.id = t.merchant_id`,
    { code_hash: hashOf(name), set_up_ms: SET_UP_MS, again_ms: TELL_AGAIN_MS },
    'fresh',
  );
  if (!taken) return null;
  const isOld = taken.created_at.getTime() < Date.now() - OFFER_MS;
  if (isOld || !isSigned(byId, OFFER, taken, taken.signature)) {
    await rows(database, 'DELETE FROM set_ups WHERE id = :id', taken);
    throw new Error(`The service has not offered the set-up link ${taken.id} now: it is deleted`);
  }
  const code = Buffer.concat([name, signatureOf(current, name, taken)]).toString('base64url');
  return { ...taken, code };
}

/** Keeps that a link was mailed. */
export async function endSetUpMail(
  database: Database,
  { id, code_hash }: Pick<SetUp, 'id' | 'code_hash'>,
): Promise<void> {
  await rows(
    database,
    'UPDATE set_ups SET tell_at = NULL WHERE id = :id AND code_hash = :code_hash',
    { id, code_hash },
  );
}

interface Used {
  code: string;
  ip: string | null;
}

/**
 * Sets the password of the user whose link has the code. All sessions of the user end.
 * @throws Refusal `invalid_set_up_code`, and `invalid_field` when the password is too easy to guess
 */
export async function setUpPassword(
  database: Database,
  secretsKeys: KeyRing,
  { code, ip, new_password }: Used & { new_password: string },
): Promise<void> {
  const code_hash = hashOf(nameOf(code));
  const user = await firstRow<UserRef & { email: string }>(
    database,
    `SELECT u.merchant_id, u.id AS user_id, u.email
     FROM set_ups s JOIN users u ON u.merchant_id = s.merchant_id AND u.id = s.user_id
     WHERE s.code_hash = :code_hash AND s.expires_at > now() AND u.active`,
    { code_hash },
  );
  if (!user) throw new Refusal('invalid_set_up_code');
  if (passwordProblem(new_password, [user.email]) !== null) {
    throw new Refusal('invalid_field', 'new_password');
  }
  const password_hash = await hashPassword(new_password);
  const { merchant_id, user_id } = user;
  await inTransaction(database, async (trx) => {
    // The row of the user comes first, as where staff replace the password.
    await rows(
      trx,
      `UPDATE users SET password_hash = :password_hash, must_change_password = false
       WHERE merchant_id = :merchant_id AND id = :user_id`,
      { merchant_id, user_id, password_hash },
    );
    await spend(trx, secretsKeys, code);
    const sessions_ended = await revokeTokens(trx, { merchant_id, user_id });
    const event = { merchant_id, user_id, ip, detail: { sessions_ended, by: 'link' } };
    await recordSecurityEvent(trx, { ...event, kind: 'password_changed' });
  });
}

/** A secret of an app, as its owner reads it once. */
export interface ReadSecret {
  app_code: number;
  app_key: string;
  kind: SecretKind;
  secret: string;
}

/**
 * Reads the secret of an app whose link has the code. The link is good once.
 * @throws Refusal `invalid_set_up_code`, also when the secret has ended
 */
export async function readSecret(
  database: Database,
  secretsKeys: KeyRing,
  { code, ip }: Used,
): Promise<ReadSecret> {
  return inTransaction(database, async (trx) => {
    const spent = await spend(trx, secretsKeys, code);
    const { merchant_id, app_code, secret_kind: kind, secret_id } = spent;
    if (app_code === null || kind === null) throw new Refusal('invalid_set_up_code');
    const row = await firstRow<Sealed & { app_key: string }>(
      trx,
      `SELECT s.key_id AS "keyId", s.ciphertext, a.app_key
       FROM ${SECRET_TABLES[kind]} s JOIN apps a ON a.merchant_id = s.merchant_id AND a.code = s.app_code
       WHERE s.merchant_id = :merchant_id AND s.id = :secret_id AND ${IS_VALID}`,
      { merchant_id, secret_id },
    );
    if (!row) throw new Refusal('invalid_set_up_code');
    const event = { merchant_id, app_code, ip, detail: { secret: kind } };
    await recordSecurityEvent(trx, { ...event, kind: 'secret_read' });
    const secret = openSecret(secretsKeys, kind, row, { merchant_id, app_code });
    return { app_code, app_key: row.app_key, kind, secret };
  });
}

/** The columns that are signed. */
const SIGNED = [
  ...(['id', 'merchant_id', 'user_id', 'app_code', 'secret_kind', 'secret_id'] as const),
  ...(['email', 'created_at'] as const),
] as const;
/** Stands for the name of a code where the offer is signed. */
const OFFER = Buffer.from('offer');

interface SignedLink {
  id: string;
  merchant_id: number;
  user_id: string | null;
  app_code: number | null;
  secret_kind: SecretKind | null;
  secret_id: string | null;
  /** The address that it goes to. */
  email: string;
  created_at: Date;
}

/** @throws Refusal `invalid_set_up_code`, also when no key of the ring has signed the code for this link */
async function spend(trx: Transaction, { byId }: KeyRing, code: string): Promise<SignedLink> {
  const name = nameOf(code);
  const spent = await firstRow<SignedLink>(
    trx,
    `DELETE FROM set_ups WHERE code_hash = :code_hash AND expires_at > now()
     RETURNING ${SIGNED.join(', ')}`,
    { code_hash: hashOf(name) },
  );
  const signature = Buffer.from(code, 'base64url').subarray(NAME_BYTES);
  if (!spent || !isSigned(byId, name, spent, signature)) throw new Refusal('invalid_set_up_code');
  return spent;
}

function isSigned(
  keys: KeyRing['byId'],
  name: Buffer,
  link: SignedLink,
  signature: Buffer,
): boolean {
  return [...keys.values()].some((key) =>
    equalInConstantTime(signatureOf(key, name, link), signature),
  );
}

function signatureOf(key: Key, name: Buffer, link: SignedLink): Buffer {
  const fields = [name.toString('base64url'), ...SIGNED.map((column) => link[column])];
  return mac(derivedKey(key, PURPOSE), JSON.stringify(fields));
}

function nameOf(code: string): Buffer {
  return Buffer.from(code, 'base64url').subarray(0, NAME_BYTES);
}

function hashOf(name: Buffer): Buffer {
  return createHash('sha256').update(name).digest();
}
