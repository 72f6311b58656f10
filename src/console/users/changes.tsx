import { generatePassword } from '../../admin/options/new-password.ts';
import { hashPassword } from '../../domain/credentials/passwords.ts';
import {
  changeUser,
  passwordHashOf,
  ROLES,
  resetUserTotp,
  type UserRecord,
} from '../../domain/merchants/user.ts';
import * as read from '../../operations/readers.ts';
import { type Action, type Actions, changeRow } from '../shell/action.ts';
import { Check, Choice, Field } from '../shell/fields.tsx';
import { readField, readOptional } from '../shell/read-fields.ts';
import { requireVersion, Version } from '../shell/reason-form.tsx';
import { shownOnce } from '../shell/shown-once.tsx';
import { USER } from './user.ts';

export const NAME = { name: 'name', label: 'Name' };
export const ROLE = { name: 'role', label: 'Role' };
export const role = read.oneOf(ROLES);
const ENDS = 'All sessions of the user end at once.';

/** Shuts a user out. */
export const deactivate: Action<UserRecord> = {
  action: 'user.deactivate',
  title: 'Deactivate',
  verb: 'Deactivate',
  whyNot: ({ active }) => (active ? null : 'The user is deactivated already'),
  preview: (_visit, { email }) => [`${email} cannot log in any more. ${ENDS}`],
  perform: async (_visit, user, by) => {
    await change(user, by, { active: false });
  },
};

const update: Action<UserRecord> = {
  action: 'user.update',
  title: 'Change name or role',
  verb: 'Change',
  preview: () => [`A new role counts at once. ${ENDS} A new name alone ends none.`],
  fields: (user, given) => (
    <>
      <Version of={user} />
      <Field {...NAME} required={user.name !== null} value={given.name ?? user.name ?? ''} />
      <Choice {...ROLE} choices={ROLES} value={given.role ?? user.role} />
    </>
  ),
  perform: async ({ form }, user, by) => {
    const wanted = { name: readOptional(form, NAME, read.name), role: readField(form, ROLE, role) };
    requireVersion(form, user);
    await change(user, by, wanted);
  },
};

const newPassword: Action<UserRecord> = {
  action: 'user.update',
  title: 'Replace the password',
  verb: 'Replace and show the new password',
  preview: () => [
    `The user gets a new password, which is shown once on the next page. ${ENDS}`,
    'Make sure that it is the user who asks.',
  ],
  fields: async (user, given, { service }) => (
    <>
      <Version of={await passwordHashOf(service.database, user)} />
      <Check
        name="must_change"
        label="The user must change it before doing anything else"
        on={given.reason === undefined || given.must_change === 'on'}
      />
    </>
  ),
  perform: async ({ form }, user, by) => {
    const password = generatePassword();
    const password_hash = await hashPassword(password);
    const must_change_password = form.must_change === 'on';
    const { revoked } = await changeRow(by, `user ${user.email}`, async (trx) => {
      // Whoever reloads the answer would make another password.
      requireVersion(form, await passwordHashOf(trx, user, 'FOR NO KEY UPDATE'));
      return changeUser(trx, user, { password_hash, must_change_password });
    });
    return shownOnce({
      title: `${user.email} has a new password`,
      what: 'password',
      secret: password,
      back: USER.pathOf(user),
      lines: [`Sessions ended: ${revoked}.`],
    });
  },
};

const reactivate: Action<UserRecord> = {
  action: 'user.update',
  title: 'Reactivate',
  verb: 'Reactivate',
  whyNot: ({ active }) => (active ? 'The user is active already' : null),
  preview: () => ['The user can log in again, with the same password and role.'],
  perform: async (_visit, user, by) => {
    await change(user, by, { active: true });
  },
};

const forgetFailures: Action<UserRecord> = {
  action: 'user.update',
  title: 'Forget failed log-ins',
  verb: 'Forget them',
  preview: () => [
    'After many failed log-ins to one account, from anywhere, log-ins are refused for a while. The user can log in again at once.',
    'Make sure that it was the user who failed.',
  ],
  perform: async ({ service }, { email, merchant_id }, by) => {
    await changeRow(by, `user ${email}`, (trx) =>
      changeUser(trx, { email, merchant_id }, {}, service.config.secretsKeys),
    );
  },
};

const resetTotp: Action<UserRecord> = {
  action: 'user.reset-totp',
  title: 'Reset one-time passwords',
  verb: 'Reset',
  whyNot: ({ totp }) => (totp ? null : 'The user has no one-time passwords'),
  preview: () => [
    `One-time passwords are switched off: from then on the password alone is enough. ${ENDS}`,
    'Make sure that it is the user who asks.',
  ],
  perform: async (_visit, { email, merchant_id }, by) => {
    await changeRow(by, `user ${email}`, (trx) => resetUserTotp(trx, { email, merchant_id }));
  },
};

function change(
  { email, merchant_id }: UserRecord,
  by: Parameters<typeof changeRow>[0],
  wanted: Parameters<typeof changeUser>[2],
) {
  return changeRow(by, `user ${email}`, (trx) => changeUser(trx, { email, merchant_id }, wanted));
}

/** What an admin can do about a user, by the last part of the address. */
export const USER_ACTIONS: Actions<UserRecord> = {
  update,
  'new-password': newPassword,
  'reset-totp': resetTotp,
  reactivate,
  'forget-failures': forgetFailures,
};
