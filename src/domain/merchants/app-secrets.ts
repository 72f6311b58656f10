import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { type KeyRing, open, type Sealed, seal } from '../../process/key-ring.ts';

export interface AppRef {
  merchant_id: number;
  app_code: number;
}

/**
 * An app signs in with its `app` secret. Its webhooks are signed with the secrets of the kind that
 * `apps.signs_webhooks_with` names. An `own` secret signs webhooks and lets nobody in, so it is in
 * a table of its own.
 */
export const SECRET_KINDS = ['app', 'own'] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];

export const SECRET_TABLES: Readonly<Record<SecretKind, string>> = {
  app: 'app_secrets',
  own: 'webhook_secrets',
};

const SECRET_BYTES = 32;

const TEXTS: Readonly<Record<SecretKind, (bytes: Buffer) => string>> = {
  app: (bytes) => `as_${bytes.toString('base64url')}`,
  own: (bytes) => `whsec_${bytes.toString('base64')}`,
};

/** SQL that is true of a secret that has not ended. */
export const IS_VALID = '(expires_at IS NULL OR expires_at > now())';

/** Gives an app a fresh secret, now its newest, and stores it encrypted. @returns the secret. */
export async function storeSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  kind: SecretKind,
  app: AppRef,
): Promise<string> {
  const secret = TEXTS[kind](randomBytes(SECRET_BYTES));
  // Not now(): a transaction that waited for another one began earlier but has the newer secret.
  await rows(
    trx,
    `INSERT INTO ${SECRET_TABLES[kind]}
       (id, merchant_id, app_code, key_id, ciphertext, created_at)
     VALUES (:id, :merchant_id, :app_code, :keyId, :ciphertext, clock_timestamp())`,
    { ...app, ...seal(secretsKeys, secret, sealContext(kind, app)), id: uuidv7() },
  );
  return secret;
}

export interface ReplacedSecret {
  secret: string;
  /** The expiry of the last old secret; null when no old secret is valid. */
  old_secrets_until: Date | null;
}

/** Gives an app a fresh secret. The old ones stay valid for `overlapMs`; with 0 they end at once. */
export async function replaceSecret(
  trx: Transaction,
  secretsKeys: KeyRing,
  kind: SecretKind,
  app: AppRef,
  overlapMs: number,
): Promise<ReplacedSecret> {
  await endSecrets(trx, kind, app, overlapMs);
  const old = await firstRow<{ until: Date | null }>(
    trx,
    `SELECT max(expires_at) AS until FROM ${SECRET_TABLES[kind]}
     WHERE merchant_id = :merchant_id AND app_code = :app_code AND expires_at > now()`,
    app,
  );
  return {
    secret: await storeSecret(trx, secretsKeys, kind, app),
    old_secrets_until: old!.until,
  };
}

/** Lets the secrets of an app end after `overlapMs`, unless they end sooner. */
export async function endSecrets(
  trx: Transaction,
  kind: SecretKind,
  app: AppRef,
  overlapMs: number,
): Promise<void> {
  await rows(
    trx,
    `UPDATE ${SECRET_TABLES[kind]} SET expires_at = now() + :overlap_ms * interval '1 millisecond'
     WHERE merchant_id = :merchant_id AND app_code = :app_code
       AND (expires_at IS NULL OR expires_at > now() + :overlap_ms * interval '1 millisecond')`,
    { ...app, overlap_ms: overlapMs },
  );
}

/** Ends all secrets of this kind of a merchant's apps at once. @returns how many were valid. */
export async function endAllSecrets(
  trx: Transaction,
  kind: SecretKind,
  merchant_id: number,
): Promise<number> {
  const ended = await rows(
    trx,
    `UPDATE ${SECRET_TABLES[kind]} SET expires_at = now()
     WHERE merchant_id = :merchant_id AND ${IS_VALID} RETURNING id`,
    { merchant_id },
  );
  return ended.length;
}

/** Reads the valid secrets that let an app in, newest first. */
export async function appSecrets(
  database: Database,
  secretsKeys: KeyRing,
  app: AppRef,
): Promise<{ id: string; secret: string }[]> {
  const sealed = await rows<Sealed & { id: string }>(
    database,
    `SELECT id, key_id AS "keyId", ciphertext FROM app_secrets
     WHERE merchant_id = :merchant_id AND app_code = :app_code AND ${IS_VALID}
     ORDER BY created_at DESC, id DESC`,
    app,
  );
  return sealed.map((row) => ({ id: row.id, secret: openSecret(secretsKeys, 'app', row, app) }));
}

/** Returns the id of the newest secret of an app, whether it is valid or not; null without one. */
export async function newestSecretId(
  database: Database | Transaction,
  kind: SecretKind,
  app: AppRef,
): Promise<string | null> {
  const row = await firstRow<{ id: string }>(
    database,
    `SELECT id FROM ${SECRET_TABLES[kind]}
     WHERE merchant_id = :merchant_id AND app_code = :app_code
     ORDER BY created_at DESC, id DESC LIMIT 1`,
    app,
  );
  return row?.id ?? null;
}

/** Returns SQL for the valid secrets that sign the webhooks of an app, a row of `apps`. */
export function signingSecretsOf(app: string): string {
  return SECRET_KINDS.map(
    (kind) => `SELECT id, key_id AS "keyId", ciphertext, created_at, expires_at
      FROM ${SECRET_TABLES[kind]}
      WHERE ${app}.signs_webhooks_with = '${kind}'
        AND merchant_id = ${app}.merchant_id AND app_code = ${app}.code AND ${IS_VALID}`,
  ).join(' UNION ALL ');
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
  { merchant_id, code }: { merchant_id: number; code: number },
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

/** Decrypts a secret of an app. @throws Error when the key is not in the ring */
export function openSecret(
  secretsKeys: KeyRing,
  kind: SecretKind,
  sealed: Sealed,
  app: AppRef,
): string {
  return open(secretsKeys, sealed, sealContext(kind, app));
}

const CONTEXTS: Readonly<Record<SecretKind, string>> = {
  app: 'app_secret',
  own: 'webhook_secret',
};

/** Binds a ciphertext to its app and kind, so that it cannot be opened in another row. */
export function sealContext(kind: SecretKind, { app_code }: Pick<AppRef, 'app_code'>): string {
  return `${CONTEXTS[kind]}:${app_code}`;
}
