import type { Database, Transaction } from '../connections/database.ts';
import type { AuditedChange } from '../domain/audit/audit.ts';
import { refuseManyForgotten } from '../domain/credentials/log-in-limit.ts';
import { forgetStaffFailures } from '../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { hasSecondAdmin, nameOfMember } from '../domain/staff/given-access.ts';
import {
  addMember,
  changeMember,
  hasOtherAdmin,
  replaceToken,
} from '../domain/staff/replace-access.ts';
import {
  type IssuedToken,
  lockMember,
  newToken as makeToken,
  mayActAs,
  requireActive,
  requireMember,
  requireStillAdmin,
  STAFF_ROLES,
  type StaffChanges,
  type StaffMember,
  TOKEN_LIFETIME_DAYS,
} from '../domain/staff/staff.ts';
import type { KeyRing } from '../process/key-ring.ts';
import { changeRow } from './changed-row.ts';
import { flag, optional, required, requireOne, UsageError } from './field.ts';
import { type Deed, define, type Noun, type Operation, type Result } from './operation.ts';
import * as read from './readers.ts';

/** The member that an operation is about. */
export const STAFF: Noun<StaffMember> = {
  fields: { email: required('email', read.email, 'The e-mail address of the member') },
  argument: 'email',
  find: ({ database }, { email }) => requireMember(database, String(email)),
};

/** Who must agree depends on the member's role. */
function seenOf(executor: Database | Transaction, { email }: StaffMember, lock: string) {
  return lock ? lockMember(executor as Transaction, email) : requireMember(executor, email);
}

const nameOf = ({ email }: StaffMember) => nameOfMember(email);

const role = read.oneOf(STAFF_ROLES);
const NAME = 'The name of the person, or of the machine';
const ROLE = 'viewer: looks. support: also decides, replays and resends. admin: everything';

export const WHERE_ADMIN = 'Not if there is no third admin';
export const SECOND_ADMIN_AGREES = 'Nothing happens now: another admin must approve it first.';

/** Names the access of a member in a request. */
export const accessOf = (email: string) => ({
  subject: nameOfMember(email),
  merchant_id: null,
  amount_cents: null,
});

/** Makes a token that works once a request for it is approved. */
function askedToken(email: string) {
  const { token: value, token_hash, token_prefix } = makeToken();
  return {
    payload: { email, token_hash: token_hash.toString('hex'), token_prefix },
    secret: { name: 'token', what: 'token', value },
  };
}

const create = define({
  name: 'staff.create',
  role: 'admin',
  title: 'Add a member of staff',
  summary: 'Adds a member of staff, and shows the token of the member once',
  notes: `From the first member on, the command line needs a token. A token is good for ${TOKEN_LIFETIME_DAYS} days. The member puts it into MALIPO_STAFF_TOKEN, or the path of a file with it into MALIPO_STAFF_TOKEN_FILE, and replaces it with staff new-token, so that nobody else knows it. A machine is a member too.`,
  fields: {
    name: required('name', read.name, NAME),
    email: required('email', read.email, 'Unique. The audit log names the member by this address'),
    role: optional('role', role, `${ROLE}. Required without --first`),
    first: flag('first', 'The first member, an admin. It needs no token, and can be done once'),
  },
  argument: 'name',
  otp: 'if set up',
  check: ({ first, role }) => {
    if (!first && role === undefined) throw new UsageError('--role is required');
    if (first && role !== undefined && role !== 'admin') {
      throw new UsageError('--first makes an admin: leave --role out');
    }
  },
  preview: (_look, values) => [
    ...(values
      ? [
          `${values.email} becomes a member with the role ${values.role ?? 'admin'}, under the name ${JSON.stringify(values.name)}.`,
        ]
      : []),
    'The member gets a token, which is shown once.',
  ],
  twoPeople: 'where another admin is a second person',
  approval: async ({ service: { database }, member }, { name, email, role = 'admin', first }) => {
    if (first || !(await hasSecondAdmin(database, member!.email))) return null;
    const { payload, secret } = askedToken(email.toLowerCase());
    return {
      ...accessOf(payload.email),
      payload: { ...payload, name, role },
      secret,
      why: `${SECOND_ADMIN_AGREES} The token works from then on.`,
    };
  },
  perform: (deed, { name, email, role = 'admin', first }) =>
    issue(deed, 'created', async (trx) => {
      const { token, ...stored } = makeToken();
      const { value, ...left } = await addMember(trx, { name, email, role, ...stored }, first);
      return { ...left, value: { member: value, token } };
    }),
});

