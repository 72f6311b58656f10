import { listUsers, type UserRecord } from '../../domain/merchants/user.ts';
import * as read from '../../operations/readers.ts';
import { createUser, USER, userOperations } from '../../operations/user.ts';
import { verbsOf } from '../operation-verb.ts';
import { lists, recordLines, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { type Noun, reads } from '../verb.ts';

const view: View<UserRecord> = {
  what: 'user',
  keyOf: ({ email }) => email,
  document: ({ id, ...row }) => ({ user_id: id, ...rowDocument(row) }),
  columns: ['email', 'name', 'merchant_id', 'role', 'active', 'totp'],
};

const list = lists(view, read.email, {
  role: 'viewer',
  summary: 'Lists users by e-mail address',
  options: { merchant_id: read.ofMerchant },
  read: ({ database }, page) => listUsers(database, { ...page, after: page.after?.toLowerCase() }),
});

const show = reads({
  role: 'viewer',
  summary: 'Shows a user',
  options: USER.fields,
  argument: USER.argument,
  run: async (service, names) => {
    const found = await USER.find(service, names);
    return { data: view.document(found), lines: recordLines(view, found) };
  },
});

export const user: Noun = {
  summary: 'People who log in for a merchant',
  verbs: {
    ...verbsOf([createUser], () => view),
    list,
    show,
    ...verbsOf(Object.values(userOperations), () => view),
  },
};
