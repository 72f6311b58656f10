import { type AppRecord, listApps } from '../../domain/merchants/app.ts';
import { signingOf } from '../../domain/merchants/app-secrets.ts';
import { appOperations, createApp } from '../../operations/app.ts';
import { APP } from '../../operations/app-access.ts';
import * as read from '../../operations/readers.ts';
import { verbsOf } from '../operation-verb.ts';
import { lists, recordLines, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { type Noun, reads } from '../verb.ts';

const ANYWHERE = 'anywhere';

const view: View<AppRecord> = {
  what: 'app',
  keyOf: ({ code }) => code,
  document: ({ code, ...row }) => ({ app_code: code, ...rowDocument(row) }),
  columns: [
    ...(['code', 'merchant_id', 'name', 'active', 'products', 'app_key'] as const),
    ['MAY CALL FROM', ({ ip_allow_list }) => ip_allow_list.join(', ') || ANYWHERE],
  ],
  empty: { ip_allow_list: ANYWHERE },
};

const list = lists(view, read.appCode, {
  role: 'viewer',
  summary: 'Lists apps by code',
  options: { merchant_id: read.ofMerchant },
  read: ({ database }, page) => listApps(database, page),
});

const show = reads({
  role: 'viewer',
  summary: 'Shows an app, without its secrets',
  options: APP.fields,
  argument: APP.argument,
  run: async (service, names) => {
    const app = await APP.find(service, names);
    const found = { ...app, ...(await signingOf(service.database, app)) };
    return { data: view.document(found), lines: recordLines(view, found) };
  },
});

export const app: Noun = {
  summary: "A merchant's programs, with their keys and secrets",
  verbs: {
    ...verbsOf([createApp], () => view),
    list,
    show,
    ...verbsOf(appOperations, () => view),
  },
};
