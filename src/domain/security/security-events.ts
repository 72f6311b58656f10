import { channel } from 'node:diagnostics_channel';
import { v7 as uuidv7 } from 'uuid';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import type { KeysetPage } from '../lists.ts';
import type { Differences } from '../update-row.ts';

/** The events that matter to the people who watch over access. */
export const SECURITY_EVENT_KINDS = [
  'log_in',
  'log_in_failed',
  'log_in_limited',
  'log_in_limit_lifted',
  'refresh_token_reused',
  'revoked_token_used',
  'tokens_revoked',
  'app_secret_rotated',
  'webhook_secret_rotated',
  'role_changed',
  'allow_list_changed',
  'address_refused',
  'user_deactivated',
  'app_suspended',
  'merchant_suspended',
  'callbacks_dropped',
  'password_changed',
  'totp_begun',
  'totp_enabled',
  'totp_disabled',
  'totp_reset',
  'recovery_code_used',
  'recovery_codes_renewed',
  'logged_out',
  'session_ended',
  'access_released',
  'secret_read',
  'access_widened',
  'user_created',
  'app_created',
  'credentials_revoked',
  'staff_created',
  'staff_changed',
  'staff_token_renewed',
  'staff_totp_enabled',
  'staff_totp_reset',
  'staff_refused',
] as const;
export type SecurityEventKind = (typeof SECURITY_EVENT_KINDS)[number];

/** Whose access staff have changed so hears of it by e-mail: it may have been somebody else who asked. */
const TOLD_BY_EMAIL: ReadonlySet<SecurityEventKind> = new Set([
  'user_created',
  'app_created',
  'app_secret_rotated',
  'webhook_secret_rotated',
  'role_changed',
  'allow_list_changed',
  'access_widened',
  'password_changed',
  'totp_reset',
  'staff_created',
  'staff_changed',
  'staff_token_renewed',
  'staff_totp_enabled',
  'staff_totp_reset',
]);

/** One event. What is left out is not known, or has nothing to do with it. */
export interface SecurityEvent {
  kind: SecurityEventKind;
  merchant_id?: number | null | undefined;
  app_code?: number | null | undefined;
  user_id?: string | null | undefined;
  /** The operator or member of staff who did it, by name. */
  staff?: string | null | undefined;
  /** The family of tokens. */
  family?: string | null | undefined;
  /** The address that allow-lists see. */
  ip?: string | null | undefined;
  /** The result of `accountHash`, for an account that somebody tried. Never the account itself. */
  account_hash?: string | null | undefined;
  /** A few facts. No secrets and no personal data: many read it, and it is kept for long. */
  detail?: Record<string, unknown> | undefined;
  /** An e-mail address that hears of it besides the present ones. It is not kept with the event. */
  also_tell?: string | undefined;
}

/** Tells `{ kind }` of each event to the counters of this process. */
export const SECURITY_EVENTS = channel('malipo.security-event');

/** Counts an event, in a transaction after its commit. */
export function countSecurityEvent(
  executor: Database | Transaction,
  { kind }: Pick<SecurityEvent, 'kind'>,
): void {
  const count = () => SECURITY_EVENTS.publish({ kind });
  if (executor.isTransaction) (executor as Transaction).executionPromise.then(count, () => {});
  else count();
}

/**
 * Records an event, and counts it. Call it in the transaction of the change, if there is one. The
 * row cannot be changed, and cannot be deleted before its retention period is over.
 */
export async function recordSecurityEvent(
  executor: Database | Transaction,
  event: SecurityEvent,
): Promise<void> {
  countSecurityEvent(executor, event);
  const isTold = event.staff != null && TOLD_BY_EMAIL.has(event.kind);
  await rows(
    executor,
    `WITH event AS (
       INSERT INTO security_events
         (id, kind, merchant_id, app_code, user_id, staff, family, ip, account_hash, detail)
       VALUES (:id, :kind, :merchant_id, :app_code, :user_id, :staff, :family, :ip, :account_hash,
         CAST(:detail AS jsonb)) RETURNING id
     ) ${isTold ? 'INSERT INTO access_notices (event_id, also_tell) SELECT id, :also_tell FROM event' : 'SELECT FROM event'}`,
    {
      id: uuidv7(),
      kind: event.kind,
      merchant_id: event.merchant_id ?? null,
      app_code: event.app_code ?? null,
      user_id: event.user_id ?? null,
      staff: event.staff ?? null,
      family: event.family ?? null,
      ip: event.ip ?? null,
      account_hash: event.account_hash ?? null,
      detail: JSON.stringify(event.detail ?? {}),
      also_tell: event.also_tell ?? null,
    },
  );
}

/** An event as it is stored. */
export interface SecurityEventRecord extends Required<Omit<SecurityEvent, 'also_tell'>> {
  id: string;
  at: Date;
}

/** Selects events. Fields that are left out do not matter. */
export interface SecurityEventFilter {
  kind?: SecurityEventKind | undefined;
  merchant_id?: number | undefined;
  /** The hashes of one account, under every key. */
  account_hashes?: string[] | undefined;
  ip?: string | undefined;
  since?: Date | undefined;
  /** Happened before this moment. */
  until?: Date | undefined;
}

