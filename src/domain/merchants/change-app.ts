import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { type AuditedChange, endedSessions, type RowChange } from '../audit/audit.ts';
import { revokeTokens } from '../credentials/sessions.ts';
import { OperatorRefusal } from '../errors.ts';
import {
  changeEvents,
  revocationEvents,
  webhookSecretRotated,
} from '../security/security-events.ts';
import { type Differences, updateRow } from '../update-row.ts';
import { APPS, type AppChanges, type AppRecord, addApp, requireApp, updateApp } from './app.ts';
import {
  endSecrets,
  type ReplacedSecret,
  replaceSecret,
  type SecretKind,
  signingSecretsOf,
  storeSecret,
} from './app-secrets.ts';

/** The longest overlap of old and new secrets. */
export const MAX_OVERLAP_DAYS = 30;
const MS_PER_S = 1_000;

/**
 * Creates an app for an operator, with the line for the audit log.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function registerApp(
  trx: Transaction,
  secretsKeys: KeyRing,
  merchant_id: number,
  wanted: Pick<AppRecord, 'name' | 'products' | 'ip_allow_list'>,
): Promise<AuditedChange<{ app: AppRecord; app_secret: string }>> {
  const value = await addApp(trx, secretsKeys, merchant_id, wanted);
  const { name, products, ip_allow_list } = value.app;
  return { value, audit: auditOf(value.app, { name, products, ip_allow_list }) };
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

/**
 * Gives an app a new secret for an operator, with the line for the audit log.
 * @param overlapMs is how long the old secrets still work; with 0 they end at once, and all sessions
 * @throws OperatorRefusal when there is no such app.
 */
export async function renewAppSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  code: number,
  overlapMs: number,
): Promise<AuditedChange<RotatedSecret>> {
  const value = await rotateAppSecret(trx, secretsKeys, code, overlapMs);
  const { app, old_secrets_until, revoked } = value;
  const overlap = { overlap_s: overlapMs / MS_PER_S };
  const subject = { merchant_id: app.merchant_id, app_code: code };
  const rotated = { ...subject, kind: 'app_secret_rotated', detail: overlap } as const;
  return {
    value,
    audit: auditOf(app, { ...overlap, old_secrets_until, revoked_token_families: revoked }),
    events: [rotated, ...revocationEvents(subject, revoked)],
  };
}

/**
 * Gives an app a new webhook secret for an operator, with the line for the audit log.
 * @param overlapMs is how long the old ones still sign; with 0 they end at once
 * @throws OperatorRefusal when there is no such app, or it signs webhooks with its app secret.
 */
export async function renewWebhookSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  code: number,
  overlapMs: number,
): Promise<AuditedChange<ReplacedSecret & { app: AppRecord }>> {
  const value = await rotateWebhookSecret(trx, secretsKeys, code, overlapMs);
  const { app, old_secrets_until } = value;
  const overlap = { overlap_s: overlapMs / MS_PER_S };
  return {
    value,
    audit: auditOf(app, { ...overlap, old_secrets_until }),
    events: [webhookSecretRotated(app, overlap)],
  };
}

function auditOf({ code, merchant_id }: AppRecord, details: Record<string, unknown>) {
  return { merchant_id, subject: `app ${code}`, details };
}

export interface RotatedSecret {
  app: AppRecord;
  app_secret: string;
  /** The expiry of the last old secret; null when no old secret is valid. */
  old_secrets_until: Date | null;
  /** The number of sessions that were ended: all of them, or none with an overlap. */
  revoked: number;
}

/**
 * Gives an app a new secret. The old secrets stay valid for `overlapMs`. With 0 they end at
 * once, and with them all tokens of the app.
 * @throws OperatorRefusal when there is no such app.
 */
export async function rotateAppSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  appCode: number,
  overlapMs: number,
): Promise<RotatedSecret> {
  const app = await requireApp(trx, appCode, 'FOR NO KEY UPDATE');
  const ref = { merchant_id: app.merchant_id, app_code: appCode };
  const { secret, old_secrets_until } = await replaceSecret(
    trx,
    secretsKeys,
    'app',
    ref,
    overlapMs,
  );
  return {
    app,
    app_secret: secret,
    old_secrets_until,
    revoked: overlapMs === 0 ? await revokeTokens(trx, ref) : 0,
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

/**
 * Gives an app a new webhook secret. The old ones stay valid for `overlapMs`; with 0 they end at
 * once.
 * @throws OperatorRefusal when there is no such app, or it signs webhooks with its app secret.
 */
export async function rotateWebhookSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  appCode: number,
  overlapMs: number,
): Promise<ReplacedSecret & { app: AppRecord }> {
  const app = await requireApp(trx, appCode, 'FOR NO KEY UPDATE');
  if (app.signs_webhooks_with !== 'own') {
    throw new OperatorRefusal(
      `App ${appCode} signs webhooks with its app secret: rotate that one, or choose app update ${appCode} --webhook-secret own`,
    );
  }
  const ref = { merchant_id: app.merchant_id, app_code: appCode };
  return { app, ...(await replaceSecret(trx, secretsKeys, 'own', ref, overlapMs)) };
}

export interface Signing {
  /** The moment from which the newest secret signs webhooks. Null: no secret is valid. */
  signs_webhooks_since: Date | null;
  /** The end of the overlap, in which older secrets sign too. Null without one. */
  older_secrets_sign_until: Date | null;
}

/** Reads since when the webhooks of an app are signed as they are. */
export async function signingOf(
  database: Database,
  { merchant_id, code }: AppRecord,
): Promise<Signing> {
  const row = await firstRow<Signing>(
    database,
    `SELECT max(s.expires_at) AS older_secrets_sign_until,
       CASE WHEN count(*) > 0 THEN
         greatest(max(s.created_at), CASE max(a.signs_webhooks_with) WHEN 'app' THEN (
           -- An app that went back to its app secret: its own secrets ended then.
           SELECT max(expires_at) FROM webhook_secrets
           WHERE merchant_id = :merchant_id AND app_code = :code
         ) END)
       END AS signs_webhooks_since
     FROM apps a CROSS JOIN LATERAL (${signingSecretsOf('a')}) AS s
     WHERE a.merchant_id = :merchant_id AND a.code = :code`,
    { merchant_id, code },
  );
  return row!;
}

/** Lists the apps whose webhooks wait because the app has no valid secret to sign them with. */
export async function appsWithUnsignedWebhooks(database: Database): Promise<number[]> {
  const apps = await rows<{ code: number }>(
    database,
    `SELECT code FROM apps a
     WHERE NOT EXISTS (${signingSecretsOf('a')}) AND EXISTS (
       SELECT FROM webhook_deliveries d
       JOIN events e ON e.merchant_id = d.merchant_id AND e.id = d.event_id
       WHERE d.merchant_id = a.merchant_id AND d.next_step IS NOT NULL AND e.app_code = a.code)
     ORDER BY code`,
  );
  return apps.map(({ code }) => code);
}
