import { firstRow, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';

/** A member who has given another one access is no second person beside that member for this number of days. */
export const ACCESS_DAYS = 30;

/**
 * Requires that neither of two members has given the other access lately: an admin may still know
 * the token of a member, and act as both.
 * @throws OperatorRefusal
 */
export async function requireTwoPeople(
  trx: Transaction,
  one: string,
  other: string,
): Promise<void> {
  const given = await firstRow<{ actor: string; member: string }>(
    trx,
    `SELECT actor, substr(subject, length(:what) + 1) AS member FROM audit_log
     WHERE (actor = :one AND subject = :what || :other OR actor = :other AND subject = :what || :one)
       AND happened_at > now() - interval '${ACCESS_DAYS} days'
       AND (action IN ('staff.create', 'staff.new-token', 'staff.reset-totp')
         OR action = 'staff.update' AND details ?| ARRAY['role', 'active'])
     LIMIT 1`,
    { one, other, what: 'staff member ' },
  );
  if (!given) return;
  const { actor, member } = given;
  throw new OperatorRefusal(
    `${actor} has given ${member} access in the last ${ACCESS_DAYS} days, so the two are not two people here: somebody else must decide`,
  );
}
