import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { derivedKey, type KeyRing, mac } from '../../process/key-ring.ts';
import { MINUTE_MS } from '../../time.ts';
import { OperatorRefusal } from '../errors.ts';

/** The key for this is derived from SECRETS_KEY, as for callback addresses, and serves nothing else. */
const PURPOSE = 'security-account';

/**
 * Hashes the account of a log-in: an e-mail address in any case, or an app key. So events and limits
 * can be told apart by account, and a copy of the database does not name who was tried.
 */
export function accountHash({ current }: Pick<KeyRing, 'current'>, account: string): string {
  return hashUnder(derivedKey(current, PURPOSE), account);
}

/** Hashes an account under every key of the ring, to find events from before a rotation too. */
export function accountHashes({ byId }: Pick<KeyRing, 'byId'>, account: string): string[] {
  return [...byId.values()].map((key) => hashUnder(derivedKey(key, PURPOSE), account));
}

function hashUnder(key: Buffer, account: string): string {
  return mac(key, account.toLowerCase()).toString('hex');
}

/** Failed log-ins of one account that are answered at once, from all addresses together. */
export const FAILURES_AT_ONCE = 20;
/** The time after which one more is answered: 288 a day. */
export const FAILURE_EVERY_MS = 5 * MINUTE_MS;
/** How long the network of a log-in has a limit of its own. */
const KNOWN_NETWORK_DAYS = 30;
/** Stands for all networks that the account was not logged in to from lately. */
const OTHER_NETWORKS = '0.0.0.0/0';

/** The limit that a log-in counts against. */
interface LogInLimit {
  account_hash: string;
  network: string;
}

/** A log-in that was counted, or the time until the next one is answered. */
type CountedLogIn = { limit: LogInLimit; retryInMs: null } | { limit: null; retryInMs: number };

/**
 * Counts a log-in as if it had failed, so that simultaneous ones count too. `takeBackLogIn` corrects
 * that. All processes share the count. Known networks of an account have their own, so a stranger
 * who guesses without end does not lock the person out. Unknown accounts are counted alike.
 */
async function countLogIn(
  database: Database,
  { account_hash, network, known_by = account_hash }: CountedCheck,
): Promise<CountedLogIn> {
  const isKnown = network !== null && (await isKnownNetwork(database, known_by, network));
  const limit = { account_hash, network: isKnown ? network : OTHER_NETWORKS };
  const bindings = { ...limit, every_ms: FAILURE_EVERY_MS, at_once: FAILURES_AT_ONCE };
  if (await hasRow(database, COUNT, bindings)) return { limit, retryInMs: null };
  const row = await firstRow<{ retryInMs: number }>(database, WAIT, bindings);
  return { limit: null, retryInMs: row?.retryInMs ?? 0 };
}

/** A check of credentials whose failures are counted. */
export interface CountedCheck {
  account_hash: string;
  /** The caller's address or network. Null: it is not known. */
  network: string | null;
  /** The account whose log-ins make a network known. Default: the counted account. */
  known_by?: string;
  /** Tells whether an error says that the credentials were wrong. */
  isWrong(error: unknown): boolean;
  /** Makes the refusal after too many failures. */
  refuse(retryInMs: number): Error;
}

/**
 * Checks credentials, unless too many have failed for the account. A check counts as a failure until
 * it has ended otherwise, so simultaneous ones count too.
 * @param check is told whether the account was logged in to from this network lately
 * @throws what `refuse` makes, and what `check` throws
 */
export async function countFailures<Result>(
  database: Database,
  counted: CountedCheck,
  check: (isKnown: boolean) => Promise<Result>,
): Promise<Result> {
  const { limit, retryInMs } = await countLogIn(database, counted);
  if (!limit) throw counted.refuse(retryInMs);
  let isFailure = false;
  try {
    return await check(limit.network !== OTHER_NETWORKS);
  } catch (error) {
    isFailure = counted.isWrong(error);
    throw error;
  } finally {
    // The limit mends itself, so the answer does not fail with the database here.
    if (!isFailure) await takeBackLogIn(database, limit).catch(() => {});
  }
}

