import { randomBytes, randomUUID, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, inTransaction, rows } from '../../database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../key-ring.ts';

export type Product = 'collections' | 'payouts' | 'disbursements';
export type Role = 'Admin' | 'Finance' | 'Operator';

export interface NewMerchant {
  name: string;
  email: string;
  phoneNumber: string;
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
        phone_number: merchant.phoneNumber,
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
  appCode: number;
  appKey: string;
  /** Shown once; it also signs the app's webhooks. */
  appSecret: string;
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
  const appSecret = `as_${randomBytes(APP_SECRET_BYTES).toString('base64url')}`;
  return inTransaction(database, async (trx) => {
    const row = await firstRow<{ code: number }>(
      trx,
      `INSERT INTO apps (merchant_id, name, app_key, products)
       VALUES (:merchant_id, :name, :app_key, :products) RETURNING code`,
      { merchant_id: merchantId, name: app.name, app_key: appKey, products: app.products },
    );
    const appCode = row!.code;
    const sealed = seal(secretsKeys, appSecret, sealContext(appCode));
    await rows(
      trx,
      `INSERT INTO app_secrets (id, merchant_id, app_code, key_id, ciphertext)
       VALUES (:id, :merchant_id, :app_code, :key_id, :ciphertext)`,
      {
        id: uuidv7(),
        merchant_id: merchantId,
        app_code: appCode,
        key_id: sealed.keyId,
        ciphertext: sealed.ciphertext,
      },
    );
    return { appCode, appKey, appSecret };
  });
}

/** The secrets of an app that count now, newest first: the first signs, any authenticates. */
export async function appSecrets(
  database: Database,
  secretsKeys: KeyRing,
  merchantId: number,
  appCode: number,
): Promise<string[]> {
  const sealed = await rows<Sealed>(
    database,
    `SELECT key_id AS "keyId", ciphertext FROM app_secrets
     WHERE merchant_id = :merchant_id AND app_code = :app_code
       AND (expires_at IS NULL OR expires_at > now())
     ORDER BY created_at DESC, id DESC`,
    { merchant_id: merchantId, app_code: appCode },
  );
  return sealed.map((secret) => open(secretsKeys, secret, sealContext(appCode)));
}

/** Binds a ciphertext to its app, so that it is worth nothing in another row. */
function sealContext(appCode: number): string {
  return `app_secret:${appCode}`;
}

const SCRYPT_KEY_BYTES = 32;
const SALT_BYTES = 16;
const scryptAsync = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  keyBytes: number,
) => Promise<Buffer>;

/** Creates a person who may log in for a merchant. @returns the user's id. */
export async function createUser(
  database: Database,
  merchantId: number,
  user: { email: string; password: string; role: Role },
): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await scryptAsync(user.password, salt, SCRYPT_KEY_BYTES);
  const id = randomUUID();
  await rows(
    database,
    `INSERT INTO users (id, merchant_id, email, password_hash, role)
     VALUES (:id, :merchant_id, :email, :password_hash, :role)`,
    {
      id,
      merchant_id: merchantId,
      email: user.email.toLowerCase(),
      password_hash: `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`,
      role: user.role,
    },
  );
  return id;
}
