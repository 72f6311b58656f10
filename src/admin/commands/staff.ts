import { listStaff, type StaffMember } from '../../domain/staff/staff.ts';
import * as read from '../../operations/readers.ts';
import { staffOperations } from '../../operations/staff.ts';
import { reviewStaff } from '../../operations/staff-review.ts';
import { totpOperations } from '../../operations/staff-totp.ts';
import { verbsOf } from '../operation-verb.ts';
import { lists, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import type { Noun } from '../verb.ts';

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

const list = lists(view, read.email, {
  role: 'viewer',
  summary: 'Lists the members of staff by e-mail address, and when their tokens expire',
  read: ({ database }, page) => listStaff(database, { ...page, after: page.after?.toLowerCase() }),
});

const { create, ...changes } = verbsOf(
  [...staffOperations, ...totpOperations, reviewStaff],
  () => view,
);

export const staff: Noun = {
  summary: 'Who may use this command line',
  verbs: { create: create!, list, ...changes },
};