/** An index has each of the first four with the time, and one has the time alone. */
const CONDITIONS: Readonly<Record<keyof SecurityEventFilter, string>> = {
  kind: 'kind = :kind',
  merchant_id: 'merchant_id = :merchant_id',
  account_hashes: 'account_hash = ANY (CAST(:account_hashes AS text[]))',
  ip: 'ip = CAST(:ip AS inet)',
  since: 'at >= :since',
  until: 'at < :until',
};

/** Events that an export reads at a time. */
const EXPORT_PAGE = 1_000;

/**
 * Lists security events, newest first.
 * @throws OperatorRefusal when there is no event `after`
 */
export async function listSecurityEvents(
  database: Database,
  { after, limit, ...filter }: SecurityEventFilter & KeysetPage<string>,
): Promise<SecurityEventRecord[]> {
  if (after !== undefined) await requireEvent(database, after);
  const names = Object.keys(CONDITIONS) as (keyof SecurityEventFilter)[];
  const where = [
    ...names.filter((name) => filter[name] !== undefined).map((name) => CONDITIONS[name]),
    ...(after === undefined ? [] : [BEFORE]),
  ];
  return rows<SecurityEventRecord>(
    database,
    `SELECT id, at, kind, merchant_id, app_code, user_id, staff, family, ip, account_hash, detail
     FROM security_events WHERE ${where.join(' AND ') || 'true'}
     ORDER BY at DESC, id DESC LIMIT :limit`,
    { ...filter, after, limit },
  );
}

/**
 * Reads all events that fit, newest first and page by page, so that any number takes little memory.
 * Events that are added meanwhile are left out.
 */
export async function* allSecurityEvents(
  database: Database,
  filter: SecurityEventFilter & { after?: string | undefined },
): AsyncGenerator<SecurityEventRecord[]> {
  let { after } = filter;
  for (;;) {
    const page = await listSecurityEvents(database, { ...filter, after, limit: EXPORT_PAGE });
    if (page.length > 0) yield page;
    if (page.length < EXPORT_PAGE) return;
    after = page.at(-1)!.id;
  }
}

const BEFORE = `(at, id) < (
  SELECT at, id FROM security_events WHERE id = CAST(:after AS uuid))`;

async function requireEvent(database: Database, id: string): Promise<void> {
  const event = await firstRow(
    database,
    'SELECT 1 FROM security_events WHERE id = CAST(:id AS uuid)',
    { id },
  );
  if (!event) throw new OperatorRefusal(`There is no security event ${id}`);
}

/** Whose access has changed. */
export type Subject = Pick<SecurityEvent, 'merchant_id' | 'app_code' | 'user_id'>;

/** The kind of event that says that access has ended, by what a deactivated row is. */
type Ending = Extract<
  SecurityEventKind,
  'user_deactivated' | 'app_suspended' | 'merchant_suspended'
>;

/** Returns the security events of a change to a user, an app or a merchant. */
export function changeEvents(
  subject: Subject,
  changed: Differences,
  ending: Ending,
): SecurityEvent[] {
  const { role, active } = changed;
  const addresses = changed.ip_allow_list ?? changed.user_ip_allow_list;
  return [
    ...(role ? [{ ...subject, kind: 'role_changed' as const, detail: role }] : []),
    ...(addresses
      ? [{ ...subject, kind: 'allow_list_changed' as const, detail: sizes(addresses) }]
      : []),
    ...(active?.to === false ? [{ ...subject, kind: ending }] : []),
    ...widening(subject, changed),
  ];
}

/** What gives more access when it changes, or lets a merchant hear of less, with its name for people. */
const WIDENS: Readonly<Record<string, string>> = {
  email: 'e-mail address',
  products: 'products',
  debt_limit_cents: 'debt limit',
  totp_required_for: 'what needs a one-time password',
};

/** Returns the event of a change by which money could go out that could not before. */
function widening(subject: Subject, changed: Differences): SecurityEvent[] {
  const what = Object.keys(WIDENS).filter((name) => changed[name] !== undefined);
  const names = [
    ...what.map((name) => WIDENS[name]),
    ...(changed.active?.to === true ? ['active again'] : []),
    ...(changed.payouts_held?.to === false ? ['payouts released'] : []),
  ];
  if (names.length === 0) return [];
  const also_tell = changed.email?.from as string | undefined;
  return [{ ...subject, kind: 'access_widened', detail: { changed: names }, also_tell }];
}

/** Returns the event of sessions that were ended, if there were any. */
export function revocationEvents(subject: Subject, families: number): SecurityEvent[] {
  return families > 0 ? [{ ...subject, kind: 'tokens_revoked', detail: { families } }] : [];
}

/** Returns the event of another secret that signs an app's webhooks. */
export function webhookSecretRotated(
  { merchant_id, code }: { merchant_id: number; code: number },
  detail: SecurityEvent['detail'],
): SecurityEvent {
  return { kind: 'webhook_secret_rotated', merchant_id, app_code: code, detail };
}

/** The addresses themselves are in the audit log. No addresses: from anywhere. */
function sizes({ from, to }: Differences[string]) {
  const count = (addresses: unknown) => (addresses as unknown[]).length;
  return { addresses: { from: count(from), to: count(to) } };
}
