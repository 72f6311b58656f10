import { type Database, firstRow, inTransaction } from '../../connections/database.ts';
import { equalInConstantTime, type KeyRing } from '../../process/key-ring.ts';
import {
  type Access,
  type AccessHolder,
  holderOf,
  IP_ALLOWED,
  requireAccess,
} from '../access/require-access.ts';
import { isOnList } from '../address.ts';
import { Refusal } from '../errors.ts';
import type { Product } from '../merchants/app.ts';
import { appSecrets } from '../merchants/app-secrets.ts';
import type { MerchantRecord } from '../merchants/merchant.ts';
import { accountHash } from './log-in-limit.ts';
import { givenOtp, useOtp } from './one-time-passwords.ts';
import { provePassword, renewHash } from './passwords.ts';
import { USERS, type UserRef } from './people.ts';
import {
  rotateFamily,
  startFamily,
  TOKEN_FIELDS,
  type TokenPair,
  tokenRevoked,
  verifyToken,
} from './tokens.ts';

/** Whom a pair of tokens stands for: an app of the merchant, or a person, who has no app. */
interface Holder
  extends Pick<MerchantRecord, 'id' | 'name' | 'email' | 'phone_number' | 'approved'> {
  app_code: number | null;
  products: Product[] | null;
}

/** A pair of tokens, and whose they are. */
export type Tokens = TokenPair & ReturnType<typeof holderFields>;

/** Keys that a log-in needs. */
interface Keys {
  secretsKeys: KeyRing;
  jwtKeys: KeyRing;
}

/**
 * Exchanges an app's key and secret for a pair of tokens, the first of a new family.
 * @throws Refusal `invalid_app_credentials`, `ip_not_allowed`, `merchant_inactive`, `app_inactive`
 */
export async function issueAppTokens(
  database: Database,
  keys: Keys,
  { app_key, app_secret }: { app_key: string; app_secret: string },
  ip: string | null = null,
): Promise<Tokens> {
  const app = await firstRow<Holder & Access & { merchant_id: number; app_code: number }>(
    database,
    `SELECT m.*, a.code AS app_code, a.merchant_id, a.products, a.active AS app_active,
       m.active AS merchant_active, ${IP_ALLOWED} AS ip_allowed
     FROM apps a JOIN merchants m ON m.id = a.merchant_id WHERE a.app_key = :app_key`,
    { app_key, ip },
  );
  const secrets = app ? await appSecrets(database, keys.secretsKeys, app) : [];
  // Compares every secret, so that the duration of the answer tells nothing about any of them.
  const [match] = secrets.filter(({ secret }) => equalInConstantTime(secret, app_secret));
  const account_hash = accountHash(keys.secretsKeys, app_key);
  const holder = { merchant_id: app?.merchant_id, app_code: app?.app_code };
  const refuse = () => wrongCredentials('invalid_app_credentials', holder, account_hash);
  if (!app || !match) throw refuse();
  requireAccess(app, holder);
  const subject = { merchant_id: app.merchant_id, app_code: app.app_code };
  const proof = { secret_id: match.id };
  const started = await startFamily(database, keys.jwtKeys, subject, proof, { ip, account_hash });
  if (!started) throw refuse();
  const { family: _family, ...tokens } = started;
  return { ...tokens, ...holderFields(app) };
}

export interface PersonCredentials {
  email: string;
  password: string;
  /** A one-time password or a recovery code, for users who have set them up. */
  otp?: string | undefined;
}

/** How often a log-in reads the password's hash. Another one of the same moment may renew it once. */
const PROOF_TRIES = 2;

/**
 * Logs a person in. The password is checked first, and the one-time password last, so that a log-in
 * that is refused for something else does not spend it. A hash that costs less than today's is
 * replaced.
 * @throws Refusal `invalid_credentials`, `ip_not_allowed`, `merchant_inactive`, `otp_required`,
 * `invalid_otp`, `unavailable`
 */
export async function logInUser(
  database: Database,
  keys: Keys,
  { email, password, otp }: PersonCredentials,
  ip: string | null = null,
): Promise<Tokens> {
  const account_hash = accountHash(keys.secretsKeys, USERS.accountOf(email));
  for (let tries = 1; ; tries++) {
    const user = await activeUser(database, email, ip);
    const proven = await provePassword(password, user?.password_hash);
    const subject = { merchant_id: user?.merchant_id, user_id: user?.user_id };
    const refuse = () => wrongCredentials('invalid_credentials', subject, account_hash);
    if (!user || !proven) throw refuse();
    requireAccess(user, subject);
    const password_hash = await renewHash(database, user, proven);
    const code = user.totp ? givenOtp(otp) : null;
    const origin = { ip, account_hash };
    const tokens = await startSession(database, keys, { ...user, password_hash }, code, origin);
    if (tokens) return { ...tokens, ...holderFields(user) };
    if (tries === PROOF_TRIES) throw refuse();
  }
}

