import { accountHash } from '../../domain/security/account-hash.ts';
import { recordSecurityEvent } from '../../domain/security/security-events.ts';
import type { StaffMember } from '../../domain/staff/staff.ts';
import { staffAccount } from '../../domain/staff/staff-totp.ts';
import type { OpenVisit } from '../visit.ts';

/** Records that a member is in: with all that is asked for, not with the password alone. */
export async function recordLogIn(
  { service: { database, config }, ip }: OpenVisit,
  { email, totp }: StaffMember,
): Promise<void> {
  const account_hash = accountHash(config.secretsKeys, staffAccount(email));
  const event = { kind: 'log_in', staff: email, ip, account_hash, detail: { totp } } as const;
  await recordSecurityEvent(database, event);
}
