import { firstRow, type Transaction } from '../../connections/database.ts';

/** The settings of PostgreSQL that say for whom a commit waits. */
export interface CommitSettings {
  names: string;
  /** synchronous_commit of this session, or a weaker one that a role or the database has. */
  commit: string;
  /** The names that do not tell one standby: the server's own one, and names that several servers have. */
  shared: string[];
}

/** The forms of synchronous_standby_names: a list of names, or a number with a list of names. */
const NAMES =
  /^\s*(?:(?:(?:first|any)\s+)?(?<many>\d+)\s*\((?<some>[^()]*)\)|(?<list>[^()]*))\s*$/i;
/** From this on, a commit is on the standby's disk before it is acknowledged. */
const IS_ON_DISK = ['on', 'remote_apply'];

/**
 * Returns the standbys that have every commit before it is acknowledged; null if none is sure to have it. Where a commit
 * waits for some of several standbys, nobody knows which ones have it.
 */
export function standbysOf({ names, commit, shared }: CommitSettings): string[] | null {
  if (!IS_ON_DISK.includes(commit)) return null;
  const { many = '1' } = NAMES.exec(names)?.groups ?? {};
  const standbys = namedBy(names);
  const areAll = new Set(standbys).size === Number(many) && standbys.length === Number(many);
  const isUnsure = (name: string) => ['', '*', ...shared].includes(name);
  return areAll && !standbys.some(isUnsure) ? standbys : null;
}

/** Returns the standbys that synchronous_standby_names names. */
function namedBy(names: string): string[] {
  const { some, list = some } = NAMES.exec(names)?.groups ?? {};
  return (list ?? '').split(',').map((name) => nameOf(name.trim()));
}

/** PostgreSQL compares these names without regard to case. */
function nameOf(written: string): string {
  return written.replace(/^"(.*)"$/, '$1').toLowerCase();
}

/** Says why a commit may be acknowledged that a standby lacks. */
export function whyUnsure({ names, commit, shared }: CommitSettings): string {
  const twins = namedBy(names).filter((name) => name !== '' && shared.includes(name));
  const twin =
    twins.length > 0
      ? `, and another server is '${twins.join("', '")}' too, or it has just connected again`
      : '';
  return `PostgreSQL acknowledges commits that a standby may lack (synchronous_standby_names='${names}', synchronous_commit=${commit}${twin})`;
}

/** Reads the settings of this server and session. */
export async function readCommitSettings(trx: Transaction): Promise<CommitSettings> {
  return (await firstRow<CommitSettings>(trx, COMMIT_SETTINGS))!;
}

/** A role that may not see the names of standbys sees none twice. */
const COMMIT_SETTINGS = `SELECT current_setting('synchronous_standby_names') AS names, coalesce((
  SELECT split_part(setting, '=', 2) FROM pg_db_role_setting, unnest(setconfig) AS setting
  WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    AND setting LIKE 'synchronous_commit=%' AND split_part(setting, '=', 2) <> ALL (ARRAY['on', 'remote_apply'])
  LIMIT 1), current_setting('synchronous_commit')) AS commit, ARRAY(
  SELECT lower(current_setting('cluster_name'))
  UNION SELECT lower(application_name) FROM pg_stat_replication GROUP BY 1 HAVING count(*) > 1 AND lower(application_name) <> '') AS shared`;
