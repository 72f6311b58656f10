import type { Transaction } from '../connections/database.ts';
import {
  beginStaffTotp,
  enableStaffTotp,
  forgetStaffFailures,
  resetStaffTotp,
  useStaffTotp,
} from '../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import type { SecurityEvent, SecurityEventKind } from '../domain/security/security-events.ts';
import {
  createStaff,
  type IssuedToken,
  lockMember,
  mayActAs,
  renewToken,
  requireMember,
  requireStillAdmin,
  STAFF_ROLES,
  type StaffChanges,
  type StaffMember,
  TOKEN_LIFETIME_DAYS,
  updateStaff,
} from '../domain/staff/staff.ts';
import type { KeyRing } from '../process/key-ring.ts';
import { changeRow } from './changed-row.ts';
import { flag, optional, required, requireOne, UsageError } from './field.ts';
import {
  type Deed,
  define,
  type Look,
  type Noun,
  type Operation,
  type Result,
} from './operation.ts';
import * as read from './readers.ts';

const STAFF: Noun<StaffMember> = {
  fields: { email: required('email', read.email, 'The e-mail address of the member') },
  argument: 'email',
  find: ({ database }, { email }) => requireMember(database, String(email)),
};

const nameOf = ({ email }: StaffMember) => `staff member ${email}`;
const auditOf = (member: StaffMember, details: Record<string, unknown>) => ({
  merchant_id: null,
  subject: nameOf(member),
  details,
});

const CODE_LENGTH = 6;
const role = read.oneOf(STAFF_ROLES);
const NAME = 'The name of the person, or of the machine';
const ROLE = 'viewer: looks. support: also decides, replays and resends. admin: everything';

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
  preview: () => ['The member gets a token, which is shown once.'],
  perform: (deed, { name, email, role = 'admin', first }) =>
    issue(deed, 'staff_created', 'created', (trx) =>
      createStaff(trx, { name, email, role }, first),
    ),
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
  perform: (deed, values) => {
    const { member } = deed;
    const email = holderOf(values.email, member);
    return issue(deed, 'staff_token_renewed', 'has a new token', async (trx) => {
      if (member && member.email !== email) await requireStillAdmin(trx, member);
      return renewToken(trx, email);
    });
  },
});

function holderOf(email: string | undefined, member: StaffMember | null): string {
  const named = email?.toLowerCase() ?? member?.email;
  if (named === undefined) throw new OperatorRefusal(NO_STAFF);
  if (!member || named === member.email || mayActAs(member.role, 'admin')) return named;
  throw new OperatorRefusal('Only an admin may give another member a new token');
}

const NO_STAFF = 'There is no staff yet: staff create --first';

/** Makes a token with its audit line and its security event, and shows the token. */
async function issue(
  { audited, time }: Deed<unknown>,
  kind: SecurityEventKind,
  words: string,
  make: (trx: Transaction) => Promise<IssuedToken>,
): Promise<Result> {
  const { member, token } = await audited(async (trx) => {
    const value = await make(trx);
    const { id, name, role, token_prefix, token_expires_at } = value.member;
    const event = { kind, detail: { staff_id: id, role } };
    const audit = auditOf(value.member, { name, role, token_prefix, token_expires_at });
    return { value, audit, events: [event] };
  });
  return {
    title: `Staff member ${member.email} ${words}`,
    row: member,
    secret: { name: 'token', what: 'token', value: token },
    notes: [`It works until ${time(member.token_expires_at)}`],
  };
}

const update = define({
  name: 'staff.update',
  role: 'admin',
  title: 'Change a member of staff',
  summary: "Changes a member's name or role, or lets a deactivated member in again",
  notes:
    'A member who is let in again needs a new token: staff new-token EMAIL. After many wrong passwords, staff tokens or one-time passwords a member is refused for a while: --forget-failures ends that.',
  about: STAFF,
  fields: {
    name: optional('name', read.name, NAME),
    role: optional('role', role, ROLE),
    reactivate: flag('reactivate', 'Let a deactivated member in again'),
    forget_failures: flag('forget-failures', 'Let the member in again now, after failed log-ins'),
  },
  otp: 'if set up',
  check: (wanted) =>
    requireOne(wanted, 'Say what to change: --name, --role, --reactivate or --forget-failures'),
  preview: () => ['Only what you change here changes, and at once.'],
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
  fields: {},
  otp: 'if set up',
  preview: () => ['The member is shut out at once. Token and password end for good.'],
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
    const { member: row, changed } = await updateStaff(trx, deed.subject.email, wanted);
    const hasForgotten = forgetWith && (await forgetStaffFailures(trx, forgetWith, row));
    const { id: staff_id, role, active } = row;
    const events: SecurityEvent[] = [];
    if (Object.keys(changed).length > 0) {
      events.push({ kind: 'staff_changed', detail: { staff_id, role, active } });
    }
    if (hasForgotten) events.push({ kind: 'log_in_limit_lifted', detail: { staff_id } });
    const forgotten = hasForgotten && { failed_log_ins: 'forgotten' };
    return { row, merchant_id: null, changed: { ...changed, ...forgotten }, events };
  };
  return (await changeRow(deed, nameOf, apply, state)).result;
}

