import type { Transaction } from '../../connections/database.ts';
import { forgetStaffFailures } from '../../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import type { SecurityEventKind } from '../../domain/security/security-events.ts';
import {
  createStaff,
  type IssuedToken,
  listStaff,
  mayActAs,
  renewToken,
  requireStillAdmin,
  STAFF_ROLES,
  type StaffChanges,
  type StaffMember,
  TOKEN_LIFETIME_DAYS,
  updateStaff,
} from '../../domain/staff/staff.ts';
import { flag, optional, required, requireOne, UsageError } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import type { KeyRing } from '../../process/key-ring.ts';
import { auditOf, lists, recordLines, shownOnce, updateRow, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { moment } from '../output/table.ts';
import { type Answer, type Change, changes, type Noun } from '../verb.ts';
import { beginTotp, confirmTotp, otp, requireOtp, resetTotp } from './staff-totp.ts';

const view: View<StaffMember> = {
  what: 'staff member',
  keyOf: ({ email }) => email,
  document: ({ id, ...row }) => ({ staff_id: id, ...rowDocument(row) }),
  columns: [
    ...(['email', 'name', 'role', 'active', 'totp'] as const),
    ['TOKEN', 'token_prefix'],
    ['EXPIRES', 'token_expires_at'],
  ],
};

const email = required('email', read.email, 'The e-mail address of the member');
const role = read.oneOf(STAFF_ROLES);
const NAME = 'The name of the person, or of the machine';
const ROLE = 'viewer: looks. support: also decides, replays and resends. admin: everything';

const create = changes({
  role: 'admin',
  summary: 'Adds a member of staff, and shows the token of the member once',
  notes: `From the first member on, the command line needs a token. A token is good for ${TOKEN_LIFETIME_DAYS} days. The member puts it into MALIPO_STAFF_TOKEN, or its file into MALIPO_STAFF_TOKEN_FILE, and replaces it with staff new-token, so that nobody else knows it. A machine is a member too.`,
  options: {
    name: required('name', read.name, NAME),
    email: required('email', read.email, 'Unique. The audit log names the member by it'),
    role: optional('role', role, `${ROLE}. Required without --first`),
    isFirst: flag('first', 'The first member, an admin. It needs no token, and can be done once'),
    otp,
  },
  argument: 'name',
  check: ({ isFirst, role }) => {
    if (!isFirst && role === undefined) throw new UsageError('--role is required');
    if (isFirst && role !== undefined && role !== 'admin') {
      throw new UsageError('--first makes an admin: leave --role out');
    }
  },
  run: async (service, { name, email, role = 'admin', isFirst, otp }, change) => {
    await requireOtp(service, change, otp);
    return issue(change, 'staff_created', 'created', (trx) =>
      createStaff(trx, { name, email, role }, isFirst),
    );
  },
});

const newToken = changes({
  role: 'viewer',
  summary: 'Gives a member a new token and shows it once; the old one ends at once',
  notes: 'Without EMAIL it is your own. Only an admin may give another member a new one.',
  options: { email: optional('email', read.email, 'The member. Default: you'), otp },
  argument: 'email',
  run: async (service, { email, otp }, change) => {
    const who = emailOf(email, change.member);
    await requireOtp(service, change, otp);
    const { member } = change;
    return issue(change, 'staff_token_renewed', 'has a new token', async (trx) => {
      if (member && member.email !== who) await requireStillAdmin(trx, member);
      return renewToken(trx, who);
    });
  },
});

function emailOf(email: string | undefined, member: StaffMember | null): string {
  const named = email?.toLowerCase() ?? member?.email;
  if (named === undefined) throw new OperatorRefusal('There is no staff yet: staff create --first');
  if (!member || named === member.email || mayActAs(member.role, 'admin')) return named;
  throw new OperatorRefusal('Only an admin may give another member a new token');
}

/** Makes a token, with its line in the audit log and its event, and shows it. */
async function issue(
  { audited }: Change,
  kind: SecurityEventKind,
  words: string,
  make: (trx: Transaction) => Promise<IssuedToken>,
): Promise<Answer> {
  const { member, token } = await audited(async (trx) => {
    const value = await make(trx);
    const { id, name, role, token_prefix, token_expires_at } = value.member;
    const event = { kind, detail: { staff_id: id, role } };
    const details = { name, role, token_prefix, token_expires_at };
    const audit = auditOf(view, value.member, null, details);
    return { value, audit, events: [event] };
  });
  return {
    data: { ...view.document(member), token },
    lines: [
      recordLines(view, member, words),
      shownOnce('token', token),
      `It works until ${moment(member.token_expires_at)}`,
    ],
  };
}

const list = lists(view, read.email, {
  role: 'viewer',
  summary: 'Lists the members of staff by e-mail address, and when their tokens expire',
  read: ({ database }, page) => listStaff(database, { ...page, after: page.after?.toLowerCase() }),
});

const update = changes({
  role: 'admin',
  summary: "Changes a member's name or role, or lets a deactivated member in again",
  notes:
    'Whoever is let in again needs a new token: staff new-token EMAIL. After many wrong passwords, staff tokens or one-time passwords a member is refused for a while: --forget-failures ends that.',
  options: {
    email,
    name: optional('name', read.name, NAME),
    role: optional('role', role, ROLE),
    reactivate: flag('reactivate', 'Let a deactivated member in again'),
    forgets: flag('forget-failures', 'Let the member in again now, after failed log-ins'),
    otp,
  },
  argument: 'email',
  check: ({ email: _, otp: _otp, ...wanted }) =>
    requireOne(wanted, 'Say what to change: --name, --role, --reactivate or --forget-failures'),
  run: async (service, { email, otp, reactivate, forgets, ...wanted }, change) => {
    await requireOtp(service, change, otp);
    const forgetWith = forgets ? service.config.secretsKeys : undefined;
    return changeMember(
      change,
      email,
      { ...wanted, active: reactivate || undefined },
      { forgetWith },
    );
  },
});

const deactivate = changes({
  role: 'admin',
  summary: 'Shuts a member out at once, and ends the token of the member for good',
  options: { email, otp },
  argument: 'email',
  run: async (service, { email, otp }, change) => {
    await requireOtp(service, change, otp);
    return changeMember(change, email, { active: false }, { state: 'deactivated' });
  },
});

/** Parts of a member's update that are no columns. */
interface Manner {
  /** The keys under which failures are counted, to forget those of the member. */
  forgetWith?: KeyRing | undefined;
  /** The state that the verb brings about. */
  state?: string;
}

function changeMember(
  change: Change,
  email: string,
  wanted: StaffChanges,
  { forgetWith, state }: Manner,
): Promise<Answer> {
  const apply = async (trx: Transaction) => {
    const { member, changed } = await updateStaff(trx, email, wanted);
    const hasForgotten = forgetWith && (await forgetStaffFailures(trx, forgetWith, member));
    const { id: staff_id, role, active } = member;
    const isChanged = Object.keys(changed).length > 0;
    const forgotten = hasForgotten && { failed_log_ins: 'forgotten' };
    return {
      ...{ row: member, merchant_id: null, changed: { ...changed, ...forgotten } },
      events: [
        ...(isChanged
          ? [{ kind: 'staff_changed', detail: { staff_id, role, active } } as const]
          : []),
        ...(hasForgotten ? [{ kind: 'log_in_limit_lifted', detail: { staff_id } } as const] : []),
      ],
    };
  };
  return updateRow(change, view, apply, state);
}

export const staff: Noun = {
  summary: 'Who may use this command line',
  verbs: {
    ...{ create, list, update, deactivate, 'new-token': newToken },
    ...{ 'begin-totp': beginTotp, 'confirm-totp': confirmTotp, 'reset-totp': resetTotp },
  },
};
