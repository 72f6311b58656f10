import type { UserRecord } from '../../domain/merchants/user.ts';
import type { View } from './answers.ts';
import { rowDocument } from './document.ts';

export const users: View<UserRecord> = {
  what: 'user',
  keyOf: ({ email }) => email,
  document: ({ id, ...row }) => ({ user_id: id, ...rowDocument(row) }),
  columns: ['email', 'name', 'merchant_id', 'role', 'active', 'totp'],
};
