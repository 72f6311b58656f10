import { listForReview, type ReviewedMember } from '../domain/staff/staff.ts';
import { define, type Look } from './operation.ts';

/** Prints who may do what, and keeps on record who has looked at it. */
export const reviewStaff = define<unknown, Record<never, never>>({
  name: 'staff.review',
  role: 'admin',
  title: 'Review the members of staff',
  summary: 'Prints the role of each active member, and keeps on record that you have reviewed them',
  notes:
    'Do it each quarter: staff deactivate and staff update --role take away what nobody needs. The audit log keeps members and roles as they were.',
  fields: {},
  preview: () => ['The audit log keeps that you have reviewed the members and their roles.'],
  perform: async ({ audited, time }) => {
    const members = await audited(async (trx) => {
      const value = await listForReview(trx);
      const roles = Object.fromEntries(value.map(({ email, role }) => [email, role]));
      return { value, audit: { merchant_id: null, subject: 'staff', details: { roles } } };
    });
    return {
      title: `${members.length} active members are reviewed`,
      more: { members },
      notes: members.map((member) => lineOf(member, time)),
    };
  },
});

function lineOf(
  { email, role, totp, last_seen_at, given_by, given_at }: ReviewedMember,
  time: Look<unknown>['time'],
): string {
  const seen = last_seen_at ? `last seen ${time(last_seen_at)}` : 'not seen for 90 days';
  const given = given_by && given_at ? `, access from ${given_by} at ${time(given_at)}` : '';
  return `${email}: ${role}, ${seen}${totp ? '' : ', without one-time passwords'}${given}`;
}
