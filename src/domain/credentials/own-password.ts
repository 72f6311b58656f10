import { type Database, hasRow, inTransaction } from '../../connections/database.ts';
import { Refusal } from '../errors.ts';
import { recordSecurityEvent } from '../security/security-events.ts';
import { removeUnconfirmedTotp } from './one-time-passwords.ts';
import { hashPassword } from './passwords.ts';
import { eventBy, type Person, provePassword } from './person.ts';
import { revokeTokens } from './sessions.ts';

/**
 * Changes the password of a person who knows the old one. The session goes on; all others of the
 * person end. A log-in with the old password at the same moment is either ended or refused.
 * @throws Refusal `invalid_credentials`, and `invalid_field` when it is the old one again
 */
export async function changeOwnPassword(
  database: Database,
  person: Person,
  oldPassword: string,
  newPassword: string,
): Promise<void> {
  const proven_hash = await provePassword(database, person, oldPassword);
  if (newPassword === oldPassword) throw new Refusal('invalid_field', 'new_password');
  const password_hash = await hashPassword(newPassword);
  await inTransaction(database, async (trx) => {
    const isChanged = await hasRow(
      trx,
      `UPDATE users SET password_hash = :password_hash, must_change_password = false
       WHERE merchant_id = :merchant_id AND id = :user_id AND active
         AND password_hash = :proven_hash RETURNING id`,
      { ...person, password_hash, proven_hash },
    );
    if (!isChanged) throw new Refusal('invalid_credentials');
    await removeUnconfirmedTotp(trx, person);
    const { merchant_id, user_id, family } = person;
    const sessions_ended = await revokeTokens(trx, { merchant_id, user_id }, family);
    const event = { ...eventBy(person), detail: { sessions_ended } };
    await recordSecurityEvent(trx, { ...event, kind: 'password_changed' });
  });
}
