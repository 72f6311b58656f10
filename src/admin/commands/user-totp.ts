import { resetTotpOf } from '../../domain/identity/manage-users.ts';
import { revocationEvents } from '../../domain/security/change-events.ts';
import { optional, required } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { updateRow } from '../output/answers.ts';
import { users } from '../output/users.ts';
import { changes } from '../verb.ts';

/** The user that a verb is about. */
export const which = {
  email: required('email', read.email, 'The e-mail address of the user'),
  merchant_id: optional('merchant', read.merchantId, 'The merchant that the user must belong to'),
};

const OFF = 'without one-time passwords';

export const resetTotp = changes({
  role: 'admin',
  summary: 'Switches one-time passwords off for a user who has lost them, and ends the sessions',
  notes: 'Make sure that it is the user who asks. From then on the password alone is enough.',
  options: which,
  argument: 'email',
  run: (_service, name, change) =>
    updateRow(
      change,
      users,
      async (trx) => {
        const { user, changed, revoked } = await resetTotpOf(trx, name);
        const { merchant_id, id: user_id } = user;
        const families = { revoked_token_families: revoked };
        const subject = { merchant_id, user_id };
        return {
          row: user,
          merchant_id,
          changed: { ...changed, ...(revoked > 0 && families) },
          events: [
            ...(changed.totp ? [{ ...subject, kind: 'totp_reset' } as const] : []),
            ...revocationEvents(subject, revoked),
          ],
          more: families,
          notes: [revoked > 0 && `Sessions ended: ${revoked}`],
        };
      },
      OFF,
    ),
});
