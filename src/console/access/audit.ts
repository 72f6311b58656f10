import { type Read, recordRead } from '../../domain/audit/audit.ts';
import { accountHash } from '../../domain/credentials/log-in-limit.ts';
import { STAFF } from '../../domain/credentials/people.ts';
import { recordSecurityEvent } from '../../domain/security/security-events.ts';
import type { StaffMember, StaffRole } from '../../domain/staff/staff.ts';
import type { ROUTES, RouteName } from '../routes.ts';
import type { OpenVisit, Visit } from '../visit.ts';

/** The routes that need a role. */
export type RouteWithRole = {
  [Name in RouteName]: (typeof ROUTES)[Name]['role'] extends StaffRole ? Name : never;
}[RouteName];

/**
 * Writes into the audit log what the member is about to see, as the command line does. While the
 * database can only be read, the page is shown anyway, and says that the log lacks it.
 */
export async function recordView(
  { service: { database, config, logger }, member, warnings }: Visit,
  read: Omit<Read, 'actor'>,
): Promise<void> {
  const actor = member.email;
  const warning = await recordRead(database, config.secretsKeys, { ...read, actor });
  if (warning === null) return;
  warnings.push(warning);
  logger.warn('a read is not in the audit log', { actor, action: read.action });
}

/** Records that a member is in: with all that is asked for, not with the password alone. */
export async function recordLogIn(
  { service: { database, config }, ip }: OpenVisit,
  { email, totp }: StaffMember,
): Promise<void> {
  const account_hash = accountHash(config.secretsKeys, STAFF.accountOf(email));
  const event = { kind: 'log_in', staff: email, ip, account_hash, detail: { totp } } as const;
  await recordSecurityEvent(database, event);
}
