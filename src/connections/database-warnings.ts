import { type DatabaseAddress, isUnverified } from './address.ts';
import { connectionsAtMost } from './connection-budget.ts';
import { type Database, firstRow } from './database.ts';

interface Situation extends DatabaseAddress {
  malipoEnv: 'development' | 'sandbox' | 'production';
  databasePoolMax?: number | undefined;
  redisUrl?: string | undefined;
}

/**
 * Returns a line, with what to do, for each setting of PostgreSQL that is allowed and may still
 * cost connections, secrecy or payments. Leaves out what this role may not read.
 */
export async function databaseWarnings(
  database: Database,
  config: Situation,
  processName: string,
): Promise<string[]> {
  const warnings = [isUnverified(config) ? UNVERIFIED : null];
  // A pooler has connections of its own, and lends more than the server has.
  if (config.databasePooling !== 'transaction') {
    warnings.push(await connectionsWarning(database, connectionsAtMost(processName, config)));
  }
  // In development one role for everything is enough.
  if (config.malipoEnv !== 'development') warnings.push(await roleWarning(database));
  // Other installations have no payments to lose.
  if (config.malipoEnv === 'production') warnings.push(...(await durabilityWarnings(database)));
  return warnings.filter((line) => line !== null);
}

const UNVERIFIED =
  'connections to PostgreSQL are encrypted, but nothing proves who is at their other end: set DATABASE_SSL=verify, with the CA in DATABASE_CA';

interface Role {
  role: string;
  isSuperuser: boolean;
  isOwner: boolean;
}

/** Returns a line when the role could do more with the tables than the service needs. */
export async function roleWarning(database: Database): Promise<string | null> {
  const found = await firstRow<Role>(database, ROLE).catch(() => undefined);
  if (!found?.isSuperuser && !found?.isOwner) return null;
  const what = found.isSuperuser ? 'is a superuser' : 'owns the tables';
  return `the role ${found.role} of DATABASE_URL ${what}, so an intruder in a process can change the books: give the service a role of its own, and DATABASE_MIGRATION_URL the owner's role`;
}

/** A member of the owner's role can become the owner, so it counts as the owner. */
const ROLE = `
  SELECT rolname AS role, rolsuper AS "isSuperuser",
    EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('entries')
      AND pg_has_role(current_user, relowner, 'MEMBER')) AS "isOwner"
  FROM pg_roles WHERE rolname = current_user`;

interface Limit {
  name: string;
  most: number;
  used: number;
}

/** Returns a line when there is no room for `wanted` connections, with the one that asks. */
export async function connectionsWarning(
  database: Database,
  wanted: number,
): Promise<string | null> {
  const limits = await firstRow<{ limits: Limit[] }>(database, LIMITS).catch(() => undefined);
  const rooms = (limits?.limits ?? []).map((limit) => ({
    ...limit,
    // The connection that asks is in use already, and is one of the wanted ones.
    room: limit.most - limit.used + 1,
  }));
  const [tightest] = rooms.sort((one, other) => one.room - other.room);
  if (!tightest || tightest.room >= wanted) return null;
  const { name, most, used, room } = tightest;
  return `this process may open ${wanted} connections to PostgreSQL, which has room for ${Math.max(room, 0)} (${name}: ${most}, in use: ${used}): lower DATABASE_POOL_MAX, run fewer processes, or raise the limit`;
}

const LIMITS = `
  WITH clients AS (
    SELECT datname, usename FROM pg_stat_activity
    WHERE datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
  ), limits AS (
    SELECT 'max_connections without those reserved' AS name,
      CAST(current_setting('max_connections') AS int)
        - CAST(current_setting('superuser_reserved_connections') AS int)
        - coalesce(CAST(current_setting('reserved_connections', true) AS int), 0) AS most,
      (SELECT count(*) FROM clients) AS used
    UNION ALL
    SELECT 'connection limit of the role', rolconnlimit,
      (SELECT count(*) FROM clients WHERE usename = current_user)
    FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0
    UNION ALL
    SELECT 'connection limit of the database', datconnlimit,
      (SELECT count(*) FROM clients WHERE datname = current_database())
    FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0
  )
  SELECT json_agg(limits) AS limits FROM limits`;

interface Durability {
  fsync: string;
  commit: string;
  standbyNames: string;
  standbys: number;
}

/** Returns lines on how a crash or failover could lose a payment that was answered with 200. */
export async function durabilityWarnings(database: Database): Promise<string[]> {
  const found = await firstRow<Durability>(database, DURABILITY).catch(() => undefined);
  if (!found) return [];
  const { fsync, commit, standbyNames, standbys } = found;
  const waitsForStandby = standbyNames !== '' && commit !== 'off' && commit !== 'local';
  return [
    fsync === 'off' &&
      'PostgreSQL does not wait for its disk (fsync=off): a crash of its machine destroys the database. Set fsync=on',
    commit === 'off' &&
      'PostgreSQL answers before a commit is on its disk (synchronous_commit=off): a crash loses accepted payments. Set synchronous_commit=on',
    standbys > 0 &&
      !waitsForStandby &&
      `PostgreSQL has a standby that it does not wait for (synchronous_standby_names='${standbyNames}', synchronous_commit=${commit}): a failover loses payments accepted just before. Set synchronous_standby_names, and synchronous_commit=on; on a managed server ask for a synchronous standby`,
  ].filter((line) => line !== false);
}

/** Without pg_monitor, a standby is a row without details. A logical subscriber is no standby. */
const DURABILITY = `
  SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
    current_setting('synchronous_standby_names') AS "standbyNames",
    (SELECT count(*) FROM pg_stat_replication r
      WHERE coalesce(r.state, 'streaming') IN ('streaming', 'catchup')
        AND NOT EXISTS (SELECT FROM pg_replication_slots s
          WHERE s.active_pid = r.pid AND s.slot_type = 'logical')) AS standbys`;

/** The settings of a store, as the advice names them. */
export const POSTGRES_SETTINGS = {
  url: 'DATABASE_URL',
  ca: 'DATABASE_CA',
  withoutTls: 'remove DATABASE_SSL, DATABASE_CA and sslmode',
};

export const REDIS_SETTINGS: StoreSettings = {
  url: 'REDIS_URL',
  ca: 'REDIS_CA',
  withoutTls: 'begin REDIS_URL with redis://',
};

type StoreSettings = typeof POSTGRES_SETTINGS;

/** Node's codes for a certificate whose chain does not begin with a trusted authority. */
const UNKNOWN_SIGNER = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
];
const NO_TLS = /does not support SSL|wrong version number|packet length too long/;

/** Says what is wrong with a connection and what to do, or null when the error itself says it. */
export function connectionAdvice(error: unknown, settings: StoreSettings): string | null {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (code && UNKNOWN_SIGNER.includes(code)) {
    return `its certificate is signed by nobody who is trusted here (${code}): give its CA in ${settings.ca}`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its certificate is for another host: put into ${settings.url} the host name that it is for`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired: it needs a new one';
  if (NO_TLS.test(message)) {
    return `it does not speak TLS: switch that on there, or ${settings.withoutTls}`;
  }
  if (/unsupported startup parameter/.test(message)) {
    return 'it is PgBouncer: set DATABASE_POOLING=transaction';
  }
  return null;
}
