import { rotateAppSecret } from '../domain/identity/rotate-app-secret.ts';
import {
  type AppChanges,
  type AppRecord,
  addApp,
  listApps,
  updateApp,
} from '../domain/merchants/manage-apps.ts';
import { appDocument, appLines, appList } from './app-view.ts';
import {
  ALREADY,
  type Answer,
  type ChangeContext,
  type Command,
  changes,
  optional,
  optionalOr,
  reads,
  required,
  UsageError,
} from './command.ts';
import { ipAllowList } from './ip-allow-list.ts';
import { answerList, limitOption } from './lists.ts';
import { moment } from './output.ts';
import { appCode, duration, merchantId, name, products } from './readers.ts';

const MAX_OVERLAP_DAYS = 30;
const MS_PER_S = 1_000;

const app = { app: required(appCode, 'Which app') };
const PRODUCTS = 'Out of collections, payouts, disbursements';
const ALLOW_LIST =
  'From where it may call: IPv4, IPv6, networks such as 10.0.0.0/8; none: from anywhere';

const create = changes({
  summary: 'Creates an app; its secret is generated and shown once',
  options: {
    merchant: required(merchantId, 'For which merchant'),
    name: required(name, 'What it is called'),
    products: required(products, PRODUCTS),
    'ip-allow-list': optionalOr(ipAllowList, [], ALLOW_LIST),
  },
  run: async ({ service, audited }, values) => {
    const created = await audited(async (trx) => {
      const value = await addApp(trx, service.config.secretsKeys, values.merchant, {
        name: values.name,
        products: values.products,
        ip_allow_list: values['ip-allow-list'],
      });
      const { name: called, products: enabled, ip_allow_list } = value.app;
      const details = { name: called, products: enabled, ip_allow_list };
      return { value, audit: auditOf(value.app, details) };
    });
    return {
      data: { ...appDocument(created.app), app_secret: created.app_secret },
      lines: appLines('created', created.app, created.app_secret),
    };
  },
});

const list = reads({
  summary: 'Lists apps by their codes',
  options: {
    merchant: optional(merchantId, 'Only those of this merchant'),
    after: optional(appCode, 'Begin after this one'),
    limit: limitOption,
  },
  run: ({ database }, { merchant, after, limit }) =>
    answerList(appList, limit, (count) =>
      listApps(database, { merchant_id: merchant, after, limit: count }),
    ),
});

const update = changes({
  summary: 'Changes what an app is called, may do, or may call from',
  options: {
    ...app,
    name: optional(name, 'What it is called'),
    products: optional(products, PRODUCTS),
    'ip-allow-list': optional(ipAllowList, ALLOW_LIST),
  },
  check: (values) => {
    if (!values.name && !values.products && !values['ip-allow-list']) {
      throw new UsageError('Say what to change: --name, --products or --ip-allow-list');
    }
  },
  run: (context, values) => {
    const wanted: AppChanges = {
      ...(values.name && { name: values.name }),
      ...(values.products && { products: values.products }),
      ...(values['ip-allow-list'] && { ip_allow_list: values['ip-allow-list'] }),
    };
    return change(context, values.app, wanted, 'changed', `is like that ${ALREADY}`);
  },
});

const suspend = verdict('Refuses all requests of an app, until it is activated', false);
const activate = verdict('Ends the suspension of an app', true);

const rotateSecret = changes({
  summary: 'Gives an app a new secret, which is shown once',
  notes: [
    'The new secret signs webhooks from now on. Without an overlap the old secrets, and the',
    'tokens that the app has, are worth nothing at once; with one they go on until it ends.',
  ],
  options: {
    ...app,
    overlap: optionalOr(
      duration(MAX_OVERLAP_DAYS),
      0,
      'How long the old secrets count as well, such as 24h. Default: 0',
    ),
  },
  run: async ({ service, audited }, values) => {
    const { app: rotated, ...result } = await audited(async (trx) => {
      const keys = service.config.secretsKeys;
      const value = await rotateAppSecret(trx, keys, values.app, values.overlap);
      const details = {
        overlap_s: values.overlap / MS_PER_S,
        old_secrets_until: value.old_secrets_until,
        revoked_token_families: value.revoked,
      };
      return { value, audit: auditOf(value.app, details) };
    });
    const until = result.old_secrets_until;
    return {
      data: {
        ...appDocument(rotated),
        app_secret: result.app_secret,
        old_secrets_until: until?.toISOString() ?? null,
        revoked_token_families: result.revoked,
      },
      lines: [
        ...appLines(
          'has a new secret, which signs webhooks from now on',
          rotated,
          result.app_secret,
        ),
        until
          ? `Old secrets count until ${moment(until)}.`
          : `Old secrets count no more. Sessions ended: ${result.revoked}`,
      ],
    };
  },
});

function verdict(summary: string, active: boolean): Command {
  const state = active ? 'active' : 'suspended';
  return changes({
    summary,
    options: app,
    run: (context, values) =>
      change(context, values.app, { active }, `is ${state} now`, `is ${state} ${ALREADY}`),
  });
}

async function change(
  context: ChangeContext,
  code: number,
  wanted: AppChanges,
  done: string,
  already: string,
): Promise<Answer> {
  const { after, changed } = await context.audited(async (trx) => {
    const updated = await updateApp(trx, code, wanted);
    const isChanged = Object.keys(updated.changed).length > 0;
    const value = { after: updated.app, changed: isChanged };
    return { value, audit: isChanged ? auditOf(updated.app, updated.changed) : null };
  });
  return {
    data: { ...appDocument(after), changed },
    lines: appLines(changed ? done : already, after),
  };
}

function auditOf(row: AppRecord, details: Record<string, unknown>) {
  return { merchant_id: row.merchant_id, subject: `app ${row.code}`, details };
}

export const appVerbs = { create, list, update, suspend, activate, 'rotate-secret': rotateSecret };
