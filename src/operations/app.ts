import type { Transaction } from '../connections/database.ts';
import {
  type AppChanges,
  type AppRecord,
  changeApp,
  newestAppOf,
  PRODUCTS,
  registerApp,
} from '../domain/merchants/app.ts';
import { SECRET_KINDS, type SecretKind } from '../domain/merchants/app-secrets.ts';
import { type MerchantRecord, requireMerchant } from '../domain/merchants/merchant.ts';
import type { Service } from '../service/service.ts';
import {
  ACCESS,
  APP,
  appSecret,
  nameOf,
  refOf,
  seen,
  WITHOUT_MAIL,
  webhookSecret,
} from './app-access.ts';
import { changeRow, withMore } from './changed-row.ts';
import { optional, required, requireOne, withDefault } from './field.ts';
import { handOver, handOverLine, offerLink } from './hand-over.ts';
import { ipAllowList } from './ip-allow-list.ts';
import { MERCHANT } from './merchant.ts';
import { type Deed, define, type Look, type Operation } from './operation.ts';
import * as read from './readers.ts';
import { rotateSecret, rotateWebhook } from './rotate-secrets.ts';
import { bySecondAdmin, holdNote } from './second-admin.ts';

const products = read.someOf(PRODUCTS);
const PRODUCTS_HELP = `Out of ${PRODUCTS.join(', ')}`;
const ADDRESSES = 'Addresses and networks that may call, such as 10.0.0.0/8; none: anywhere';
const MAY_CALL_FROM = { label: 'May call from', empty: 'any address' };

/** Creates an app of a merchant. */
export const createApp = define({
  name: 'app.create',
  role: 'admin',
  title: 'Create an app',
  button: 'Create',
  summary: 'Creates an app, whose secret its merchant reads by a link in an e-mail',
  notes: WITHOUT_MAIL,
  about: MERCHANT,
  fields: {
    name: required('name', read.name, 'Its name'),
    products: required('products', products, PRODUCTS_HELP),
    ip_allow_list: withDefault('ip-allow-list', ipAllowList, ADDRESSES, [], {
      ...MAY_CALL_FROM,
      initial: 'none',
    }),
  },
  preview: ({ service, subject: { id, name } }) => [
    `Merchant ${id}, ${JSON.stringify(name)}, gets another app, with a key and a secret of its own.`,
    handOverLine(service, 'secret'),
  ],
  seen: async (executor, { id }: MerchantRecord, lock) => {
    await requireMerchant(executor, id, lock);
    return newestAppOf(executor, id);
  },
  ...bySecondAdmin<MerchantRecord, { name: string }>({
    isNew: true,
    names: ({ id }) => ({ merchant_id: id }),
    subject: ({ id }, { name }) => `app ${JSON.stringify(name)} of merchant ${id}`,
    merchant: ({ id }) => id,
  }),
  perform: async ({ audited, service, subject: { id } }, wanted) => {
    const { secretsKeys, newAccessHoldMs } = service.config;
    const { app, app_secret } = await audited(async (trx) => {
      const made = await registerApp(trx, secretsKeys, id, wanted, newAccessHoldMs);
      await offerLink(service, trx, { ...refOf(made.value.app), kind: 'app' });
      return made;
    });
    const notes = ['The secret also signs its webhooks', holdNote(service)];
    return {
      title: `App ${app.code} created`,
      row: app,
      ...handOver(service, appSecret(app_secret), [`Its key is ${app.app_key}`, ...notes]),
    };
  },
});

