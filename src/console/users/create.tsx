import { generatePassword } from '../../admin/options/new-password.ts';
import type { MerchantRecord } from '../../domain/merchants/merchant.ts';
import { ROLES, registerUser } from '../../domain/merchants/user.ts';
import * as read from '../../operations/readers.ts';
import { pathTo } from '../routes.ts';
import type { Action } from '../shell/action.ts';
import { Check, Choice, Field } from '../shell/fields.tsx';
import { readField, readOptional } from '../shell/read-fields.ts';
import { shownOnce } from '../shell/shown-once.tsx';
import { NAME, ROLE, role } from './changes.tsx';

const EMAIL = { name: 'email', label: 'E-mail address' };

/** Creates a user of a merchant, and shows the password once. */
export const createUser: Action<MerchantRecord> = {
  action: 'user.create',
  title: 'Create a user',
  verb: 'Create and show the password',
  preview: (_visit, { name }) => [
    `A person can log in for ${name}. The password is made here and shown once, on the next page.`,
  ],
  fields: (_merchant, given) => (
    <>
      <Field {...EMAIL} type="email" value={given.email} />
      <Field {...NAME} required={false} value={given.name} hint="It may stay empty" />
      <Choice {...ROLE} choices={ROLES} value={given.role} />
      <Check
        name="must_change"
        label="The user must change the password before doing anything else"
        on={given.reason === undefined || given.must_change === 'on'}
      />
    </>
  ),
  perform: async ({ form }, { id: merchant_id }, { audited }) => {
    const password = generatePassword();
    const wanted = {
      email: readField(form, EMAIL, read.email),
      name: readOptional(form, NAME, read.name),
      role: readField(form, ROLE, role),
      must_change_password: form.must_change === 'on',
      password,
    };
    const { id: user_id, email } = await audited((trx) => registerUser(trx, merchant_id, wanted));
    return shownOnce({
      title: `${email} is created`,
      what: 'password',
      secret: password,
      lines: [],
      back: pathTo('user', { merchant_id, user_id }),
    });
  },
};
