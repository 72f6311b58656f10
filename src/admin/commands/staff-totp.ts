import {
  beginStaffTotp,
  enableStaffTotp,
  resetStaffTotp,
  useStaffTotp,
} from '../../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { requireMember, type StaffMember } from '../../domain/staff/staff.ts';
import { optional, required } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import type { Service } from '../../service/service.ts';
import { shownOnce } from '../output/answers.ts';
import { type Change, changes } from '../verb.ts';

const CODE_LENGTH = 6;
const HAS_NONE = 'has no one-time passwords: nothing was changed';
const code = read.text('CODE', CODE_LENGTH);

/** The option of every change of staff. */
export const otp = optional('otp', code, 'Your one-time password, once you have set them up');

/**
 * Requires a one-time password of a member who has set them up. It is spent, whatever follows.
 * @throws OperatorRefusal without one, and StaffRefusal when it is wrong
 */
export async function requireOtp(
  { database, config }: Service,
  { member }: Change,
  given: string | undefined,
): Promise<void> {
  if (!member?.totp) {
    if (given === undefined) return;
    throw new OperatorRefusal('You have not set up one-time passwords: staff begin-totp');
  }
  if (given === undefined) throw new OperatorRefusal('This needs your one-time password: --otp');
  await useStaffTotp(database, config.secretsKeys, member, given);
}

/** @throws OperatorRefusal while there is no staff */
function ownAccount({ member }: Change): StaffMember {
  if (!member) throw new OperatorRefusal('There is no staff yet: staff create --first');
  return member;
}

const subjectOf = ({ email }: StaffMember) => ({
  merchant_id: null,
  subject: `staff member ${email}`,
});

export const beginTotp = changes({
  role: 'viewer',
  summary: 'Begins to set up your one-time passwords, and shows their secret once',
  notes:
    'Give the secret to an authenticator app (RFC 6238: six digits, 30 seconds), then confirm it with staff confirm-totp. From then on your changes of staff accounts and tokens need --otp, so that a stolen token alone makes no other.',
  run: async ({ config }, _values, change) => {
    const member = ownAccount(change);
    const begun = await change.audited(async (trx) => {
      const value = await beginStaffTotp(trx, config.secretsKeys, member);
      return { value, audit: { ...subjectOf(member), details: {} } };
    });
    return {
      data: { email: member.email, ...begun },
      lines: [shownOnce('secret', begun.secret), `For a QR code: ${begun.otpauth_uri}`],
    };
  },
});

export const confirmTotp = changes({
  role: 'viewer',
  summary: 'Switches your one-time passwords on, with a first one',
  options: { otp: required('otp', code, 'What the authenticator app shows') },
  argument: 'otp',
  run: async ({ database, config }, { otp }, change) => {
    const member = ownAccount(change);
    await useStaffTotp(database, config.secretsKeys, member, otp);
    await change.audited(async (trx) => {
      await enableStaffTotp(trx, member);
      const event = { kind: 'staff_totp_enabled', detail: { staff_id: member.id } } as const;
      const audit = { ...subjectOf(member), details: { totp: true } };
      return { value: null, audit, events: [event] };
    });
    return {
      data: { email: member.email, totp: true },
      lines: ['One-time passwords are on: your changes of staff need --otp from now on'],
    };
  },
});

export const resetTotp = changes({
  role: 'admin',
  summary: 'Switches one-time passwords off for a member who has lost them',
  notes: 'Make sure that it is the member who asks.',
  options: { email: required('email', read.email, 'The e-mail address of the member'), otp },
  argument: 'email',
  run: async (service, { email, otp }, change) => {
    await requireOtp(service, change, otp);
    const { member, wasOn } = await change.audited(async (trx) => {
      const member = await requireMember(trx, email);
      const wasOn = await resetStaffTotp(trx, member);
      const event = { kind: 'staff_totp_reset', detail: { staff_id: member.id } } as const;
      const audit = wasOn ? { ...subjectOf(member), details: { totp: false } } : null;
      return { value: { member, wasOn }, audit, events: wasOn ? [event] : [] };
    });
    return {
      data: { email: member.email, totp: false, changed: wasOn },
      lines: [`${member.email} ${wasOn ? 'has no one-time passwords any more' : HAS_NONE}`],
    };
  },
});