const update = define({
  name: 'app.update',
  role: 'admin',
  title: 'Change name, products or addresses',
  button: 'Change',
  summary: 'Changes the name, the products, the addresses or the webhook secret of an app',
  notes:
    "With --webhook-secret own the app's webhooks are signed with a secret of their own from now on, which its merchant reads by a link in an e-mail; without a mail server (SMTP_URL) it is shown once. With --webhook-secret app they are signed with the app secret again, and the webhook secret ends.",
  about: APP,
  fields: {
    name: optional('name', read.name, 'Its name'),
    products: optional('products', products, PRODUCTS_HELP),
    ip_allow_list: optional('ip-allow-list', ipAllowList, ADDRESSES, MAY_CALL_FROM),
    webhook_secret: optional(
      'webhook-secret',
      read.oneOf<SecretKind>(SECRET_KINDS),
      'What signs its webhooks: its app secret, or a webhook secret of its own',
    ),
  },
  check: (wanted) =>
    requireOne(
      wanted,
      'Say what to change: --name, --products, --ip-allow-list or --webhook-secret',
    ),
  asks: ['name', 'products', 'ip_allow_list'],
  preview: () => [
    'Only what you change here changes, and at once. The audit log keeps what it was and what it is.',
    'A request for a product that the app has not, or from another address, is refused.',
  ],
  now: (app) => app,
  seen,
  pages: {
    'own-webhook-secret': signingPage('own', 'Give it a webhook secret of its own', (service) => [
      'Its webhooks are signed with a secret of their own from now on.',
      handOverLine(service, 'webhook secret'),
      'The receiver must know it, or it refuses webhooks.',
    ]),
    'app-webhook-secret': signingPage('app', 'Sign webhooks with the app secret', () => [
      'Its webhooks are signed with the app secret from now on, and the webhook secret ends at once.',
    ]),
  },
  ...bySecondAdmin<AppRecord, { name?: string | undefined }>({
    ...ACCESS,
    what: 'products, addresses or webhook secret',
    isNeeded: (_app, { name: _name, ...access }) =>
      Object.values(access).some((value) => value !== undefined),
  }),
  perform: async (deed, { webhook_secret, ...wanted }) => {
    const { change, result } = await changed(deed, wanted, { signsWith: webhook_secret });
    const { webhook_secret: value } = change;
    if (value === null) return result;
    const signs = 'It signs the webhooks of the app from now on';
    return withMore(result, handOver(deed.service, webhookSecret(value), [signs]));
  },
});

/** Chooses what signs the webhooks of an app. */
function signingPage(
  kind: SecretKind,
  title: string,
  lines: (service: Service) => readonly string[],
) {
  return {
    title,
    asks: [],
    gives: { webhook_secret: kind },
    whyNot: ({ signs_webhooks_with }: AppRecord) =>
      signs_webhooks_with === kind ? 'Its webhooks are signed like that already' : null,
    preview: ({ service }: Look<AppRecord>) => lines(service),
  };
}

function changed(
  deed: Deed<AppRecord>,
  wanted: AppChanges,
  { signsWith, state }: { signsWith?: SecretKind | undefined; state?: string },
) {
  const { secretsKeys } = deed.service.config;
  const { code } = deed.subject;
  const work = async (trx: Transaction) => {
    const change = await changeApp(trx, secretsKeys, code, wanted, signsWith);
    const holder = { ...refOf(deed.subject), kind: 'own' } as const;
    if (change.webhook_secret !== null) await offerLink(deed.service, trx, holder);
    return change;
  };
  return changeRow(deed, nameOf, work, state);
}

interface Verdict {
  verb: string;
  title: string;
  summary: string;
  active: boolean;
  lines: readonly string[];
}

/** Suspends an app, or ends its suspension. */
function verdict({ verb, title, summary, active, lines }: Verdict) {
  const state = active ? 'active' : 'suspended';
  return define<AppRecord, Record<never, never>>({
    name: `app.${verb}`,
    role: 'admin',
    title,
    summary,
    about: APP,
    fields: {},
    whyNot: (app) => (app.active === active ? `App ${app.code} is ${state} already` : null),
    preview: () => lines,
    // Another admin may have suspended it for a good reason.
    ...(active && {
      seen,
      ...bySecondAdmin<AppRecord, object>(ACCESS),
    }),
    perform: async (deed) => (await changed(deed, { active }, { state })).result,
  });
}

/** Operations about an app. */
export const appOperations: readonly Operation<AppRecord>[] = [
  update,
  verdict({
    verb: 'suspend',
    title: 'Suspend',
    summary: 'Refuses all requests of an app until it is activated, and ends its sessions for good',
    active: false,
    lines: [
      'All requests of the app are refused until it is activated. Its sessions end for good.',
      'Payments that were accepted go on, and their webhooks too.',
    ],
  }),
  verdict({
    verb: 'activate',
    title: 'Activate',
    summary: 'Ends the suspension of an app',
    active: true,
    lines: ['The suspension ends. The app must log in again.'],
  }),
  rotateSecret,
  rotateWebhook,
];
