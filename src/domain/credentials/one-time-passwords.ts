import { createHash, randomBytes } from 'node:crypto';
import { generateSecret, generateURI, verifySync } from 'otplib';
import { v7 as uuidv7 } from 'uuid';
import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import { Refusal } from '../errors.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import {
  eventBy,
  type Person,
  type PersonRef,
  type Realm,
  realmOf,
  type UserRef,
} from './people.ts';

/** One-time passwords by time, RFC 6238, in the form that every authenticator app knows. */
const STEP_S = 30;
const DIGITS = 6;
/** A clock may be one step away from ours, in either direction. */
const DRIFT_S = STEP_S;
/** The name that an authenticator app shows. */
const ISSUER = 'Malipo';
const TOTP_CODE = new RegExp(`^\\d{${DIGITS}}$`);

/** Binds a sealed secret to its person, so that it cannot be opened in another row. */
export function totpContext({ totpContext }: Realm, id: string): string {
  return `${totpContext}:${id}`;
}

function contextOf(person: PersonRef): string {
  return totpContext(realmOf(person), 'user_id' in person ? person.user_id : person.staff_id);
}

/** SQL that is true of the secret of a person. */
function isOwner({ owner }: Realm): string {
  return owner.map((column) => `${column} = :${column}`).join(' AND ');
}

/** A new secret of one-time passwords. It is shown once. */
export interface NewTotp {
  /** In base32, for typing. */
  secret: string;
  /** The same for a QR code. */
  otpauth_uri: string;
}

/** Gives a person a fresh secret, in place of any other. It is stored encrypted. */
export async function storeTotpSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  person: PersonRef,
  email: string,
): Promise<NewTotp> {
  const secret = generateSecret();
  const { totpSecrets, owner } = realmOf(person);
  await rows(
    trx,
    `INSERT INTO ${totpSecrets} (id, ${owner.join(', ')}, key_id, ciphertext)
     VALUES (:id, ${owner.map((column) => `:${column}`).join(', ')}, :keyId, :ciphertext)
     ON CONFLICT (${owner.join(', ')}) DO UPDATE SET id = excluded.id, key_id = excluded.key_id,
       ciphertext = excluded.ciphertext, last_step = 0, created_at = excluded.created_at`,
    { ...person, ...seal(secretsKeys, secret, contextOf(person)), id: uuidv7() },
  );
  const times = { period: STEP_S, digits: DIGITS };
  return { secret, otpauth_uri: generateURI({ issuer: ISSUER, label: email, secret, ...times }) };
}

/** Tells whether a person has a secret, in use or not yet confirmed. */
export function hasTotpSecret(trx: Transaction, person: PersonRef): Promise<boolean> {
  const realm = realmOf(person);
  return hasRow(trx, `SELECT FROM ${realm.totpSecrets} WHERE ${isOwner(realm)}`, person);
}

/**
 * Uses a one-time password of a person. Each time step is good once, and no step before one that
 * was used: of two simultaneous uses, one finds the step taken.
 * @returns whether it was right.
 */
export async function useTotp(
  trx: Transaction,
  secretsKeys: KeyRing,
  person: PersonRef,
  code: string,
): Promise<boolean> {
  const realm = realmOf(person);
  const row = await firstRow<Sealed & { id: string; now_s: number }>(
    trx,
    `SELECT id, key_id AS "keyId", ciphertext,
       CAST(extract(epoch FROM clock_timestamp()) AS double precision) AS now_s
     FROM ${realm.totpSecrets} WHERE ${isOwner(realm)}`,
    person,
  );
  if (!row) return false;
  const step = timeStepOf(open(secretsKeys, row, contextOf(person)), code, row.now_s);
  if (step === null) return false;
  return hasRow(
    trx,
    `UPDATE ${realm.totpSecrets} SET last_step = :step
     WHERE ${isOwner(realm)} AND id = :id AND last_step < :step RETURNING id`,
    { ...person, id: row.id, step },
  );
}

/**
 * Returns the time step of a one-time password, or null when it is wrong.
 * @param nowS is the Unix time in seconds. A password may be one step away from it.
 */
function timeStepOf(secret: string, code: string, nowS: number): number | null {
  if (!TOTP_CODE.test(code)) return null;
  const times = { epoch: Math.floor(nowS), period: STEP_S, epochTolerance: DRIFT_S };
  const result = verifySync({ secret, token: code, digits: DIGITS, ...times });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
}

/** Says whether a person logs in with one-time passwords. */
export async function setTotp(trx: Transaction, person: PersonRef, totp: boolean): Promise<void> {
  const { people, isPerson } = realmOf(person);
  await rows(trx, `UPDATE ${people} SET totp = :totp WHERE ${isPerson}`, { ...person, totp });
}

/** Switches one-time passwords off for a person, and forgets the secret and the recovery codes. */
export async function removeTotp(trx: Transaction, person: PersonRef): Promise<void> {
  const realm = realmOf(person);
  await rows(trx, `DELETE FROM ${realm.totpSecrets} WHERE ${isOwner(realm)}`, person);
  if ('user_id' in person) await forgetRecoveryCodes(trx, person);
  await setTotp(trx, person, false);
}

/** Forgets a secret that was begun and not confirmed: somebody else may have begun it. */
export async function removeUnconfirmedTotp(trx: Transaction, person: PersonRef): Promise<void> {
  const realm = realmOf(person);
  await rows(
    trx,
    `DELETE FROM ${realm.totpSecrets} WHERE ${isOwner(realm)}
       AND NOT (SELECT totp FROM ${realm.people} WHERE ${realm.isPerson})`,
    person,
  );
}

/** Returns the one-time password of a request. @throws Refusal `otp_required` */
export function givenOtp(otp: string | undefined): string {
  if (!otp) throw new Refusal('otp_required');
  return otp;
}

/**
 * Uses a one-time password of a user, or a recovery code in its place. Spaces and dashes do not
 * matter. The use is undone with the transaction, so one that is refused later stays good.
 * @returns whether it was right.
 */
export async function useOtp(
  trx: Transaction,
  secretsKeys: KeyRing,
  person: Person,
  otp: string,
): Promise<boolean> {
  const code = plainCode(otp);
  if (await useTotp(trx, secretsKeys, person, code)) return true;
  if (!(await useRecoveryCode(trx, person, code))) return false;
  await recordSecurityEvent(trx, { ...eventBy(person), kind: 'recovery_code_used' });
  return true;
}

/** Returns a code as it is made, however people write it. */
export function plainCode(otp: string): string {
  return otp.replace(/[\s-]/g, '').toLowerCase();
}

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