const newToken = define({
  name: 'staff.new-token',
  role: 'viewer',
  title: 'Replace a token',
  summary: 'Gives a member a new token and shows it once; the old one ends at once',
  notes:
    'Without EMAIL you replace your own token. Only an admin may replace the token of another member.',
  fields: { email: optional('email', read.email, 'The member. Default: you') },
  argument: 'email',
  otp: 'if set up',
  preview: () => ['The member gets a new token, which is shown once. The old one ends at once.'],
  twoPeople: `the token of another member. ${WHERE_ADMIN}`,
  approval: async ({ service: { database }, member }, values) => {
    const email = holderOf(values.email, member);
    const isOwn = email === member?.email;
    if (isOwn || !(await hasOtherAdmin(database, member!.email, email))) return null;
    requireActive(await requireMember(database, email));
    return {
      ...accessOf(email),
      ...askedToken(email),
      why: `${SECOND_ADMIN_AGREES} The token works from then on, and the old one until then.`,
    };
  },
  perform: (deed, values) => {
    const { member } = deed;
    const email = holderOf(values.email, member);
    const isOwn = member?.email === email;
    const give = async (trx: Transaction) => {
      if (member && !isOwn) await requireStillAdmin(trx, member);
      const { token, ...stored } = makeToken();
      const { value, ...left } = await replaceToken(trx, email, stored, { isOwn });
      return { ...left, value: { member: value, token } };
    };
    return issue(deed, 'has a new token', give, isOwn ? [SET_UP_ANEW] : []);
  },
});

function holderOf(email: string | undefined, member: StaffMember | null): string {
  const named = email?.toLowerCase() ?? member?.email;
  if (named === undefined) throw new OperatorRefusal(NO_STAFF);
  if (!member || named === member.email || mayActAs(member.role, 'admin')) return named;
  throw new OperatorRefusal('Only an admin may give another member a new token');
}

export const NO_STAFF = 'There is no staff yet: staff create --first';

const SET_UP_ANEW =
  'If somebody else had given you the old one, or you have not confirmed one-time passwords, the password of the console has ended: set both up anew';

/** Gives a member a token, and shows it. */
async function issue(
  { audited, time }: Deed<unknown>,
  words: string,
  give: (trx: Transaction) => Promise<AuditedChange<IssuedToken>>,
  more: string[] = [],
): Promise<Result> {
  const { member, token } = await audited(give);
  return {
    title: `Staff member ${member.email} ${words}`,
    row: member,
    secret: { name: 'token', what: 'token', value: token },
    notes: [`It works until ${time(member.token_expires_at)}`, ...more],
  };
}

/** @throws OperatorRefusal when more is to change than what another admin must approve */
function requireOnly(others: object): void {
  if (Object.values(others).every((value) => !value)) return;
  throw new OperatorRefusal('Change the role alone (--role): another admin must approve it first');
}

/**
 * Tells whether another admin must agree to take the role of an admin away: else one admin could get rid
 * of all others, and then agree with members of own making.
 */
async function losesAdmin(
  database: Database,
  { email }: StaffMember,
  subject: StaffMember,
): Promise<boolean> {
  const isOther = subject.active && subject.role === 'admin' && subject.email !== email;
  return isOther && hasOtherAdmin(database, email, subject.email);
}

