import type { Database, Transaction } from '../connections/database.ts';
import { generatePassword, hashPassword } from '../domain/credentials/passwords.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import type { MerchantRecord } from '../domain/merchants/merchant.ts';
import {
  changeUser,
  passwordHashOf,
  ROLES,
  type Role,
  registerUser,
  requireUser,
  requireUserById,
  resetUserTotp,
  type UserChange,
  type UserRecord,
} from '../domain/merchants/user.ts';
import type { Service } from '../service/service.ts';
import { changeRow, withMore } from './changed-row.ts';
import { flag, optional, piped, required, requireOne, UsageError } from './field.ts';
import { handOver, handOverLine, offerLink, refuseOwnPassword } from './hand-over.ts';
import { MERCHANT } from './merchant.ts';
import { type Deed, define, type Noun } from './operation.ts';
import * as read from './readers.ts';
import { bySecondAdmin, holdNote } from './second-admin.ts';

/** Names a user. E-mail addresses are unique; the merchant is only a check. */
export const USER: Noun<UserRecord> = {
  fields: {
    email: required('email', read.email, 'The e-mail address of the user'),
    merchant_id: optional('merchant', read.merchantId, 'The merchant that the user must belong to'),
  },
  argument: 'email',
  find: ({ database }, names) =>
    requireUser(database, names as { email: string; merchant_id?: number }),
};

const nameOf = ({ email }: UserRecord) => `user ${email}`;

const role = read.oneOf(ROLES);
const NAME = optional('name', read.name, 'The name of the person');
const ROLE = 'What the user may do';
/** An operator knows a new password, so its user replaces it before anything else. */
const MUST_CHANGE = 'The user must change it before doing anything else.';
const ENDS = 'All sessions of the user end at once.';
const ASKS = 'Make sure that it is the user who asks.';

/** Creates a user of a merchant. */
export const createUser = define({
  name: 'user.create',
  role: 'admin',
  title: 'Create a user',
  button: 'Create',
  summary: 'Creates a user, who gets the password by a link in an e-mail',
  notes: `Without a mail server (SMTP_URL) the password is shown once. It is for the first log-in. ${MUST_CHANGE}`,
  about: MERCHANT,
  fields: {
    email: required('email', read.email, 'What the user logs in with', { label: 'E-mail address' }),
    name: NAME,
    role: required('role', role, ROLE),
    password: piped('password-stdin', 'Read the password from standard input; do not show it'),
    must_change_password: flag('must-change-password', 'Always so; the option changes nothing'),
  },
  asks: ['email', 'name', 'role'],
  preview: ({ service, subject: { id, name } }) => [
    `A person can log in for merchant ${id}, ${JSON.stringify(name)}.`,
    passwordLine(service),
  ],
  ...bySecondAdmin<MerchantRecord, { email: string; password: string | undefined }>({
    isNew: true,
    names: ({ id }) => ({ merchant_id: id }),
    subject: (_merchant, { email }) => `user ${email.toLowerCase()}`,
    merchant: ({ id }) => id,
    isNeeded: (_merchant, { password }) => refusePiped(password),
  }),
  perform: async ({ audited, service, subject }: Deed<MerchantRecord>, { password, ...user }) => {
    refuseOwnPassword(service, password);
    const generated = password === undefined ? generatePassword() : undefined;
    const row = await audited(async (trx) => {
      const made = await registerUser(trx, subject.id, {
        ...user,
        password: password ?? generated!,
        must_change_password: true,
        holdMs: service.config.newAccessHoldMs,
      });
      await offerLink(service, trx, holderOf(made.value));
      return made;
    });
    const given = { title: `User ${row.email} created`, row };
    const notes = [holdNote(service)];
    if (generated === undefined) return { ...given, notes };
    return { ...given, ...handOver(service, secretOf(generated), notes) };
  },
});

const holderOf = ({ merchant_id, id: user_id }: UserRecord) => ({ merchant_id, user_id });

function passwordLine(service: Pick<Service, 'config'>): string {
  return `${handOverLine(service, 'password')} ${MUST_CHANGE}`;
}

/** @throws OperatorRefusal when a password comes with a request: nobody may keep it in plain text */
function refusePiped(password: string | undefined): true {
  if (password === undefined) return true;
  throw new OperatorRefusal('Leave --password-stdin out: another admin must approve this first');
}

const ACCESS = {
  names: ({ email }: UserRecord) => ({ email }),
  subject: nameOf,
  merchant: ({ merchant_id }: UserRecord) => merchant_id,
};

interface Given {
  role?: Role | undefined;
  new_password: boolean;
  reactivate: boolean;
  password?: string | undefined;
}

