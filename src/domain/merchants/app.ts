import { randomBytes } from 'node:crypto';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { holdNewAccess } from '../access/new-access.ts';
import { asStored } from '../address.ts';
import {
  type AuditedChange,
  type AuditSubject,
  endedSessions,
  type RowChange,
} from '../audit/audit.ts';
import { revokeTokens } from '../credentials/sessions.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import {
  changeEvents,
  revocationEvents,
  webhookSecretRotated,
} from '../security/security-events.ts';
import { type Differences, updateRow } from '../update-row.ts';
import { type AppRef, endSecrets, type SecretKind, storeSecret } from './app-secrets.ts';
import { lockMerchant } from './merchant.ts';
import { holdUpClaims } from './outgoing-hold.ts';

export const PRODUCTS = ['collections', 'payouts', 'disbursements'] as const;
export type Product = (typeof PRODUCTS)[number];

/** An app as its operator sees it, without its secrets. */
export interface AppRecord {
  code: number;
  merchant_id: number;
  name: string;
  app_key: string;
  products: Product[];
  active: boolean;
  /** The addresses that it may call from. An empty list allows every address. */
  ip_allow_list: string[];
  /** Only `chooseWebhookSecret` changes it. */
  signs_webhooks_with: SecretKind;
  created_at: Date;
}

export type AppChanges = Partial<Pick<AppRecord, 'name' | 'products' | 'active' | 'ip_allow_list'>>;

const COLUMNS = `code, merchant_id, name, app_key, products, active, ip_allow_list,
  signs_webhooks_with, created_at`;

/** The table as `updateRow` takes it. */
const APPS = { name: 'apps', key: ['code'], columns: COLUMNS };

export interface AppCredentials {
  app_code: number;
  app_key: string;
  /** Shown once. It also signs the app's webhooks, unless the app chooses a secret for that. */
  app_secret: string;
}

const APP_KEY_BYTES = 16;

/** Creates an app of a merchant with fresh credentials. The secret is stored encrypted. */
export async function createApp(
  database: Database,
  secretsKeys: KeyRing,
  merchantId: number,
  app: { name: string; products: Product[] },
): Promise<AppCredentials> {
  const app_key = `ak_${randomBytes(APP_KEY_BYTES).toString('hex')}`;
  return inTransaction(database, async (trx) => {
    const row = await firstRow<AppRef>(
      trx,
      `INSERT INTO apps (merchant_id, name, app_key, products)
       VALUES (:merchant_id, :name, :app_key, :products)
       RETURNING merchant_id, code AS app_code`,
      { ...app, merchant_id: merchantId, app_key },
    );
    const app_secret = await storeSecret(trx, secretsKeys, 'app', row!);
    return { app_code: row!.app_code, app_key, app_secret };
  });
}

/**
 * Creates an app for an operator, with the line for the audit log. Its secret cannot be read again.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function registerApp(
  trx: Transaction,
  secretsKeys: KeyRing,
  merchantId: number,
  { ip_allow_list, ...wanted }: Pick<AppRecord, 'name' | 'products' | 'ip_allow_list'>,
  holdMs: number,
): Promise<AuditedChange<{ app: AppRecord; app_secret: string }>> {
  await lockMerchant(trx, merchantId);
  const { app_code, app_secret } = await createApp(trx, secretsKeys, merchantId, wanted);
  await holdNewAccess(trx, { merchant_id: merchantId, app_code }, holdMs);
  const { app } = await updateApp(trx, app_code, { ip_allow_list });
  const { name, products } = app;
  const details = { name, products, ip_allow_list: app.ip_allow_list };
  return {
    value: { app, app_secret },
    audit: auditOf(app, details),
    events: [{ kind: 'app_created', merchant_id: merchantId, app_code }],
  };
}

/** Lists the apps of one merchant or of all, in the order of their codes. */
export function listApps(
  database: Database,
  { merchant_id, after = 0, limit }: KeysetPage<number> & { merchant_id?: number | undefined },
): Promise<AppRecord[]> {
  return rows<AppRecord>(
    database,
    `SELECT ${COLUMNS} FROM apps
     WHERE code > :after AND merchant_id = coalesce(:merchant_id, merchant_id)
     ORDER BY code LIMIT :limit`,
    { merchant_id: merchant_id ?? null, after, limit },
  );
}

/** Returns the code of the newest app of a merchant, or null. */
export async function newestAppOf(
  database: Database | Transaction,
  merchant_id: number,
): Promise<number | null> {
  const row = await firstRow<{ code: number | null }>(
    database,
    'SELECT max(code) AS code FROM apps WHERE merchant_id = :merchant_id',
    { merchant_id },
  );
  return row!.code;
}

