import { type Database, firstRow, inTransaction } from '../../connections/database.ts';
import { equalInConstantTime, type KeyRing } from '../../process/key-ring.ts';
import { Refusal } from '../errors.ts';
import { isOnList } from '../ip-allow-list.ts';
import { appSecrets } from '../merchants/app-secrets.ts';
import type { Product } from '../merchants/manage-apps.ts';
import type { MerchantRecord } from '../merchants/manage-merchants.ts';
import { givenOtp, useOtp } from './one-time-password.ts';
import { isPassword } from './password.ts';
import { type Access, IP_ALLOWED, requireAccess } from './require-access.ts';
import { rotateFamily, startFamily, TOKEN_FIELDS, type TokenPair, verifyToken } from './tokens.ts';

/** Whom a pair of tokens stands for: an app of the merchant, or a person, who has no app. */
interface Holder
  extends Pick<MerchantRecord, 'id' | 'name' | 'email' | 'phone_number' | 'approved'> {
  app_code: number | null;
  products: Product[] | null;
}

/** A pair of tokens, and whose they are. */
export type Tokens = TokenPair & ReturnType<typeof holderFields>;

/**
 * Exchanges an app's key and secret for a pair of tokens, the first of a new family.
 * @throws Refusal `invalid_app_credentials`, `ip_not_allowed`, `merchant_inactive`, `app_inactive`
 */
export async function issueAppTokens(
  database: Database,
  keys: { secretsKeys: KeyRing; jwtKeys: KeyRing },
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
  if (!app || !match) throw new Refusal('invalid_app_credentials');
  requireAccess(app);
  const { merchant_id, app_code } = app;
  const subject = { merchant_id, app_code };
  const started = await startFamily(database, keys.jwtKeys, subject, { secret_id: match.id }, ip);
  if (!started) throw new Refusal('invalid_app_credentials');
  const { family: _family, ...tokens } = started;
  return { ...tokens, ...holderFields(app) };
}

export interface PersonCredentials {
  email: string;
  password: string;
  /** A one-time password, or a recovery code, of whoever uses them. */
  otp?: string | undefined;
}

/** A person who may log in, by the merchant's row. */
interface PersonRow extends Holder, Access {
  user_id: string;
  password_hash: string;
  totp: boolean;
}

/**
 * Logs a person in. The password is checked first, and the one-time password last, so that a log-in
 * that is refused for something else does not spend it.
 * @throws Refusal `invalid_credentials`, `ip_not_allowed`, `merchant_inactive`, `otp_required`,
 * `invalid_otp`
 */
export async function logInUser(
  database: Database,
  keys: { secretsKeys: KeyRing; jwtKeys: KeyRing },
  { email, password, otp }: PersonCredentials,
  ip: string | null = null,
): Promise<Tokens> {
  const user = await firstRow<PersonRow>(
    database,
    `SELECT u.id AS user_id, u.password_hash, u.totp, m.*, NULL AS app_code, NULL AS products,
       m.active AS merchant_active, true AS app_active,
       ${isOnList('m.user_ip_allow_list')} AS ip_allowed
     FROM users u JOIN merchants m ON m.id = u.merchant_id
     WHERE u.email = lower(:email) AND u.active`,
    { email, ip },
  );
  const isRight = await isPassword(password, user?.password_hash);
  if (!user || !isRight) throw new Refusal('invalid_credentials');
  requireAccess(user);
  const code = user.totp ? givenOtp(otp) : null;
  const tokens = await startSession(database, keys, user, code, ip);
  return { ...tokens, ...holderFields(user) };
}

/** Starts a family first: it locks the person's row, as every change of a person's access does. */
function startSession(
  database: Database,
  { secretsKeys, jwtKeys }: { secretsKeys: KeyRing; jwtKeys: KeyRing },
  { id, user_id, password_hash, totp }: PersonRow,
  otp: string | null,
  ip: string | null,
): Promise<TokenPair> {
  const subject = { merchant_id: id, user_id };
  return inTransaction(database, async (trx) => {
    const proof = { password_hash, with_totp: totp };
    const started = await startFamily(trx, jwtKeys, subject, proof, ip);
    if (!started) throw new Refusal('invalid_credentials');
    const { family, ...tokens } = started;
    if (otp !== null) await useOtp(trx, secretsKeys, { ...subject, family, ip }, otp);
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
  const holder = await firstRow<RefreshingRow>(
    database,
    `SELECT m.*, f.app_code, a.products, f.revoked_at IS NULL AND f.current_jti = :jti AS living,
       f.ends_at <= now() AS ended,
       m.active AS merchant_active, coalesce(a.active, true) AS app_active,
       coalesce(u.active, true) AS user_active, ${IP_ALLOWED} AS ip_allowed
     FROM token_families f JOIN merchants m ON m.id = f.merchant_id
     LEFT JOIN apps a ON a.merchant_id = f.merchant_id AND a.code = f.app_code
     LEFT JOIN users u ON u.merchant_id = f.merchant_id AND u.id = f.user_id
     WHERE f.id = :fam`,
    { ...claims, ip },
  );
  // A refusal here does not spend the token. A token that was spent before is not refused here:
  // the rotation ends its family.
  if (holder?.living) {
    if (holder.ended) throw new Refusal('refresh_expired', TOKEN_FIELDS.refresh);
    if (!holder.user_active) throw new Refusal('token_revoked', TOKEN_FIELDS.refresh);
    requireAccess(holder);
  }
  const tokens = await rotateFamily(database, jwtKeys, claims, ip);
  if (!holder) throw new Refusal('token_revoked', TOKEN_FIELDS.refresh);
  return { ...tokens, ...holderFields(holder) };
}

interface RefreshingRow extends Holder, Access {
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
