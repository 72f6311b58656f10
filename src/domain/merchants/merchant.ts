import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { MINUTE_MS } from '../../time.ts';
import type { TotpOperation } from '../access/require-access.ts';
import { asStored } from '../address.ts';
import { type AuditedChange, endedSessions, type RowChange } from '../audit/audit.ts';
import { revokeAllTokens } from '../credentials/sessions.ts';
import { endSetUps } from '../credentials/set-ups.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import { changeEvents, revocationEvents } from '../security/security-events.ts';
import { type Differences, updateRow } from '../update-row.ts';
import { endAllSecrets, signingSecretsOf } from './app-secrets.ts';
import { countOpenOutgoing, holdUpClaims, type OpenOutgoing } from './outgoing-hold.ts';

/** A merchant as its operator sees it. NULL stands for the configuration's value. */
export interface MerchantRecord {
  id: number;
  name: string;
  email: string;
  phone_number: string;
  active: boolean;
  approved: boolean;
  /** Its payouts and reversals are accepted and wait. */
  payouts_held: boolean;
  /** It may pay out while its collection wallet is this far below zero, in cents. */
  debt_limit_cents: number;
  commission_bps: number | null;
  commission_fixed_cents: number | null;
  rate_limit_per_minute: number | null;
  rate_limit_burst: number | null;
  payout_limit_per_minute: number | null;
  payout_limit_burst: number | null;
  /** The addresses that its users may come from. An empty list allows every address. */
  user_ip_allow_list: string[];
  /** The operations for which its users must have logged in with a one-time password. */
  totp_required_for: TotpOperation[];
  created_at: Date;
}

/** The most that a commission may be: all of the amount. */
export const MAX_COMMISSION_BPS = 10_000;
/** The highest rate limit, in requests. */
export const MAX_RATE = 100_000;

type NewMerchant = Pick<MerchantRecord, 'name' | 'email' | 'phone_number' | 'approved'>;
export type MerchantChanges = Partial<Omit<MerchantRecord, 'id' | 'created_at'>>;

const COLUMNS = `id, name, email, phone_number, active, approved, payouts_held, debt_limit_cents,
  commission_bps, commission_fixed_cents, rate_limit_per_minute, rate_limit_burst,
  payout_limit_per_minute, payout_limit_burst,
  user_ip_allow_list, totp_required_for, created_at`;

/** Creates a merchant with its two empty wallets. @returns its id. */
export async function createMerchant(database: Database, merchant: NewMerchant): Promise<number> {
  return inTransaction(database, async (trx) => {
    const row = await firstRow<{ id: number }>(
      trx,
      `INSERT INTO merchants (name, email, phone_number, approved)
       VALUES (:name, :email, :phone_number, :approved) RETURNING id`,
      merchant,
    );
    await rows(
      trx,
      `INSERT INTO wallets (merchant_id, kind) VALUES (:id, 'collection'), (:id, 'payout')`,
      row!,
    );
    return row!.id;
  });
}

/** No name and no e-mail address is longer. */
export const MAX_SEARCH_LENGTH = 254;

/**
 * Lists merchants in the order of their ids. Every search for merchants has this rule.
 * @param what narrows the list to an id, or to a part of the name or the e-mail address
 */
export function listMerchants(
  database: Database,
  { after = 0, limit, what }: KeysetPage<number> & { what?: string | undefined },
): Promise<MerchantRecord[]> {
  return rows<MerchantRecord>(
    database,
    `SELECT ${COLUMNS} FROM merchants
     WHERE id > :after AND (CAST(:what AS text) IS NULL OR CAST(id AS text) = :what
       OR position(lower(:what) IN lower(name)) > 0 OR position(lower(:what) IN lower(email)) > 0)
     ORDER BY id LIMIT :limit`,
    { after, limit, what: what || null },
  );
}

/** Reads the names of some merchants. */
export async function namesOfMerchants(
  database: Database,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const found = await rows<{ id: number; name: string }>(
    database,
    'SELECT id, name FROM merchants WHERE id = ANY (:ids)',
    { ids },
  );
  return new Map(found.map(({ id, name }) => [id, name]));
}

/** Reads a merchant. @throws OperatorRefusal when there is no such merchant. */
export async function requireMerchant(
  database: Database | Transaction,
  id: number,
  lock: 'FOR NO KEY UPDATE' | '' = '',
): Promise<MerchantRecord> {
  const merchant = await firstRow<MerchantRecord>(
    database,
    `SELECT ${COLUMNS} FROM merchants WHERE id = :id ${lock}`,
    { id },
  );
  if (!merchant) throw new OperatorRefusal(`There is no merchant ${id}`);
  return merchant;
}

/**
 * Reads a merchant and makes other operators' changes to it wait. Payments do not wait.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function lockMerchant(trx: Transaction, id: number): Promise<MerchantRecord> {
  return requireMerchant(trx, id, 'FOR NO KEY UPDATE');
}

/**
 * Sets columns of a merchant. Waits for payouts and reversals that are being claimed, so a brake that is
 * committed holds every later one. A suspension ends all sessions of the merchant for good.
 * @returns the merchant as it is now, what has changed, and how many sessions were ended.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function updateMerchant(
  trx: Transaction,
  id: number,
  { user_ip_allow_list, ...others }: MerchantChanges,
): Promise<{ merchant: MerchantRecord; changed: Differences; revoked: number }> {
  await holdUpClaims(trx, id);
  const before = await lockMerchant(trx, id);
  const wanted: MerchantChanges = others;
  if (user_ip_allow_list) wanted.user_ip_allow_list = await asStored(trx, user_ip_allow_list);
  const table = { name: 'merchants', key: ['id'], columns: COLUMNS };
  const { row: merchant, changed } = await updateRow<MerchantRecord>(trx, table, before, wanted);
  const revoked = wanted.active === false ? await revokeAllTokens(trx, id) : 0;
  return { merchant, changed, revoked };
}

/** How many of a merchant's credentials were valid and have ended. */
interface RevokedCredentials {
  token_families: number;
  app_secrets: number;
  webhook_secrets: number;
}

