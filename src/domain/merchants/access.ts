import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, rows } from '../../database.ts';
import { equalInConstantTime, type KeyRing } from '../../key-ring.ts';
import { Refusal } from '../errors.ts';
import type { Rate } from '../money.ts';
import { appSecrets, type Product } from './merchant.ts';

export const ACCESS_LIFETIME_S = 15 * 60;
export const REFRESH_LIFETIME_S = 7 * 24 * 3_600;
const ALGORITHM = 'HS256';

export interface TokenPair {
  access: string;
  refresh: string;
  merchantId: number;
  appCode: number;
  products: Product[];
}

interface AppRow {
  code: number;
  merchant_id: number;
  products: Product[];
  app_active: boolean;
  merchant_active: boolean;
}

/**
 * Exchanges an app's key and secret for a pair of tokens, the first of a new family.
 * @throws Refusal `app_credentials_invalid`, `merchant_inactive`, `app_inactive`
 */
export async function issueAppTokens(
  database: Database,
  keys: { secretsKeys: KeyRing; jwtKeys: KeyRing },
  credentials: { appKey: string; appSecret: string },
): Promise<TokenPair> {
  const app = await firstRow<AppRow>(
    database,
    `SELECT a.code, a.merchant_id, a.products, a.active AS app_active, m.active AS merchant_active
     FROM apps a JOIN merchants m ON m.id = a.merchant_id WHERE a.app_key = :app_key`,
    { app_key: credentials.appKey },
  );
  const secrets = app
    ? await appSecrets(database, keys.secretsKeys, app.merchant_id, app.code)
    : [];
  // Every secret is compared, so that the answer's duration says nothing about any of them.
  const matches = secrets.filter((secret) => equalInConstantTime(secret, credentials.appSecret));
  if (!app || matches.length === 0) throw new Refusal('app_credentials_invalid');
  if (!app.merchant_active) throw new Refusal('merchant_inactive');
  if (!app.app_active) throw new Refusal('app_inactive');
  const tokens = await startFamily(database, keys.jwtKeys, app);
  return { ...tokens, merchantId: app.merchant_id, appCode: app.code, products: app.products };
}

async function startFamily(database: Database, jwtKeys: KeyRing, app: AppRow) {
  const family = uuidv7();
  const jti = randomUUID();
  await rows(
    database,
    `INSERT INTO token_families (id, merchant_id, app_code, current_jti, expires_at)
     VALUES (:id, :merchant_id, :app_code, :jti, now() + :lifetime_s * interval '1 second')`,
    {
      id: family,
      merchant_id: app.merchant_id,
      app_code: app.code,
      jti,
      lifetime_s: REFRESH_LIFETIME_S,
    },
  );
  return {
    access: sign(jwtKeys, { typ: 'access', fam: family }, ACCESS_LIFETIME_S),
    refresh: sign(jwtKeys, { typ: 'refresh', fam: family, jti }, REFRESH_LIFETIME_S),
  };
}

function sign(jwtKeys: KeyRing, claims: object, lifetimeS: number): string {
  const { id, secret } = jwtKeys.current;
  return jwt.sign(claims, secret, { algorithm: ALGORITHM, keyid: id, expiresIn: lifetimeS });
}

/** Who is calling: what a valid access token stands for. */
export interface Caller {
  merchantId: number;
  appCode: number;
  products: Product[];
  approved: boolean;
  /** The merchant's own commission, where it has one. */
  ownRate: { bps: number | null; fixedCents: number | null };
}

/**
 * Checks an access token: one verification and one indexed read.
 * @throws Refusal `token_invalid`, `token_revoked`, `merchant_inactive`, `app_inactive`
 */
export async function authenticate(
  database: Database,
  jwtKeys: KeyRing,
  token: string,
): Promise<Caller> {
  const family = familyOfAccessToken(jwtKeys, token);
  const row = await firstRow<{
    revoked: boolean;
    merchant_active: boolean;
    app_active: boolean;
    merchant_id: number;
    app_code: number;
    products: Product[];
    approved: boolean;
    commission_bps: number | null;
    commission_fixed_cents: number | null;
  }>(
    database,
    `SELECT f.revoked_at IS NOT NULL AS revoked, f.merchant_id, f.app_code,
       m.active AS merchant_active, m.approved, m.commission_bps, m.commission_fixed_cents,
       a.active AS app_active, a.products
     FROM token_families f
     JOIN merchants m ON m.id = f.merchant_id
     JOIN apps a ON a.merchant_id = f.merchant_id AND a.code = f.app_code
     WHERE f.id = :family`,
    { family },
  );
  if (!row) throw new Refusal('token_invalid');
  if (row.revoked) throw new Refusal('token_revoked');
  if (!row.merchant_active) throw new Refusal('merchant_inactive');
  if (!row.app_active) throw new Refusal('app_inactive');
  return {
    merchantId: row.merchant_id,
    appCode: row.app_code,
    products: row.products,
    approved: row.approved,
    ownRate: { bps: row.commission_bps, fixedCents: row.commission_fixed_cents },
  };
}

function familyOfAccessToken(jwtKeys: KeyRing, token: string): string {
  try {
    const keyId = jwt.decode(token, { complete: true })?.header.kid ?? '';
    const key = jwtKeys.byId.get(keyId);
    if (!key) throw new Refusal('token_invalid');
    const claims = jwt.verify(token, key.secret, { algorithms: [ALGORITHM] }) as jwt.JwtPayload;
    if (claims.typ !== 'access' || typeof claims.fam !== 'string')
      throw new Refusal('token_invalid');
    return claims.fam;
  } catch {
    throw new Refusal('token_invalid');
  }
}

/**
 * @throws Refusal `merchant_not_approved` (naming the operation), `product_missing`
 */
export function requireProduct(caller: Caller, product: Product, operation: string): void {
  if (!caller.approved) throw new Refusal('merchant_not_approved', operation);
  if (!caller.products.includes(product)) throw new Refusal('product_missing', product);
}

/** A merchant's commission: its own where it has one, else the default. */
export function rateOf(caller: Caller, defaults: Rate): Rate {
  return {
    bps: caller.ownRate.bps ?? defaults.bps,
    fixedCents: caller.ownRate.fixedCents ?? defaults.fixedCents,
  };
}
