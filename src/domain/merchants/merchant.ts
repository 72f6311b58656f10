import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';
import { hashPassword } from '../identity/password.ts';

export type Product = 'collections' | 'payouts' | 'disbursements';
export type Role = 'Admin' | 'Finance' | 'Operator';

export interface NewMerchant {
  name: string;
  email: string;
  phone_number: string;
  approved: boolean;
}

/** Creates a merchant with its two empty wallets. @returns its id. */
export async function createMerchant(database: Database, merchant: NewMerchant): Promise<number> {
  return inTransaction(database, async (trx) => {
    const row = await firstRow<{ id: number }>(
      trx,
      `INSERT INTO merchants (name, email, phone_number, approved)
       VALUES (:name, :email, :phone_number, :approved) RETURNING id`,
      {
        name: merchant.name,
        email: merchant.email,
        phone_number: merchant.phone_number,
        approved: merchant.approved,
      },
    );
    await rows(
      trx,
      `INSERT INTO wallets (merchant_id, kind) VALUES (:id, 'collection'), (:id, 'payout')`,
      { id: row!.id },
    );
    return row!.id;
  });
}

export interface AppCredentials {
  app_code: number;
  app_key: string;
  /** Shown once; it also signs the app's webhooks. */
  app_secret: string;
}

const APP_KEY_BYTES = 16;
const APP_SECRET_BYTES = 32;

/** Creates an app of a merchant with fresh credentials; the secret is stored encrypted. */
export async function createApp(
  database: Database,
  secretsKeys: KeyRing,
  merchantId: number,
  app: { name: string; products: Product[] },
): Promise<AppCredentials> {
  const appKey = `ak_${randomBytes(APP_KEY_BYTES).toString('hex')}`;
  return inTransaction(database, async (trx) => {
    const row = await firstRow<{ code: number }>(
      trx,
      `INSERT INTO apps (merchant_id, name, app_key, products)
       VALUES (:merchant_id, :name, :app_key, :products) RETURNING code`,
      { merchant_id: merchantId, name: app.name, app_key: appKey, products: app.products },
    );
    const appCode = row!.code;
    return {
      app_code: appCode,
      app_key: appKey,
      app_secret: await storeAppSecret(trx, secretsKeys, {
        merchant_id: merchantId,
        app_code: appCode,
      }),
    };
  });
}

/** Gives an app a fresh secret, stored encrypted, which is its newest. @returns the secret. */
export async function storeAppSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  app: { merchant_id: number; app_code: number },
): Promise<string> {
  const appSecret = `as_${randomBytes(APP_SECRET_BYTES).toString('base64url')}`;
  const sealed = seal(secretsKeys, appSecret, sealContext(app.app_code));
  // By the clock, not the transaction's beginning: one that waited for another is the newer one.
  await rows(
    trx,
    `INSERT INTO app_secrets (id, merchant_id, app_code, key_id, ciphertext, created_at)
     VALUES (:id, :merchant_id, :app_code, :key_id, :ciphertext, clock_timestamp())`,
    {
      id: uuidv7(),
      merchant_id: app.merchant_id,
      app_code: app.app_code,
      key_id: sealed.keyId,
      ciphertext: sealed.ciphertext,
    },
  );
  return appSecret;
}

/** The secrets of an app that count now, newest first: the first signs, any authenticates. */
export async function appSecrets(
  database: Database,
  secretsKeys: KeyRing,
  merchantId: number,
  appCode: number,
): Promise<{ id: string; secret: string }[]> {
  const sealed = await rows<Sealed & { id: string }>(
    database,
    `SELECT id, key_id AS "keyId", ciphertext FROM app_secrets
     WHERE merchant_id = :merchant_id AND app_code = :app_code
       AND (expires_at IS NULL OR expires_at > now())
     ORDER BY created_at DESC, id DESC`,
    { merchant_id: merchantId, app_code: appCode },
  );
  return sealed.map((row) => ({
    id: row.id,
    secret: open(secretsKeys, row, sealContext(appCode)),
  }));
}

/** Binds a ciphertext to its app, so that it is worth nothing in another row. */
export function sealContext(appCode: number): string {
  return `app_secret:${appCode}`;
}

/** Creates a person who may log in for a merchant. @returns the user's id. */
export async function createUser(
  database: Database,
  merchantId: number,
  user: { email: string; password: string; role: Role },
): Promise<string> {
  const passwordHash = await hashPassword(user.password);
  const id = uuidv7();
  await rows(
    database,
    `INSERT INTO users (id, merchant_id, email, password_hash, role)
     VALUES (:id, :merchant_id, :email, :password_hash, :role)`,
    {
      id,
      merchant_id: merchantId,
      email: user.email.toLowerCase(),
      password_hash: passwordHash,
      role: user.role,
    },
  );
  return id;
}