/**
 * Ends all credentials of a merchant at once but the passwords of its people: sessions, app
 * secrets, and webhook secrets unless they are kept. It waits for log-ins that are under way, and
 * locks the merchant, then its apps, as operators' other changes do. So what a rotation or a log-in
 * has just made ends too.
 * @returns the counts, and the codes of the apps that have no secret left to sign webhooks with.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function revokeCredentials(
  trx: Transaction,
  merchant_id: number,
  { keepWebhookSecrets }: { keepWebhookSecrets: boolean },
): Promise<{ revoked: RevokedCredentials; unsigned: number[] }> {
  await holdUpClaims(trx, merchant_id);
  await lockMerchant(trx, merchant_id);
  await rows(
    trx,
    'SELECT FROM apps WHERE merchant_id = :merchant_id ORDER BY code FOR NO KEY UPDATE',
    { merchant_id },
  );
  const app_secrets = await endAllSecrets(trx, 'app', merchant_id);
  const webhook_secrets = keepWebhookSecrets ? 0 : await endAllSecrets(trx, 'own', merchant_id);
  const token_families = await revokeAllTokens(trx, merchant_id);
  await endSetUps(trx, merchant_id);
  const unsigned = await rows<{ code: number }>(
    trx,
    `SELECT code FROM apps a
     WHERE merchant_id = :merchant_id AND NOT EXISTS (${signingSecretsOf('a')}) ORDER BY code`,
    { merchant_id },
  );
  const revoked = { token_families, app_secrets, webhook_secrets };
  return { revoked, unsigned: unsigned.map(({ code }) => code) };
}

/** Creates a merchant for an operator, with the line for the audit log. */
export async function registerMerchant(
  trx: Transaction,
  merchant: NewMerchant,
): Promise<AuditedChange<MerchantRecord>> {
  const merchant_id = await createMerchant(trx, merchant);
  const value = await requireMerchant(trx, merchant_id);
  const subject = `merchant ${merchant_id}`;
  return { value, audit: { merchant_id, subject, details: { ...merchant } } };
}

export interface MerchantChange extends RowChange<MerchantRecord> {
  /** The number of sessions that were ended. */
  revoked: number;
  /** The payments that a brake holds, and those for which it comes too late. Null without a brake. */
  payouts: OpenOutgoing | null;
}

/**
 * Changes a merchant for an operator. A suspension ends all its sessions for good.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function changeMerchant(
  trx: Transaction,
  merchant_id: number,
  wanted: MerchantChanges,
): Promise<MerchantChange> {
  const { merchant: row, changed, revoked } = await updateMerchant(trx, merchant_id, wanted);
  const isBrake = wanted.active === false || wanted.payouts_held === true;
  return {
    row,
    merchant_id,
    revoked,
    changed: { ...changed, ...endedSessions(revoked) },
    events: [
      ...changeEvents({ merchant_id }, changed, 'merchant_suspended'),
      ...revocationEvents({ merchant_id }, revoked),
    ],
    payouts: isBrake ? await countOpenOutgoing(trx, merchant_id) : null,
  };
}

/** The credentials of a merchant that have ended. */
export interface EndedCredentials {
  revoked: RevokedCredentials;
  /** The codes of the apps that have no secret left to sign webhooks with. */
  unsigned: number[];
  /** False when nothing was left to end. */
  changed: boolean;
}

/**
 * Ends all sessions and secrets of a merchant for an operator, with the line for the audit log.
 * @throws OperatorRefusal when there is no such merchant.
 */
export async function endCredentials(
  trx: Transaction,
  merchant_id: number,
  { keepWebhookSecrets }: { keepWebhookSecrets: boolean },
): Promise<AuditedChange<EndedCredentials>> {
  const ended = await revokeCredentials(trx, merchant_id, { keepWebhookSecrets });
  const changed = Object.values(ended.revoked).some((count) => count > 0);
  const value = { ...ended, changed };
  if (!changed) return { value, audit: null };
  const details = { ...ended.revoked, kept_webhook_secrets: keepWebhookSecrets };
  const event = { kind: 'credentials_revoked', merchant_id, detail: details } as const;
  const audit = { merchant_id, subject: `merchant ${merchant_id}`, details };
  return { value, audit, events: [event] };
}

/** A changed name shows in prompts this long after the change at the latest. */
const MAX_AGE_MS = MINUTE_MS;
const MAX_NAMES = 10_000;

/** Returns a reader of merchants' names that asks the database once a minute for each. */
export function createMerchantNames(database: Database) {
  const known = new Map<number, { name: string; readAt: number }>();
  return async (merchantId: number): Promise<string> => {
    const found = known.get(merchantId);
    const now = performance.now();
    if (found && now - found.readAt < MAX_AGE_MS) return found.name;
    const row = await firstRow<{ name: string }>(
      database,
      'SELECT name FROM merchants WHERE id = :merchantId',
      { merchantId },
    );
    if (known.size >= MAX_NAMES) known.clear();
    const name = row?.name ?? '';
    known.set(merchantId, { name, readAt: now });
    return name;
  };
}
