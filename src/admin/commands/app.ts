import { listApps, PRODUCTS, requireApp } from '../../domain/merchants/app.ts';
import { SECRET_KINDS, type SecretKind } from '../../domain/merchants/app-secrets.ts';
import { changeApp, registerApp, signingOf } from '../../domain/merchants/change-app.ts';
import { optional, required, requireOne, withDefault } from '../../operations/field.ts';
import { ipAllowList } from '../../operations/ip-allow-list.ts';
import * as read from '../../operations/readers.ts';
import { lists, recordLines, shownOnce, updateRow, withEndedSessions } from '../output/answers.ts';
import { apps as view } from '../output/apps.ts';
import { changes, type Noun, reads, type Verb } from '../verb.ts';
import { rotateSecret, rotateWebhook } from './app-rotations.ts';

const code = required('app', read.appCode, 'The code of the app');
const products = read.someOf(PRODUCTS);
const PRODUCTS_HELP = `Out of ${PRODUCTS.join(', ')}`;
const ADDRESSES = 'Addresses and networks that may call, such as 10.0.0.0/8; none: anywhere';
const SIGNS = 'What signs its webhooks: its app secret, or a webhook secret of its own';

const create = changes({
  role: 'admin',
  summary: 'Creates an app and shows its secret once',
  options: {
    merchant_id: required('merchant', read.merchantId, 'The merchant of the app'),
    name: required('name', read.name, 'Its name'),
    products: required('products', products, PRODUCTS_HELP),
    ip_allow_list: withDefault('ip-allow-list', ipAllowList, ADDRESSES, []),
  },
  run: async ({ config }, { merchant_id, ...wanted }, { audited }) => {
    const { app, app_secret } = await audited((trx) =>
      registerApp(trx, config.secretsKeys, merchant_id, wanted),
    );
    return {
      data: { ...view.document(app), app_secret },
      lines: [recordLines(view, app, 'created'), shownOnce('secret', app_secret)],
    };
  },
});

const list = lists(view, read.appCode, {
  role: 'viewer',
  summary: 'Lists apps by code',
  options: { merchant_id: read.ofMerchant },
  read: ({ database }, page) => listApps(database, page),
});

const show = reads({
  role: 'viewer',
  summary: 'Shows an app, without its secrets',
  options: { code },
  argument: 'code',
  run: async ({ database }, values) => {
    const app = await requireApp(database, values.code);
    const found = { ...app, ...(await signingOf(database, app)) };
    return { data: view.document(found), lines: recordLines(view, found) };
  },
});

const update = changes({
  role: 'admin',
  summary: 'Changes the name, the products, the addresses or the webhook secret of an app',
  notes:
    "With --webhook-secret own the app's webhooks are signed with a secret of their own from now on, which is shown once. With --webhook-secret app they are signed with the app secret again, and the webhook secret ends.",
  options: {
    code,
    name: optional('name', read.name, 'Its name'),
    products: optional('products', products, PRODUCTS_HELP),
    ip_allow_list: optional('ip-allow-list', ipAllowList, ADDRESSES),
    webhook_secret: optional('webhook-secret', read.oneOf<SecretKind>(SECRET_KINDS), SIGNS),
  },
  argument: 'code',
  check: ({ code: _, ...wanted }) =>
    requireOne(
      wanted,
      'Say what to change: --name, --products, --ip-allow-list or --webhook-secret',
    ),
  run: ({ config }, { code, webhook_secret, ...wanted }, change) =>
    updateRow(change, view, async (trx) => {
      const update = await changeApp(trx, config.secretsKeys, code, wanted, webhook_secret);
      const { webhook_secret: secret } = update;
      if (secret === null) return update;
      const notes = [shownOnce('webhook secret', secret)];
      return { ...update, more: { webhook_secret: secret }, notes };
    }),
});

function activation(summary: string, active: boolean): Verb {
  const state = active ? 'active' : 'suspended';
  return changes({
    role: 'admin',
    summary,
    options: { code },
    argument: 'code',
    run: ({ config }, { code }, change) =>
      updateRow(
        change,
        view,
        async (trx) => {
          const update = await changeApp(trx, config.secretsKeys, code, { active });
          return active ? update : withEndedSessions(update);
        },
        state,
      ),
  });
}

export const app: Noun = {
  summary: "A merchant's programs, with their keys and secrets",
  verbs: {
    create,
    list,
    show,
    update,
    suspend: activation(
      'Refuses all requests of an app until it is activated, and ends its sessions for good',
      false,
    ),
    activate: activation('Ends the suspension of an app', true),
    'rotate-secret': rotateSecret,
    'rotate-webhook-secret': rotateWebhook,
  },
};
