import type { Transaction } from '../../connections/database.ts';
import { rotateAppSecret } from '../../domain/identity/rotate-app-secret.ts';
import {
  type AppChanges,
  type AppRecord,
  addApp,
  listApps,
  type Product,
  requireApp,
  updateApp,
} from '../../domain/merchants/manage-apps.ts';
import { ipAllowList } from '../options/ip-allow-list.ts';
import { optional, required, requireOne, withDefault } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { auditOf, lists, recordLines, shownOnce, updateRow, type View } from '../output/answers.ts';
import { rowDocument } from '../output/document.ts';
import { moment } from '../output/table.ts';
import { changes, type Noun, reads, type Verb } from '../verb.ts';

const MAX_OVERLAP_DAYS = 30;
const MS_PER_S = 1_000;
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

const code = required('app', read.appCode, 'The code of the app');
const products = read.someOf<Product>(['collections', 'payouts', 'disbursements']);
const PRODUCTS = 'Out of collections, payouts, disbursements';
const ADDRESSES = 'Addresses and networks that may call, such as 10.0.0.0/8; none: anywhere';

const create = changes({
  summary: 'Creates an app and shows its secret once',
  options: {
    merchant_id: required('merchant', read.merchantId, 'The merchant of the app'),
    name: required('name', read.name, 'Its name'),
    products: required('products', products, PRODUCTS),
    ip_allow_list: withDefault('ip-allow-list', ipAllowList, ADDRESSES, []),
  },
  run: async ({ config }, { merchant_id, ...wanted }, { audited }) => {
    const { app, app_secret } = await audited(async (trx) => {
      const value = await addApp(trx, config.secretsKeys, merchant_id, wanted);
      const { name, products, ip_allow_list } = value.app;
      const details = { name, products, ip_allow_list };
      return { value, audit: auditOf(view, value.app, merchant_id, details) };
    });
    return {
      data: { ...view.document(app), app_secret },
      lines: [recordLines(view, app, 'created'), shownOnce('secret', app_secret)],
    };
  },
});

const list = lists(view, read.appCode, {
  summary: 'Lists apps by code',
  options: { merchant_id: read.ofMerchant },
  read: ({ database }, page) => listApps(database, page),
});

const show = reads({
  summary: 'Shows an app, without its secret',
  options: { code },
  argument: 'code',
  run: async ({ database }, values) => {
    const found = await requireApp(database, values.code);
    return { data: view.document(found), lines: recordLines(view, found) };
  },
});

const update = changes({
  summary: 'Changes the name, the products or the addresses of an app',
  options: {
    code,
    name: optional('name', read.name, 'Its name'),
    products: optional('products', products, PRODUCTS),
    ip_allow_list: optional('ip-allow-list', ipAllowList, ADDRESSES),
  },
  argument: 'code',
  check: ({ code: _, ...wanted }) =>
    requireOne(wanted, 'Say what to change: --name, --products or --ip-allow-list'),
  run: (_service, { code, ...wanted }, change) =>
    updateRow(change, view, (trx) => updated(trx, code, wanted)),
});

async function updated(trx: Transaction, code: number, wanted: AppChanges) {
  const { app, changed } = await updateApp(trx, code, wanted);
  return { row: app, merchant_id: app.merchant_id, changed };
}

function activation(summary: string, active: boolean): Verb {
  const state = active ? 'active' : 'suspended';
  return changes({
    summary,
    options: { code },
    argument: 'code',
    run: (_service, { code }, change) =>
      updateRow(change, view, (trx) => updated(trx, code, { active }), state),
  });
}

const rotateSecret = changes({
  summary: 'Gives an app a new secret and shows it once',
  notes:
    'The new secret signs webhooks from now on. Without an overlap the old secrets and the tokens of the app end at once. With an overlap they work until it ends.',
  options: {
    code,
    overlap: withDefault(
      'overlap',
      read.duration(MAX_OVERLAP_DAYS),
      'How long the old secrets still work, such as 24h. Default: 0',
      0,
    ),
  },
  argument: 'code',
  run: async ({ config }, { code, overlap }, { audited }) => {
    const { app, app_secret, old_secrets_until, revoked } = await audited(async (trx) => {
      const value = await rotateAppSecret(trx, config.secretsKeys, code, overlap);
      const details = {
        overlap_s: overlap / MS_PER_S,
        old_secrets_until: value.old_secrets_until,
        revoked_token_families: value.revoked,
      };
      return { value, audit: auditOf(view, value.app, value.app.merchant_id, details) };
    });
    return {
      data: {
        ...view.document(app),
        app_secret,
        old_secrets_until,
        revoked_token_families: revoked,
      },
      lines: [
        recordLines(view, app, 'has a new secret, which signs webhooks from now on'),
        shownOnce('secret', app_secret),
        old_secrets_until
          ? `Old secrets work until ${moment(old_secrets_until)}`
          : `Old secrets have ended. Sessions ended: ${revoked}`,
      ],
    };
  },
});

export const app: Noun = {
  summary: "A merchant's programs, with their keys and secrets",
  verbs: {
    create,
    list,
    show,
    update,
    suspend: activation('Refuses all requests of an app until it is activated', false),
    activate: activation('Ends the suspension of an app', true),
    'rotate-secret': rotateSecret,
  },
};
