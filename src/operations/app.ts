import type { Database, Transaction } from '../connections/database.ts';
import {
  type AppChanges,
  type AppRecord,
  changeApp,
  newestAppOf,
  PRODUCTS,
  registerApp,
  requireApp,
} from '../domain/merchants/app.ts';
import {
  type AppRef,
  newestSecretId,
  SECRET_KINDS,
  type SecretKind,
} from '../domain/merchants/app-secrets.ts';
import { type MerchantRecord, requireMerchant } from '../domain/merchants/merchant.ts';
import {
  MAX_OVERLAP_DAYS,
  rotateAppSecret,
  rotateWebhookSecret,
} from '../domain/merchants/rotate-secrets.ts';
import type { Service } from '../service/service.ts';
import { changeRow, withMore } from './changed-row.ts';
import { optional, required, requireOne, withDefault } from './field.ts';
import { handOver, handOverLine, offerLink } from './hand-over.ts';
import { ipAllowList } from './ip-allow-list.ts';
import { MERCHANT } from './merchant.ts';
import {
  type Deed,
  define,
  type Look,
  type Noun,
  type Operation,
  type Result,
} from './operation.ts';
import * as read from './readers.ts';
import { bySecondAdmin, holdNote } from './second-admin.ts';

export const APP: Noun<AppRecord> = {
  fields: { code: required('app', read.appCode, 'The code of the app') },
  argument: 'code',
  find: ({ database }, { code }) => requireApp(database, Number(code)),
};

const nameOf = ({ code }: AppRecord) => `app ${code}`;

const products = read.someOf(PRODUCTS);
const PRODUCTS_HELP = `Out of ${PRODUCTS.join(', ')}`;
const ADDRESSES = 'Addresses and networks that may call, such as 10.0.0.0/8; none: anywhere';
const MAY_CALL_FROM = { label: 'May call from', empty: 'any address' };

const WITHOUT_MAIL = 'Without a mail server (SMTP_URL) the secret is shown once.';

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

const refOf = ({ merchant_id, code }: AppRecord): AppRef => ({ merchant_id, app_code: code });

function appSecret(value: string) {
  return { name: 'app_secret', what: 'app secret', value };
}

function webhookSecret(value: string) {
  return { name: 'webhook_secret', what: 'webhook secret', value };
}

const seen: Operation<AppRecord>['seen'] = (executor, { code }, lock) =>
  requireApp(executor, code, lock);
const ACCESS = {
  names: ({ code }: AppRecord) => ({ code }),
  subject: nameOf,
  merchant: ({ merchant_id }: AppRecord) => merchant_id,
};

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

const SIGNATURES =
  'In an overlap X-Service-Signature stays with the oldest secret until it ends, and webhook-signature has a signature for each.';

const OVERLAP = {
  overlap: withDefault(
    'overlap',
    read.duration(MAX_OVERLAP_DAYS),
    `How long the old secrets still work, such as 24h, at most ${MAX_OVERLAP_DAYS}d. Default: 0, which ends them at once`,
    0,
    { initial: '24h' },
  ),
};

const rotateSecret = define({
  name: 'app.rotate-secret',
  role: 'admin',
  title: 'Rotate the secret',
  button: 'Rotate',
  summary: 'Gives an app a new secret, which its merchant reads by a link in an e-mail',
  notes: `${WITHOUT_MAIL} Without an overlap the old secrets and the tokens of the app end at once. With an overlap they work until it ends. The secret also signs webhooks, unless the app has a webhook secret of its own. ${SIGNATURES}`,
  about: APP,
  fields: OVERLAP,
  preview: ({ service, subject: { signs_webhooks_with } }) => [
    `The app gets a new secret. ${handOverLine(service, 'secret')}`,
    'With an overlap of 0 the old secrets and all tokens of the app end at once. With a longer one they work until it ends.',
    ...(signs_webhooks_with === 'app' ? [`The secret also signs its webhooks. ${SIGNATURES}`] : []),
  ],
  seen: newestOf('app'),
  ...bySecondAdmin<AppRecord, object>(ACCESS),
  perform: async ({ audited, service, subject, time }, { overlap }) => {
    const { code } = subject;
    const { secretsKeys, newAccessHoldMs } = service.config;
    const rotated = await audited(async (trx) => {
      const made = await rotateAppSecret(trx, secretsKeys, code, overlap, newAccessHoldMs);
      await offerLink(service, trx, { ...refOf(subject), kind: 'app' });
      return made;
    });
    const { app, secret, old_secrets_until: until, revoked } = rotated;
    return {
      title: `App ${code} has a new secret`,
      row: app,
      more: { old_secrets_until: until, revoked_token_families: revoked },
      ...handOver(service, appSecret(secret), [
        app.signs_webhooks_with === 'app' && signedWith(until, time),
        until
          ? `Old secrets work until ${time(until)}`
          : `Old secrets have ended. Sessions ended: ${revoked}`,
        holdNote(service),
      ]),
    };
  },
});

const rotateWebhook = define({
  name: 'app.rotate-webhook-secret',
  role: 'admin',
  title: 'Rotate the webhook secret',
  button: 'Rotate',
  summary: 'Gives an app a new webhook secret, which its merchant reads by a link in an e-mail',
  notes: `${WITHOUT_MAIL} The app must have a webhook secret of its own: app update CODE --webhook-secret own. Without an overlap the old one ends at once. ${SIGNATURES}`,
  about: APP,
  fields: OVERLAP,
  whyNot: ({ signs_webhooks_with }) =>
    signs_webhooks_with === 'own'
      ? null
      : 'Its webhooks are signed with the app secret: rotate that one',
  preview: ({ service }) => [
    `The app gets a new webhook secret. ${handOverLine(service, 'secret')}`,
    `With an overlap of 0 the old one ends at once. ${SIGNATURES}`,
  ],
  seen: newestOf('own'),
  ...bySecondAdmin<AppRecord, object>(ACCESS),
  perform: async ({ audited, service, subject, time }, { overlap }): Promise<Result> => {
    const { code } = subject;
    const { app, secret, old_secrets_until } = await audited(async (trx) => {
      const made = await rotateWebhookSecret(trx, service.config.secretsKeys, code, overlap);
      await offerLink(service, trx, { ...refOf(subject), kind: 'own' });
      return made;
    });
    return {
      title: `App ${code} has a new webhook secret`,
      row: app,
      more: { old_secrets_until },
      ...handOver(service, webhookSecret(secret), [signedWith(old_secrets_until, time)]),
    };
  },
});

/** A form rotates once: a reload of its answer must not make another secret. */
function newestOf(kind: SecretKind) {
  return async (
    executor: Database | Transaction,
    { code, merchant_id }: AppRecord,
    lock: 'FOR NO KEY UPDATE' | '',
  ) => {
    const app = await requireApp(executor, code, lock);
    const secret = await newestSecretId(executor, kind, { merchant_id, app_code: code });
    return { ...app, secret };
  };
}

function signedWith(oldSecretsUntil: Date | null, time: (moment: Date) => string): string {
  return oldSecretsUntil
    ? `X-Service-Signature uses the oldest secret until it ends, at the latest ${time(oldSecretsUntil)}; webhook-signature has a signature for each`
    : 'The new secret signs webhooks from now on';
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
