import type { AppRecord } from '../../domain/merchants/app.ts';
import type { SecretKind } from '../../domain/merchants/app-secrets.ts';
import { changeApp } from '../../domain/merchants/change-app.ts';
import { type Action, type Actions, changeRow } from '../shell/action.ts';
import { requireVersion, Version } from '../shell/reason-form.tsx';
import { shownOnce } from '../shell/shown-once.tsx';
import { APP } from './app.ts';
import { AppFields, particularsIn } from './fields.tsx';
import { rotateSecret, rotateWebhookSecret } from './secrets.tsx';

const update: Action<AppRecord> = {
  action: 'app.update',
  title: 'Change name, products or addresses',
  verb: 'Change',
  preview: () => [
    'Only what you change here changes, and at once. The audit log keeps what it was and what it is.',
    'A request for a product that the app has not, or from another address, is refused.',
  ],
  fields: (app, given) => (
    <>
      <Version of={app} />
      <AppFields app={app} given={given} />
    </>
  ),
  perform: async ({ form, service }, app, by) => {
    const wanted = particularsIn(form);
    requireVersion(form, app);
    const { secretsKeys } = service.config;
    await changeRow(by, `app ${app.code}`, (trx) => changeApp(trx, secretsKeys, app.code, wanted));
  },
};

function activation(active: boolean, lines: string[]): Action<AppRecord> {
  const [verb, title] = active ? ['activate', 'Activate'] : ['suspend', 'Suspend'];
  return {
    action: `app.${verb}`,
    title,
    verb: title,
    whyNot: (app) =>
      app.active === active
        ? `App ${app.code} is ${active ? 'active' : 'suspended'} already`
        : null,
    preview: () => lines,
    perform: async ({ service }, { code }, by) => {
      const { secretsKeys } = service.config;
      await changeRow(by, `app ${code}`, (trx) => changeApp(trx, secretsKeys, code, { active }));
    },
  };
}

/** Chooses what signs the webhooks of an app. */
function signing(kind: SecretKind, title: string, lines: string[]): Action<AppRecord> {
  return {
    action: 'app.update',
    title,
    verb: title,
    whyNot: ({ signs_webhooks_with }) =>
      signs_webhooks_with === kind ? 'Its webhooks are signed like that already' : null,
    preview: () => lines,
    perform: async ({ service }, app, by) => {
      const { secretsKeys } = service.config;
      const { webhook_secret } = await changeRow(by, `app ${app.code}`, (trx) =>
        changeApp(trx, secretsKeys, app.code, {}, kind),
      );
      if (webhook_secret === null) return undefined;
      return shownOnce({
        title: `${APP.nameOf(app)} has a webhook secret of its own`,
        what: 'webhook secret',
        secret: webhook_secret,
        back: APP.pathOf(app),
        lines: ['It signs the webhooks of the app from now on.'],
      });
    },
  };
}

/** What can be done about an app, by the last part of the address. */
export const APP_ACTIONS: Actions<AppRecord> = {
  update,
  suspend: activation(false, [
    'All requests of the app are refused until it is activated. Its sessions end for good.',
    'Payments that were accepted go on, and their webhooks too.',
  ]),
  activate: activation(true, ['The suspension ends. The app must log in again.']),
  'rotate-secret': rotateSecret,
  'rotate-webhook-secret': rotateWebhookSecret,
  'own-webhook-secret': signing('own', 'Give it a webhook secret of its own', [
    'Its webhooks are signed with a secret of their own from now on, which is shown once on the next page.',
    'The receiver must know it, or it refuses webhooks.',
  ]),
  'app-webhook-secret': signing('app', 'Sign webhooks with the app secret', [
    'Its webhooks are signed with the app secret from now on, and the webhook secret ends at once.',
  ]),
};
