import { type Database, firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';

/** Members of whom one has given the other access are not two people for this number of days, at least. */
export const ACCESS_DAYS = 30;

/** The audit log and requests name members so. */
const WHAT = 'staff member ';

/** Returns the subject of a request, or of a line of the audit log, about a member. */
export function nameOfMember(email: string): string {
  return `${WHAT}${email}`;
}

/**
 * SQL: a line of the audit log gave a member access lately, or a token that still works. A person who has
 * seen the token can act as the member until the member replaces it. A line without a reason is of a read,
 * and its subject has what somebody typed.
 */
const GIVES_ACCESS = `reason IS NOT NULL AND (happened_at > now() - interval '${ACCESS_DAYS} days'
    AND (action IN ('staff.create', 'staff.new-token', 'staff.reset-totp')
      OR action = 'staff.update' AND details ?| ARRAY['role', 'active'])
  OR ${gaveToken()})`;

/**
 * SQL: the token that a line of the audit log has made still works, or the one that was renewed with it and no
 * one-time password: its giver may have renewed it. Confirmed one-time passwords end that.
 */
function gaveToken(): string {
  return `(action IN ('staff.create', 'staff.new-token')
    AND EXISTS (SELECT FROM staff holder WHERE subject = :what || holder.email
      AND holder.token_expires_at > now() AND (holder.token_prefix = details->>'token_prefix'
        OR NOT holder.totp AND EXISTS (SELECT FROM audit_log renewal WHERE renewal.subject = audit_log.subject
          AND renewal.reason IS NOT NULL AND renewal.action = 'staff.new-token'
          AND renewal.details->>'token_prefix' = holder.token_prefix
          AND renewal.details->>'given_as' = audit_log.details->>'token_prefix'))))`;
}

/**
 * SQL: the members `a` and `b`, by their e-mail addresses, are not two people. One has given the other
 * access, or agreed to that; or somebody may know the tokens of both.
 */
const areOne = (a: string, b: string) => `EXISTS (
  SELECT FROM audit_log WHERE ${GIVES_ACCESS}
    AND (subject = :what || ${b} AND ${a} IN (actor, details->>'approved_by')
      OR subject = :what || ${a} AND ${b} IN (actor, details->>'approved_by'))
) OR EXISTS ((${knowersOf(a)}) INTERSECT (${knowersOf(b)}))`;

/** SQL: the end of the first day of the installation. */
const FIRST_DAY_ENDS = "(SELECT min(created_at) FROM staff) + interval '1 day'";

/**
 * SQL: who may know the token of a member: the member, who has asked for access for the member, and who
 * knows the token of that one. Who asks for a token sees it, also if another admin agrees. What was given
 * on the first day of an installation counts not: there is nobody yet who could agree.
 * @param gives is SQL: a line of the audit log counts
 */
function knowersOf(
  member: string,
  gives = `${GIVES_ACCESS} AND happened_at > ${FIRST_DAY_ENDS}`,
): string {
  return `WITH RECURSIVE knows AS (
    SELECT CAST(${member} AS text) AS email, CAST('infinity' AS timestamptz) AS until
    UNION
    -- Who came to know the token of a member later has not acted as that one before.
    SELECT actor, happened_at FROM knows JOIN audit_log ON subject = :what || knows.email
      AND actor <> knows.email AND happened_at < knows.until AND ${gives}
  ) SELECT email FROM knows`;
}

/**
 * SQL: somebody may have seen a token, by a line of the audit log. On the first day that counts as long as the
 * token works. No other deed shows one.
 */
const SHOWS_TOKEN = `${GIVES_ACCESS} AND action IN ('staff.create', 'staff.new-token')
  AND (happened_at > ${FIRST_DAY_ENDS} OR ${gaveToken()})`;

/**
 * Returns the beginning of the token that somebody else has made for a member, if that is the present one, or the
 * present one was renewed with it and no one-time password; else null.
 */
export async function givenToken(
  trx: Transaction,
  email: string,
  token_prefix: string,
): Promise<string | null> {
  const made = await firstRow<{ given_as: string | null }>(
    trx,
    `SELECT coalesce(details->>'given_as',
       CASE WHEN actor <> :email THEN details->>'token_prefix' END) AS given_as
     FROM audit_log
     WHERE subject = :subject AND reason IS NOT NULL
       AND action IN ('staff.create', 'staff.new-token')
       AND details->>'token_prefix' = :token_prefix`,
    { subject: nameOfMember(email), email, token_prefix },
  );
  return made?.given_as ?? null;
}

/** SQL: the member `giver` may act as the member `member`: has given access to that one, or may know the token. */
const mayActFor = (giver: string, member: string) => `EXISTS (
  SELECT FROM audit_log WHERE ${GIVES_ACCESS} AND subject = :what || ${member}
    AND ${giver} IN (actor, details->>'approved_by')
) OR ${giver} IN (${knowersOf(member)})`;

/**
 * SQL: somebody may know the tokens of the asker and of the other one. One of them may only have agreed to the
 * access of the other, without seeing a token.
 */
const MAY_BE_ONE = `EXISTS (${knowersOfBoth()})`;

/** SQL: the same about a request that shuts the member `:about` out. This member would not ask for it. */
const MAY_BE_ONE_TO_SHUT_OUT = `EXISTS ((${knowersOfBoth()})
  EXCEPT (SELECT CAST(:about AS text)))`;

function knowersOfBoth(): string {
  return `(${knowersOf(':asker', SHOWS_TOKEN)}) INTERSECT (${knowersOf(':other', SHOWS_TOKEN)})`;
}

/** Tells whether there is another active admin of whom a condition is true. */
function hasAdmin(
  database: Database | Transaction,
  email: string,
  condition: string,
  bindings: object = {},
) {
  return hasRow(
    database,
    `SELECT FROM staff s WHERE active AND role = 'admin' AND email <> :email
       AND ${condition} LIMIT 1`,
    { email, what: WHAT, ...bindings },
  );
}

/**
 * SQL: the admin `s` can agree in place of one who is not as good: another person than the asker, not the member
 * `:about` that it is about, and not in the hands of that one.
 */
const IS_BETTER = `NOT (${areOne('s.email', ':email')}) AND s.email <> :about
  AND NOT (${mayActFor(':about', 's.email')})`;

/**
 * Tells whether there is another active admin whose token the member cannot know. One of the two may have agreed to
 * the access of the other, and can agree to this too, if nobody better is there: a lost phone, or a decision about a
 * colleague, makes nobody powerful. On the first day of an installation, a member who has made all others needs nobody.
 */
export function hasSecondAdmin(database: Database, email: string): Promise<boolean> {
  const isFirstDay = `now() <= ${FIRST_DAY_ENDS} AND ${GIVES_ACCESS}`;
  const knowers = knowersOf('s.email', `(${SHOWS_TOKEN} OR ${isFirstDay})`);
  return hasAdmin(database, email, `:email NOT IN (${knowers})`);
}

/** A request about access. Nobody would have to agree to it if no admin could: see `hasSecondAdmin`. */
interface AccessRequest {
  /** Names the member that it is about, if any. */
  subject: string;
  action: string;
}

/**
 * Requires that two members are two people: an admin may still know the token of a member, and act as
 * both, or as two who agree with each other.
 * @param asker is the one who asks
 * @param request is null if it is not about access
 * @throws OperatorRefusal
 */
export async function requireTwoPeople(
  trx: Transaction,
  asker: string,
  other: string,
  request: AccessRequest | null = null,
): Promise<void> {
  const bindings = { asker, other, what: WHAT };
  if (!(await hasRow(trx, `SELECT WHERE ${areOne(':asker', ':other')}`, bindings))) return;
  const about = request?.subject.startsWith(WHAT) ? request.subject.slice(WHAT.length) : '';
  if (request !== null && !(await hasAdmin(trx, asker, IS_BETTER, { about }))) {
    const isOne = request.action === 'staff.deactivate' ? MAY_BE_ONE_TO_SHUT_OUT : MAY_BE_ONE;
    if (!(await hasRow(trx, `SELECT WHERE ${isOne}`, { ...bindings, about }))) return;
  }
  throw new OperatorRefusal(
    `${asker} and ${other} are not two people here: one has given the other access in the last ${ACCESS_DAYS} days, or a token that still works, or somebody has seen the tokens of both. Somebody else must decide`,
  );
}