/** A person who may log in, by the merchant's row. */
interface User extends Holder, Access, UserRef {
  password_hash: string;
  totp: boolean;
}

function activeUser(
  database: Database,
  email: string,
  ip: string | null,
): Promise<User | undefined> {
  return firstRow<User>(
    database,
    `SELECT u.merchant_id, u.id AS user_id, u.password_hash, u.totp, m.*, NULL AS app_code, NULL AS products,
       m.active AS merchant_active, true AS app_active,
       ${isOnList('m.user_ip_allow_list')} AS ip_allowed
     FROM users u JOIN merchants m ON m.id = u.merchant_id
     WHERE u.email = lower(:email) AND u.active`,
    { email, ip },
  );
}

function wrongCredentials(
  code: 'invalid_app_credentials' | 'invalid_credentials' | 'invalid_otp',
  holder: AccessHolder,
  account_hash: string,
): Refusal {
  return new Refusal(code).recordedAs({ kind: 'log_in_failed', ...holder, account_hash });
}

/**
 * Starts a family first: it locks the person's row, as every change of a person's access does.
 * @returns null when password or second factor have changed meanwhile.
 */
function startSession(
  database: Database,
  { secretsKeys, jwtKeys }: Keys,
  { merchant_id, user_id, password_hash, totp }: User,
  otp: string | null,
  origin: { ip: string | null; account_hash: string },
): Promise<TokenPair | null> {
  const subject = { merchant_id, user_id };
  return inTransaction(database, async (trx) => {
    const proof = { password_hash, with_totp: totp };
    const started = await startFamily(trx, jwtKeys, subject, proof, origin);
    if (!started) return null;
    const { family, ...tokens } = started;
    const person = { ...subject, family, ip: origin.ip };
    if (otp !== null && !(await useOtp(trx, secretsKeys, person, otp))) {
      throw wrongCredentials('invalid_otp', subject, origin.account_hash);
    }
    return tokens;
  });
}

/**
 * Exchanges a refresh token for a new pair, if its app or person still has access.
 * @throws Refusal `invalid_token`, `refresh_expired`, `token_revoked`, `ip_not_allowed`,
 * `merchant_inactive`, `app_inactive`
 */
export async function refreshTokens(
  database: Database,
  jwtKeys: KeyRing,
  refresh: string,
  ip: string | null,
): Promise<Tokens> {
  const claims = verifyToken(jwtKeys, refresh, 'refresh');
  const row = await firstRow<Refreshed>(
    database,
    `SELECT m.*, f.merchant_id, f.app_code, f.user_id, a.products, f.ends_at <= now() AS ended,
       f.revoked_at IS NULL AND f.current_jti = :jti AS living,
       m.active AS merchant_active, coalesce(a.active, true) AS app_active,
       coalesce(u.active, true) AS user_active, ${IP_ALLOWED} AS ip_allowed
     FROM token_families f JOIN merchants m ON m.id = f.merchant_id
     LEFT JOIN apps a ON a.merchant_id = f.merchant_id AND a.code = f.app_code
     LEFT JOIN users u ON u.merchant_id = f.merchant_id AND u.id = f.user_id
     WHERE f.id = :fam`,
    { ...claims, ip },
  );
  const holder = { ...(row && holderOf(row)), family: claims.fam };
  // A refusal here does not spend the token. A token that was spent before is not refused here:
  // the rotation ends its family.
  if (row?.living) {
    if (row.ended) throw new Refusal('refresh_expired', TOKEN_FIELDS.refresh);
    if (!row.user_active) throw tokenRevoked('refresh', holder);
    requireAccess(row, holder);
  }
  const tokens = await rotateFamily(database, jwtKeys, claims, holder, ip);
  if (!row) throw tokenRevoked('refresh', holder);
  return { ...tokens, ...holderFields(row) };
}

interface Refreshed extends Holder, Access {
  merchant_id: number;
  user_id: string | null;
  /** The token is the newest of a family that was not revoked. */
  living: boolean;
  /** The family is too old to be refreshed. */
  ended: boolean;
  user_active: boolean;
}

/** The same for every way to get tokens. The specification names the merchant's id in two ways. */
function holderFields({ id, app_code, products, approved, ...holder }: Holder) {
  const { name, email, phone_number } = holder;
  const merchant = { merchant_id: id, merchant_code: id, name, email, phone_number };
  return { ...merchant, requires_verification: !approved, app_code, products };
}