/** Takes a log-in back that did not fail. An account without failures has no row. */
async function takeBackLogIn(database: Database, limit: LogInLimit): Promise<void> {
  const row = await firstRow<{ is_full: boolean }>(
    database,
    `UPDATE log_in_limits SET full_at = full_at - ${EVERY} WHERE ${IS_LIMIT}
     RETURNING full_at <= now() AS is_full`,
    { ...limit, every_ms: FAILURE_EVERY_MS },
  );
  // Another log-in may have been counted meanwhile.
  if (row?.is_full) {
    await rows(database, `DELETE FROM log_in_limits WHERE ${IS_LIMIT} AND full_at <= now()`, limit);
  }
}

/**
 * Forgets the failures of an account, so that its person may log in at once.
 * @param account_hashes are the hashes under every key. @returns whether there were any.
 */
export async function forgetFailures(
  trx: Transaction,
  account_hashes: readonly string[],
): Promise<boolean> {
  const forgotten = await rows<{ counted: boolean }>(
    trx,
    `DELETE FROM log_in_limits WHERE account_hash = ANY (CAST(:account_hashes AS text[]))
     RETURNING full_at > now() AS counted`,
    { account_hashes },
  );
  return forgotten.some(({ counted }) => counted);
}

/** One admin alone could let somebody be guessed at without end. */
const MAX_FORGOTTEN_PER_DAY = 3;

/**
 * Refuses to forget failures so often.
 * @param lines are the lines of the audit log that tell of it
 * @throws OperatorRefusal when the failures of the account were forgotten three times within a day
 */
export async function refuseManyForgotten(
  trx: Transaction,
  lines: { subject: string; action: string },
): Promise<void> {
  const lately = await rows(
    trx,
    `SELECT FROM audit_log WHERE subject = :subject AND action = :action
       AND details ? 'failed_log_ins' AND happened_at > now() - interval '1 day'
     LIMIT ${MAX_FORGOTTEN_PER_DAY}`,
    lines,
  );
  if (lately.length < MAX_FORGOTTEN_PER_DAY) return;
  throw new OperatorRefusal(
    `The failures of ${lines.subject} were forgotten ${MAX_FORGOTTEN_PER_DAY} times within a day: the limit ends by itself, or somebody resets the one-time passwords (reset-totp)`,
  );
}

const IS_LIMIT = 'account_hash = :account_hash AND network = CAST(:network AS inet)';
const EVERY = `CAST(:every_ms AS integer) * interval '1 millisecond'`;

/**
 * The bucket is full at `full_at`, and empty when it needs too long to be full again. By the clock,
 * because a statement may have waited for others that began later.
 */
const COUNT = `
  INSERT INTO log_in_limits AS l (account_hash, network, full_at)
  VALUES (:account_hash, CAST(:network AS inet), clock_timestamp() + ${EVERY})
  ON CONFLICT (account_hash, network) DO UPDATE
    SET full_at = greatest(l.full_at, clock_timestamp()) + ${EVERY}
    WHERE greatest(l.full_at, clock_timestamp()) + ${EVERY}
      <= clock_timestamp() + CAST(:at_once AS integer) * ${EVERY}
  RETURNING 1`;

const WAIT = `
  SELECT CAST(extract(epoch FROM full_at + ${EVERY} - CAST(:at_once AS integer) * ${EVERY} - now())
    * 1000 AS float8) AS "retryInMs"
  FROM log_in_limits WHERE ${IS_LIMIT}`;

/** Tells whether somebody has logged in to the account from a network lately. */
function isKnownNetwork(
  database: Database,
  account_hash: string,
  network: string,
): Promise<boolean> {
  return hasRow(
    database,
    `SELECT FROM security_events
     WHERE account_hash = :account_hash AND kind = 'log_in' AND ip <<= CAST(:network AS inet)
       AND at > now() - CAST(:days AS integer) * interval '1 day'
     LIMIT 1`,
    { account_hash, network, days: KNOWN_NETWORK_DAYS },
  );
}
