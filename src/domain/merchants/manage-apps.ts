import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { revokeTokens } from '../identity/revoke-tokens.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import { type Differences, differences, newValues, type Page } from './differences.ts';
import { lockMerchant } from './manage-merchants.ts';
import { createApp, type Product, storeAppSecret } from './merchant.ts';

/** An app as its operator sees it, without its secrets. */
export interface AppRecord {
  code: number;
  merchant_id: number;
  name: string;
  app_key: string;
  products: Product[];
  active: boolean;
  /** From where it may call; empty: from anywhere. */
  ip_allow_list: string[];
  created_at: Date;
}

export type AppChanges = Partial<Pick<AppRecord, 'name' | 'products' | 'active' | 'ip_allow_list'>>;

const COLUMNS = 'code, merchant_id, name, app_key, products, active, ip_allow_list, created_at';

/** Apps in the order of their codes, of one merchant or of all. */
export function listApps(
  database: Database,
  page: Page<number> & { merchant_id: number | undefined },
): Promise<AppRecord[]> {
  return rows<AppRecord>(
    database,
    `SELECT ${COLUMNS} FROM apps
     WHERE code > :after AND merchant_id = coalesce(:merchant_id, merchant_id)
     ORDER BY code LIMIT :limit`,
    { after: page.after ?? 0, merchant_id: page.merchant_id ?? null, limit: page.limit },
  );
}

/**
 * Creates an app. @returns it with its secret, which cannot be read again.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function addApp(
  trx: Transaction,
  secretsKeys: KeyRing,
  merchantId: number,
  app: { name: string; products: Product[]; ipAllowList: string[] },
): Promise<{ app: AppRecord; appSecret: string }> {
  await lockMerchant(trx, merchantId);
  const { app_code: appCode, app_secret: appSecret } = await createApp(
    trx,
    secretsKeys,
    merchantId,
    app,
  );
  const updated = await updateApp(trx, appCode, { ip_allow_list: app.ipAllowList });
  return { app: updated.app, appSecret };
}

/**
 * Gives an app's columns other values. @returns it as it is now, and what became different.
 * @throws OperatorRefusal when there is no such app.
 */
export async function updateApp(
  trx: Transaction,
  appCode: number,
  { ip_allow_list, ...others }: AppChanges,
): Promise<{ app: AppRecord; changed: Differences }> {
  const before = await lockApp(trx, appCode);
  const wanted: AppChanges = others;
  if (ip_allow_list) wanted.ip_allow_list = await asStored(trx, ip_allow_list);
  const changed = differences(before, wanted);
  const names = Object.keys(changed);
  if (names.length === 0) return { app: before, changed };
  const app = await firstRow<AppRecord>(
    trx,
    `UPDATE apps SET ${names.map((name) => `${name} = :${name}`).join(', ')}
     WHERE code = :code RETURNING ${COLUMNS}`,
    { ...newValues(changed), code: appCode },
  );
  return { app: app!, changed };
}

/** Addresses as PostgreSQL writes them, to be compared with what is stored. */
async function asStored(trx: Transaction, addresses: string[]): Promise<string[]> {
  const row = await firstRow<{ list: string[] }>(trx, 'SELECT CAST(:addresses AS inet[]) AS list', {
    addresses,
  });
  return row!.list;
}

export interface RotatedSecret {
  app: AppRecord;
  app_secret: string;
  /** When the last of the old secrets stops to count; null when none counts any more. */
  oldSecretsUntil: Date | null;
  /** How many sessions were ended: all of them, or none while old secrets still count. */
  revoked: number;
}

/**
 * Gives an app a new secret. The old ones count for `overlapMs` more; with 0 they, and all
 * tokens that were issued for them, are worth nothing at once.
 * @throws OperatorRefusal when there is no such app.
 */
export async function rotateAppSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  appCode: number,
  overlapMs: number,
): Promise<RotatedSecret> {
  const app = await lockApp(trx, appCode);
  const subject = { merchant_id: app.merchant_id, app_code: appCode };
  const bindings = { ...subject, overlap_ms: overlapMs };
  await rows(
    trx,
    `UPDATE app_secrets SET expires_at = now() + :overlap_ms * interval '1 millisecond'
     WHERE merchant_id = :merchant_id AND app_code = :app_code
       AND (expires_at IS NULL OR expires_at > now() + :overlap_ms * interval '1 millisecond')`,
    bindings,
  );
  const old = await firstRow<{ until: Date | null }>(
    trx,
    `SELECT max(expires_at) AS until FROM app_secrets
     WHERE merchant_id = :merchant_id AND app_code = :app_code AND expires_at > now()`,
    bindings,
  );
  return {
    app,
    app_secret: await storeAppSecret(trx, secretsKeys, subject),
    oldSecretsUntil: old!.until,
    revoked: overlapMs === 0 ? await revokeTokens(trx, subject) : 0,
  };
}

async function lockApp(trx: Transaction, appCode: number): Promise<AppRecord> {
  const app = await firstRow<AppRecord>(
    trx,
    `SELECT ${COLUMNS} FROM apps WHERE code = :code FOR NO KEY UPDATE`,
    { code: appCode },
  );
  if (!app) throw new OperatorRefusal(`There is no app ${appCode}`);
  return app;
}
