import { resetUserTotp } from '../../domain/merchants/user.ts';
import { optional, required } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { updateRow, withEndedSessions } from '../output/answers.ts';
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
    updateRow(change, users, async (trx) => withEndedSessions(await resetUserTotp(trx, name)), OFF),
});
