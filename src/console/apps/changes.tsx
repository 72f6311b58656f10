import type { SecretKind } from '../../domain/merchants/app-secrets.ts';
import { changeApp } from '../../domain/merchants/change-app.ts';
import type { AppRecord } from '../../domain/merchants/manage-apps.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { type Change, changeRow } from '../shell/change.tsx';
import { shownOnce } from '../shell/shown-once.tsx';
import { requireVersion, Version } from '../shell/version.tsx';
import { APP } from './app.ts';
import { AppFields, particularsIn } from './fields.tsx';
import { rotateSecret, rotateWebhookSecret } from './secrets.tsx';

const update: Change<AppRecord> = {
  ...{ route: 'appChange', action: 'app.update' },
  ...{ title: 'Change name, products or addresses', verb: 'Change' },
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
    return null;
  },
};

function activation(active: boolean, lines: string[]): Change<AppRecord> {
  const [verb, title] = active ? ['activate', 'Activate'] : ['suspend', 'Suspend'];
  return {
    ...{ route: 'appChange', action: `app.${verb}`, title, verb: title },
    preview: (_visit, app) => {
      if (app.active !== active) return lines;
      throw new OperatorRefusal(`App ${app.code} is ${active ? 'active' : 'suspended'} already`);
    },
    perform: async ({ service }, { code }, by) => {
      const { secretsKeys } = service.config;
      await changeRow(by, `app ${code}`, (trx) => changeApp(trx, secretsKeys, code, { active }));
      return null;
    },
  };
}

/** Chooses what signs the webhooks of an app. */
function signing(kind: SecretKind, title: string, lines: string[]): Change<AppRecord> {
  return {
    ...{ route: 'appChange', action: 'app.update', title, verb: title },
    preview: (_visit, { signs_webhooks_with }) => {
      if (signs_webhooks_with !== kind) return lines;
      throw new OperatorRefusal('Its webhooks are signed like that already');
    },
    perform: async ({ service }, app, by) => {
      const { secretsKeys } = service.config;
      const { webhook_secret } = await changeRow(by, `app ${app.code}`, (trx) =>
        changeApp(trx, secretsKeys, app.code, {}, kind),
      );
      if (webhook_secret === null) return null;
      return shownOnce({
        ...{ title: `${APP.nameOf(app)} has a webhook secret of its own`, what: 'webhook secret' },
        ...{ secret: webhook_secret, back: APP.pathOf(app) },
        lines: ['It signs the webhooks of the app from now on.'],
      });
    },
  };
}

/** What can be changed of an app, by the last part of the address. */
const CHANGES: Readonly<Record<string, Change<AppRecord>>> = {
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

/** Returns the change of a name, if there is one. */
export function appChange(name: string): Change<AppRecord> | undefined {
  return Object.hasOwn(CHANGES, name) ? CHANGES[name] : undefined;
}

/** Returns the changes that make sense for an app as it is. */
export function changesFor({ active, signs_webhooks_with }: AppRecord) {
  const isOwn = signs_webhooks_with === 'own';
  const isIdle: Readonly<Record<string, boolean>> = {
    suspend: !active,
    activate: active,
    'rotate-webhook-secret': !isOwn,
    'own-webhook-secret': isOwn,
    'app-webhook-secret': !isOwn,
  };
  return Object.entries(CHANGES).filter(([name]) => !isIdle[name]);
}