const beginTotp = define({
  name: 'staff.begin-totp',
  role: 'viewer',
  title: 'Set up your one-time passwords',
  summary: 'Begins to set up your one-time passwords, and shows their secret once',
  notes:
    'Give the secret to an authenticator app (RFC 6238: six digits, 30 seconds), then confirm it with staff confirm-totp. From then on your changes of staff accounts and tokens need --otp, so that a thief of your token cannot make another one.',
  fields: {},
  preview: () => ['You get a secret for an authenticator app, which is shown once.'],
  perform: async (deed) => {
    const member = ownAccount(deed);
    const { secret, otpauth_uri } = await deed.audited(async (trx) => {
      const value = await beginStaffTotp(trx, deed.service.config.secretsKeys, member);
      return { value, audit: auditOf(member, {}) };
    });
    return {
      title: 'Give the secret to an authenticator app, then confirm it: staff confirm-totp',
      more: { email: member.email, otpauth_uri },
      secret: { name: 'secret', what: 'secret', value: secret },
      notes: [`For a QR code: ${otpauth_uri}`],
    };
  },
});

const confirmTotp = define({
  name: 'staff.confirm-totp',
  role: 'viewer',
  title: 'Switch your one-time passwords on',
  summary: 'Switches your one-time passwords on. CODE is the first of them',
  fields: {
    otp: required(
      'otp',
      read.text('CODE', CODE_LENGTH),
      'The code that the authenticator app shows',
    ),
  },
  argument: 'otp',
  preview: () => ['Your changes of staff accounts and tokens need a one-time password.'],
  perform: async (deed, { otp }) => {
    const member = ownAccount(deed);
    const { database, config } = deed.service;
    await useStaffTotp(database, config.secretsKeys, member, otp);
    await deed.audited(async (trx) => {
      await enableStaffTotp(trx, member);
      const event = { kind: 'staff_totp_enabled', detail: { staff_id: member.id } } as const;
      return { value: null, audit: auditOf(member, { totp: true }), events: [event] };
    });
    return {
      title: 'One-time passwords are on: your changes of staff need --otp from now on',
      more: { email: member.email, totp: true },
    };
  },
});

/** @throws OperatorRefusal while there is no staff */
function ownAccount({ member }: Look<unknown>): StaffMember {
  if (!member) throw new OperatorRefusal(NO_STAFF);
  return member;
}

const resetTotp = define({
  name: 'staff.reset-totp',
  role: 'admin',
  title: 'Reset the one-time passwords of a member',
  summary: 'Switches one-time passwords off for a member who has lost them',
  notes: 'First make sure that the member is asking.',
  about: STAFF,
  fields: {},
  otp: 'if set up',
  preview: () => ['One-time passwords are switched off, and the sessions of the member end.'],
  perform: async ({ audited, subject: { email } }) => {
    const wasOn = await audited(async (trx) => {
      const member = await lockMember(trx, email);
      const value = await resetStaffTotp(trx, member);
      if (!value) return { value, audit: null };
      const event = { kind: 'staff_totp_reset', detail: { staff_id: member.id } } as const;
      return { value, audit: auditOf(member, { totp: false }), events: [event] };
    });
    return {
      title: wasOn
        ? `${email} has no one-time passwords any more`
        : `${email} has no one-time passwords: nothing was changed`,
      more: { email, totp: false, changed: wasOn },
      isDone: wasOn,
    };
  },
});

/** Operations about members of staff. */
export const staffOperations: readonly Operation[] = [
  create,
  update,
  deactivate,
  newToken,
  beginTotp,
  confirmTotp,
  resetTotp,
];
