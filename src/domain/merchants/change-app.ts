import type { Transaction } from '../../connections/database.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { type AuditedChange, endedSessions, type RowChange } from '../audit/audit.ts';
import { changeEvents, revocationEvents, webhookSecretRotated } from '../security/change-events.ts';
import { type AppChanges, type AppRecord, addApp, updateApp } from './app.ts';
import type { ReplacedSecret, SecretKind } from './app-secrets.ts';
import {
  chooseWebhookSecret,
  type RotatedSecret,
  rotateAppSecret,
  rotateWebhookSecret,
} from './rotate-secrets.ts';

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
