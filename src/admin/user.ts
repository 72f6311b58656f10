import {
  addUser,
  listUsers,
  type UserChanges,
  type UserRecord,
  updateUser,
} from '../domain/identity/manage-users.ts';
import { hashPassword } from '../domain/identity/password.ts';
import {
  ALREADY,
  type Answer,
  type ChangeContext,
  changes,
  flag,
  optional,
  reads,
  required,
  UsageError,
} from './command.ts';
import { answerList, limitOption } from './lists.ts';
import { type NewPassword, newPassword } from './new-password.ts';
import { email, merchantId, role } from './readers.ts';
import { userDocument, userLines, userList } from './user-view.ts';

const which = {
  email: required(email, 'Which user'),
  merchant: optional(merchantId, 'Whose user it must be'),
};
const ROLE = 'What the user may do';

const create = changes({
  summary: 'Creates a user; the password is generated and shown once',
  options: {
    merchant: required(merchantId, 'For which merchant'),
    email: required(email, 'What the user logs in with'),
    role: required(role, ROLE),
    'password-stdin': flag('Read the password from standard input instead, and do not show it'),
  },
  run: async (context, values) => {
    const password = await newPassword(values['password-stdin']);
    const user = await context.audited(async (trx) => {
      const added = await addUser(trx, values.merchant, {
        email: values.email,
        password: password.text,
        role: values.role,
      });
      return { value: added, audit: auditOf(added, { email: added.email, role: added.role }) };
    });
    return {
      data: { ...userDocument(user), ...password.shown },
      lines: userLines('created', user, password.shown.password),
    };
  },
});

const list = reads({
  summary: 'Lists users by their e-mail addresses',
  options: {
    merchant: optional(merchantId, 'Only those of this merchant'),
    after: optional(email, 'Begin after this one'),
    limit: limitOption,
  },
  run: ({ database }, { merchant, after, limit }) =>
    answerList(userList, limit, (count) =>
      listUsers(database, { merchant_id: merchant, after: after?.toLowerCase(), limit: count }),
    ),
});

const update = changes({
  summary: "Changes a user's role or password, or lets a deactivated user in again",
  notes: ['Another role or password ends the sessions of the user at once.'],
  options: {
    ...which,
    role: optional(role, ROLE),
    'new-password': flag('Generate another password and show it once'),
    'password-stdin': flag('Read another password from standard input'),
    reactivate: flag('Let a deactivated user log in again'),
  },
  check: (values) => {
    const hasPassword = values['new-password'] || values['password-stdin'];
    if (values['new-password'] && values['password-stdin']) {
      throw new UsageError('Either --new-password or --password-stdin, not both');
    }
    if (!values.role && !hasPassword && !values.reactivate) {
      throw new UsageError(
        'Say what to change: --role, --new-password, --password-stdin or --reactivate',
      );
    }
  },
  run: async (context, values) => {
    const { role: newRole, reactivate, 'password-stdin': fromInput } = values;
    const hasPassword = values['new-password'] || fromInput;
    const password = hasPassword ? await newPassword(fromInput) : null;
    const wanted: UserChanges = {
      role: newRole,
      active: reactivate ? true : undefined,
      password_hash: password ? await hashPassword(password.text) : undefined,
    };
    const words = { done: 'changed', already: `is like that ${ALREADY}` };
    return change(context, values, wanted, words, password);
  },
});

const deactivate = changes({
  summary: 'Shuts a user out and ends the sessions of the user at once',
  options: which,
  run: (context, values) => {
    const words = { done: 'is deactivated now', already: `is deactivated ${ALREADY}` };
    return change(context, values, { active: false }, words, null);
  },
});

async function change(
  context: ChangeContext,
  name: { email: string; merchant: number | undefined },
  wanted: UserChanges,
  words: { done: string; already: string },
  password: NewPassword | null,
): Promise<Answer> {
  const { user, revoked, changed } = await context.audited(async (trx) => {
    const userName = { email: name.email, merchant_id: name.merchant };
    const updated = await updateUser(trx, userName, wanted);
    const details = {
      ...updated.changed,
      ...(password && { password: 'replaced' }),
      ...(updated.revoked > 0 && { revoked_token_families: updated.revoked }),
    };
    const isChanged = Object.keys(details).length > 0;
    const value = { user: updated.user, revoked: updated.revoked, changed: isChanged };
    return { value, audit: isChanged ? auditOf(updated.user, details) : null };
  });
  return {
    data: {
      ...userDocument(user),
      changed,
      revoked_token_families: revoked,
      ...password?.shown,
    },
    lines: [
      ...userLines(changed ? words.done : words.already, user, password?.shown.password),
      ...(revoked > 0 ? [`Sessions ended: ${revoked}`] : []),
    ],
  };
}

function auditOf(user: UserRecord, details: Record<string, unknown>) {
  return { merchant_id: user.merchant_id, subject: `user ${user.email}`, details };
}

export const userVerbs = { create, list, update, deactivate };
