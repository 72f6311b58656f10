import {
  beginStaffTotp,
  enableStaffTotp,
  useStaffTotp,
} from '../domain/credentials/staff-log-in.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { nameOfMember } from '../domain/staff/given-access.ts';
import { hasOtherAdmin, switchTotpOff } from '../domain/staff/replace-access.ts';
import type { StaffMember } from '../domain/staff/staff.ts';
import { required } from './field.ts';
import { define, type Look, type Operation } from './operation.ts';
import * as read from './readers.ts';
import { accessOf, NO_STAFF, SECOND_ADMIN_AGREES, STAFF, WHERE_ADMIN } from './staff.ts';

const CODE_LENGTH = 6;

const auditOf = (member: StaffMember, details: Record<string, unknown>) => ({
  merchant_id: null,
  subject: nameOfMember(member.email),
  details,
});

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
    // Only the command line confirms them so.
    await useStaffTotp(database, config.secretsKeys, member, otp, null);
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
  twoPeople: `of another member. ${WHERE_ADMIN}`,
  approval: async ({ service: { database }, member, subject: { email } }) => {
    if (!(await hasOtherAdmin(database, member!.email, email))) return null;
    return { ...accessOf(email), payload: { email }, why: SECOND_ADMIN_AGREES };
  },
  perform: async ({ audited, subject: { email } }) => {
    const wasOn = await audited((trx) => switchTotpOff(trx, { email }));
    return {
      title: wasOn
        ? `${email} has no one-time passwords any more`
        : `${email} has no one-time passwords: nothing was changed`,
      more: { email, totp: false, changed: wasOn },
      isDone: wasOn,
    };
  },
});

/** Operations about the one-time passwords of members of staff. */
export const totpOperations: readonly Operation[] = [beginTotp, confirmTotp, resetTotp];