/**
 * Sets columns of an app. A suspension ends all sessions of the app for good.
 * @returns the app as it is now, what has changed, and how many sessions were ended.
 * @throws OperatorRefusal when there is no such app.
 */
export async function updateApp(
  trx: Transaction,
  appCode: number,
  { ip_allow_list, ...others }: AppChanges,
): Promise<{ app: AppRecord; changed: Differences; revoked: number }> {
  if (others.active === false) {
    await holdUpClaims(trx, (await requireApp(trx, appCode)).merchant_id);
  }
  const before = await requireApp(trx, appCode, 'FOR NO KEY UPDATE');
  const wanted: AppChanges = others;
  if (ip_allow_list) wanted.ip_allow_list = await asStored(trx, ip_allow_list);
  const { row: app, changed } = await updateRow<AppRecord>(trx, APPS, before, wanted);
  const subject = { merchant_id: app.merchant_id, app_code: appCode };
  const revoked = wanted.active === false ? await revokeTokens(trx, subject) : 0;
  return { app, changed, revoked };
}

export interface AppChange extends RowChange<AppRecord> {
  /** The number of sessions that were ended. */
  revoked: number;
  /** The app's first webhook secret of its own, which cannot be read again. */
  webhook_secret: string | null;
}

/**
 * Changes an app for an operator. A suspension ends all its sessions for good.
 * @param signsWith chooses what signs its webhooks from now on
 * @throws OperatorRefusal when there is no such app.
 */
export async function changeApp(
  trx: Transaction,
  secretsKeys: KeyRing,
  code: number,
  wanted: AppChanges,
  signsWith?: SecretKind,
): Promise<AppChange> {
  const { app, changed, revoked } = await updateApp(trx, code, wanted);
  const { merchant_id } = app;
  const subject = { merchant_id, app_code: code };
  const change = {
    row: app,
    merchant_id,
    revoked,
    webhook_secret: null,
    changed: { ...changed, ...endedSessions(revoked) },
    events: [
      ...changeEvents(subject, changed, 'app_suspended'),
      ...revocationEvents(subject, revoked),
    ],
  };
  if (!signsWith) return change;
  const chosen = await chooseWebhookSecret(trx, secretsKeys, code, signsWith);
  // Other secrets sign webhooks from now on.
  const isOther = chosen.changed.signs_webhooks_with !== undefined;
  return {
    ...change,
    row: chosen.app,
    webhook_secret: chosen.webhook_secret,
    changed: { ...change.changed, ...chosen.changed },
    events: [
      ...change.events,
      ...(isOther ? [webhookSecretRotated(app, { signs_with: signsWith })] : []),
    ],
  };
}

export interface ChosenSecret {
  app: AppRecord;
  changed: Differences;
  /** The app's first own secret, which cannot be read again. Null when it got none. */
  webhook_secret: string | null;
}

/**
 * Lets webhooks of an app be signed with secrets of this kind from now on. An app that chooses
 * `own` gets one. Its own secrets end when it goes back to `app`.
 * @throws OperatorRefusal when there is no such app.
 */
export async function chooseWebhookSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  appCode: number,
  kind: SecretKind,
): Promise<ChosenSecret> {
  const before = await requireApp(trx, appCode, 'FOR NO KEY UPDATE');
  const wanted = { signs_webhooks_with: kind };
  const { row: app, changed } = await updateRow<AppRecord>(trx, APPS, before, wanted);
  if (before.signs_webhooks_with === kind) return { app, changed, webhook_secret: null };
  const ref = { merchant_id: app.merchant_id, app_code: appCode };
  if (kind === 'own') {
    return { app, changed, webhook_secret: await storeSecret(trx, secretsKeys, kind, ref) };
  }
  await endSecrets(trx, 'own', ref, 0);
  return { app, changed, webhook_secret: null };
}

/** Reads an app. @throws OperatorRefusal when there is no such app. */
export async function requireApp(
  database: Database | Transaction,
  appCode: number,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<AppRecord> {
  const app = await firstRow<AppRecord>(
    database,
    `SELECT ${COLUMNS} FROM apps WHERE code = :code ${lock}`,
    { code: appCode },
  );
  if (!app) throw new OperatorRefusal(`There is no app ${appCode}`);
  return app;
}

/** Returns the line of the audit log about a change of an app. */
export function auditOf(
  { code, merchant_id }: AppRecord,
  details: Record<string, unknown>,
): AuditSubject {
  return { merchant_id, subject: `app ${code}`, details };
}