const update = define({
  name: 'staff.update',
  role: 'admin',
  title: 'Change a member of staff',
  summary: "Changes a member's name or role, or lets a deactivated member in again",
  notes:
    'A member who is let in again needs a new token: staff new-token EMAIL. After many wrong passwords, staff tokens or one-time passwords a member is refused for a while: --forget-failures ends that.',
  about: STAFF,
  seen: seenOf,
  fields: {
    name: optional('name', read.name, NAME),
    role: optional('role', role, ROLE),
    reactivate: flag('reactivate', 'Let a deactivated member in again'),
    forget_failures: flag('forget-failures', 'Let the member in again now, after failed log-ins'),
  },
  otp: 'if set up',
  check: (wanted) =>
    requireOne(wanted, 'Say what to change: --name, --role, --reactivate or --forget-failures'),
  preview: ({ subject: { email, role, active } }, values) => [
    ...(values?.role ? [`${email} has the role ${role}, and gets the role ${values.role}.`] : []),
    ...(values?.reactivate && !active
      ? [`${email} is let in again, as ${values.role ?? role}.`]
      : []),
    'Only what you change here changes, and at once.',
  ],
  twoPeople: `a higher role, or to let an admin in again, where another admin is a second person; a lower role of an admin. ${WHERE_ADMIN}`,
  approval: async ({ service: { database }, member, subject }, { role, reactivate, ...others }) => {
    const { email } = subject;
    const wanted = role ?? subject.role;
    const becomesAdmin = wanted === 'admin' && reactivate && !subject.active;
    if (wanted === subject.role && !becomesAdmin) return null;
    const isHigher = becomesAdmin || !mayActAs(subject.role, wanted);
    const needsOther = isHigher
      ? await hasSecondAdmin(database, member!.email)
      : await losesAdmin(database, member!, subject);
    if (!needsOther) return null;
    requireOnly(others);
    const was = { role: subject.role, active: subject.active };
    const payload = { email, role: wanted, ...(reactivate && { active: true }), was };
    return { ...accessOf(email), payload, why: SECOND_ADMIN_AGREES };
  },
  perform: (deed, { reactivate, forget_failures, ...wanted }) => {
    const forgetWith = forget_failures ? deed.service.config.secretsKeys : undefined;
    return changed(deed, { ...wanted, active: reactivate || undefined }, { forgetWith });
  },
});

const deactivate = define({
  name: 'staff.deactivate',
  role: 'admin',
  title: 'Deactivate a member of staff',
  summary: 'Shuts a member out at once, and ends the token of the member for good',
  about: STAFF,
  seen: seenOf,
  fields: {},
  otp: 'if set up',
  preview: () => ['The member is shut out at once. Token and password end for good.'],
  twoPeople: `of another admin. ${WHERE_ADMIN}`,
  approval: async ({ service: { database }, member, subject }) => {
    if (!(await losesAdmin(database, member!, subject))) return null;
    const { email } = subject;
    return { ...accessOf(email), payload: { email }, why: SECOND_ADMIN_AGREES };
  },
  perform: (deed) => changed(deed, { active: false }, { state: 'deactivated' }),
});

/** Parts of a member's update that are no columns. */
interface Manner {
  /** The keys under which failures are counted, to forget the member's failures. */
  forgetWith?: KeyRing | undefined;
  /** The state that the operation brings about. */
  state?: string;
}

async function changed(
  deed: Deed<StaffMember>,
  wanted: StaffChanges,
  { forgetWith, state }: Manner,
): Promise<Result> {
  const apply = async (trx: Transaction) => {
    const change = await changeMember(trx, deed.subject.email, wanted);
    const { row, changed, events = [] } = change;
    const hasForgotten = forgetWith && (await forgetStaffFailures(trx, forgetWith, row));
    if (!hasForgotten) return change;
    await refuseManyForgotten(trx, { subject: nameOf(row), action: 'staff.update' });
    const event = { kind: 'log_in_limit_lifted', detail: { staff_id: row.id } } as const;
    const forgotten = { failed_log_ins: 'forgotten' };
    return { ...change, changed: { ...changed, ...forgotten }, events: [...events, event] };
  };
  return (await changeRow(deed, nameOf, apply, state)).result;
}

/** Operations about members of staff. */
export const staffOperations: readonly Operation[] = [create, update, deactivate, newToken];
