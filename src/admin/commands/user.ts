import { hashPassword } from '../../domain/credentials/passwords.ts';
import {
  changeUser,
  listUsers,
  ROLES,
  registerUser,
  requireUser,
  type UserChanges,
  type UserName,
} from '../../domain/merchants/user.ts';
import { flag, optional, required, requireOne, UsageError } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { generatePassword, readPassword } from '../options/new-password.ts';
import { lists, recordLines, shownOnce, updateRow, withEndedSessions } from '../output/answers.ts';
import { users as view } from '../output/users.ts';
import { type Answer, type Change, changes, type Noun, reads } from '../verb.ts';
import { resetTotp, which } from './user-totp.ts';

const role = read.oneOf(ROLES);
const ROLE = 'What the user may do';
const NAME = 'The name of the person';
const MUST_CHANGE = 'Let the person do nothing before changing the password';

const create = changes({
  role: 'admin',
  summary: 'Creates a user. Generates the password and shows it once',
  options: {
    merchant_id: required('merchant', read.merchantId, 'The merchant of the user'),
    email: required('email', read.email, 'What the user logs in with'),
    name: optional('name', read.name, NAME),
    role: required('role', role, ROLE),
    isFromStdin: flag('password-stdin', 'Read the password from standard input; do not show it'),
    must_change_password: flag('must-change-password', MUST_CHANGE),
  },
  run: async (_service, { merchant_id, isFromStdin, ...user }, { audited, stdin }) => {
    const password = isFromStdin ? await readPassword(stdin) : generatePassword();
    const added = await audited((trx) => registerUser(trx, merchant_id, { ...user, password }));
    return {
      data: { ...view.document(added), ...(!isFromStdin && { password }) },
      lines: [recordLines(view, added, 'created'), !isFromStdin && shownOnce('password', password)],
    };
  },
});

const list = lists(view, read.email, {
  role: 'viewer',
  summary: 'Lists users by e-mail address',
  options: { merchant_id: read.ofMerchant },
  read: ({ database }, page) => listUsers(database, { ...page, after: page.after?.toLowerCase() }),
});

const show = reads({
  role: 'viewer',
  summary: 'Shows a user',
  options: which,
  argument: 'email',
  run: async ({ database }, name) => {
    const found = await requireUser(database, name);
    return { data: view.document(found), lines: recordLines(view, found) };
  },
});

const update = changes({
  role: 'admin',
  summary: "Changes a user's name, role or password, or lets a user in again",
  notes:
    'A new role or password ends the sessions of the user at once. After many failed log-ins to one account, from anywhere, the service answers 429 for a while: --forget-failures ends that.',
  options: {
    ...which,
    name: optional('name', read.name, NAME),
    role: optional('role', role, ROLE),
    isGenerated: flag('new-password', 'Generate a new password and show it once'),
    isFromStdin: flag('password-stdin', 'Read a new password from standard input'),
    mustChange: flag('must-change-password', MUST_CHANGE),
    reactivate: flag('reactivate', 'Let a deactivated user log in again'),
    forgets: flag('forget-failures', 'Let the user log in again now, after failed log-ins'),
  },
  argument: 'email',
  check: ({ name, role, isGenerated, isFromStdin, mustChange, reactivate, forgets }) => {
    if (isGenerated && isFromStdin) {
      throw new UsageError('Either --new-password or --password-stdin, not both');
    }
    requireOne(
      { name, role, isGenerated, isFromStdin, mustChange, reactivate, forgets },
      'Say what to change: --name, --role, --new-password, --password-stdin, --must-change-password, --reactivate or --forget-failures',
    );
  },
  run: async ({ config }, { name, role, reactivate, forgets, ...values }, change) => {
    const { isGenerated, isFromStdin, mustChange, ...user } = values;
    const generated = isGenerated ? generatePassword() : undefined;
    const password = isFromStdin ? await readPassword(change.stdin) : generated;
    const password_hash = password && (await hashPassword(password));
    // A new password without the option is one that the person may keep.
    const must_change_password = mustChange || (password_hash ? false : undefined);
    const active = reactivate || undefined;
    const wanted = { name, role, active, password_hash, must_change_password };
    const forgetWith = forgets ? config.secretsKeys : undefined;
    return updateUser(change, user, wanted, { generated, forgetWith });
  },
});

const deactivate = changes({
  role: 'support',
  summary: 'Shuts a user out and ends the sessions of the user at once',
  options: which,
  argument: 'email',
  run: (_service, name, change) =>
    updateUser(change, name, { active: false }, { state: 'deactivated' }),
});

/** Parts of a user's update that are no columns. */
interface Manner {
  /** The password that was generated and is shown once. */
  generated?: string | undefined;
  /** The keys under which failures are counted, to forget those of the user. */
  forgetWith?: KeyRing | undefined;
  /** The state that the verb brings about. */
  state?: string;
}

function updateUser(
  change: Change,
  name: UserName,
  wanted: UserChanges,
  { generated, forgetWith, state }: Manner,
): Promise<Answer> {
  return updateRow(
    change,
    view,
    async (trx) => {
      const update = await changeUser(trx, name, wanted, forgetWith);
      if (generated === undefined) return withEndedSessions(update);
      const notes = [shownOnce('password', generated)];
      const shown = withEndedSessions({ ...update, notes });
      return { ...shown, more: { ...shown.more, password: generated } };
    },
    state,
  );
}

export const user: Noun = {
  summary: 'People who log in for a merchant',
  verbs: { create, list, show, update, deactivate, 'reset-totp': resetTotp },
};