const update = define({
  name: 'user.update',
  role: 'admin',
  title: 'Change name or role',
  button: 'Change',
  summary: "Changes a user's name, role or password, or lets a user in again",
  notes: `A new role or password ends the sessions of the user at once. A new password is for one log-in. ${MUST_CHANGE} After many failed log-ins to one account, from anywhere, the service answers 429 for a while: --forget-failures ends that.`,
  about: USER,
  fields: {
    name: NAME,
    role: optional('role', role, ROLE),
    new_password: flag('new-password', 'Replace the password; a link to set it goes out by e-mail'),
    password: piped('password-stdin', 'Read a new password from standard input'),
    must_change_password: flag(
      'must-change-password',
      'Let the person do nothing before changing the present password, too',
    ),
    reactivate: flag('reactivate', 'Let a deactivated user log in again'),
    forget_failures: flag('forget-failures', 'Let the user log in again now, after failed log-ins'),
  },
  check: (wanted) => {
    if (wanted.new_password && wanted.password !== undefined) {
      throw new UsageError('Either --new-password or --password-stdin, not both');
    }
    requireOne(
      wanted,
      'Say what to change: --name, --role, --new-password, --password-stdin, --must-change-password, --reactivate or --forget-failures',
    );
  },
  asks: ['name', 'role'],
  preview: () => [`A new role counts at once. ${ENDS} A new name alone ends none.`],
  now: (user) => user,
  seen: seenOf,
  pages: {
    'new-password': {
      title: 'Replace the password',
      button: 'Replace',
      asks: [],
      gives: { new_password: true },
      preview: ({ service }) => [
        `The present password ends. ${passwordLine(service)} ${ENDS}`,
        ASKS,
      ],
    },
    reactivate: {
      title: 'Reactivate',
      asks: [],
      gives: { reactivate: true },
      whyNot: ({ active }) => (active ? 'The user is active already' : null),
      preview: () => ['The user can log in again, with the same password and role.'],
    },
    'forget-failures': {
      title: 'Forget failed log-ins',
      button: 'Forget them',
      asks: [],
      gives: { forget_failures: true },
      preview: () => [
        'After many failed log-ins to one account, from anywhere, log-ins are refused for a while. The user can log in again at once.',
        'Make sure that it was the user who failed.',
      ],
    },
  },
  ...bySecondAdmin<UserRecord, Given>({
    ...ACCESS,
    what: 'a new role or password, or to let a user in again',
    isNeeded: ({ role, active }, { password, ...given }) =>
      (password !== undefined && refusePiped(password)) ||
      given.new_password ||
      (given.reactivate && !active) ||
      (given.role !== undefined && given.role !== role),
  }),
  perform: async (deed, values) => {
    const { new_password, password, must_change_password, reactivate, forget_failures } = values;
    refuseOwnPassword(deed.service, password);
    const generated = new_password ? generatePassword() : undefined;
    const next = password ?? generated;
    const wanted = {
      name: values.name,
      role: values.role,
      active: reactivate || undefined,
      password_hash: next && (await hashPassword(next)),
      must_change_password: must_change_password || next !== undefined || undefined,
    };
    const { secretsKeys, newAccessHoldMs: holdMs } = deed.service.config;
    const manner = { holdMs, forgetWith: forget_failures ? secretsKeys : undefined };
    const result = await changed(deed, async (trx) => {
      const change = await changeUser(trx, deed.subject, wanted, manner);
      if (generated !== undefined) await offerLink(deed.service, trx, holderOf(deed.subject));
      return change;
    });
    if (generated === undefined) return result;
    const title = `User ${deed.subject.email} has a new password`;
    const handed = handOver(deed.service, secretOf(generated), [holdNote(deed.service)]);
    return withMore(result, { title, ...handed });
  },
});

/** Each replacement makes another hash, so a reload of its answer makes no second password. */
async function seenOf(
  executor: Database | Transaction,
  user: UserRecord,
  lock: 'FOR NO KEY UPDATE' | '',
) {
  const { merchant_id, id: user_id } = user;
  const hash = await passwordHashOf(executor, user, lock);
  return { hash, ...(await requireUserById(executor, { merchant_id, user_id })) };
}

function secretOf(password: string) {
  return { name: 'password', what: 'password', value: password };
}

async function changed(
  deed: Deed<UserRecord>,
  work: (trx: Transaction) => Promise<UserChange>,
  state?: string,
) {
  return (await changeRow(deed, nameOf, work, state)).result;
}

const deactivate = define({
  name: 'user.deactivate',
  role: 'support',
  title: 'Deactivate',
  summary: 'Shuts a user out and ends the sessions of the user at once',
  about: USER,
  fields: {},
  whyNot: ({ active }) => (active ? null : 'The user is deactivated already'),
  preview: ({ subject: { email } }) => [`${email} cannot log in any more. ${ENDS}`],
  perform: (deed) =>
    changed(
      deed,
      (trx) => changeUser(trx, deed.subject, { active: false }, { holdMs: 0 }),
      'deactivated',
    ),
});

const resetTotp = define({
  name: 'user.reset-totp',
  role: 'admin',
  title: 'Reset one-time passwords',
  button: 'Reset',
  summary: 'Switches one-time passwords off for a user who has lost them, and ends the sessions',
  notes: `${ASKS} From then on the password alone is enough.`,
  about: USER,
  fields: {},
  whyNot: ({ totp }) => (totp ? null : 'The user has no one-time passwords'),
  preview: () => [
    `One-time passwords are switched off: from then on the password alone is enough. ${ENDS}`,
    ASKS,
  ],
  seen: seenOf,
  ...bySecondAdmin<UserRecord, object>(ACCESS),
  perform: (deed) =>
    changed(
      deed,
      (trx) => resetUserTotp(trx, deed.subject, deed.service.config.newAccessHoldMs),
      'without one-time passwords',
    ),
});

/** Operations about a user. */
export const userOperations = { update, deactivate, resetTotp };
