import type { UserRecord } from '../domain/identity/manage-users.ts';
import type { ListView } from './lists.ts';
import { fields, moment, yesNo } from './output.ts';

export function userDocument({ id, created_at, ...rest }: UserRecord) {
  return { user_id: id, ...rest, created_at: created_at.toISOString() };
}

/** A user for people, with a first line that says what became of the user. */
export function userLines(words: string, user: UserRecord, password?: string): string[] {
  const values = fields({
    merchant: String(user.merchant_id),
    role: user.role,
    active: yesNo(user.active),
    created: moment(user.created_at),
    ...(password && { password }),
  });
  const once = password ? ['The password is shown this once only.'] : [];
  return [`User ${user.email} ${words}`, ...values, ...once];
}

export const userList: ListView<UserRecord> = {
  what: 'user',
  keyOf: ({ email }) => email,
  document: userDocument,
  titles: ['E-MAIL', 'MERCHANT', 'ROLE', 'ACTIVE'],
  cells: (user) => [user.email, String(user.merchant_id), user.role, yesNo(user.active)],
};
