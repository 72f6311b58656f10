import type { Database, Transaction } from '../connections/database.ts';
import { type AppRecord, requireApp } from '../domain/merchants/app.ts';
import { newestSecretId, type SecretKind } from '../domain/merchants/app-secrets.ts';
import {
  MAX_OVERLAP_DAYS,
  rotateAppSecret,
  rotateWebhookSecret,
} from '../domain/merchants/rotate-secrets.ts';
import { ACCESS, APP, appSecret, refOf, WITHOUT_MAIL, webhookSecret } from './app-access.ts';
import { withDefault } from './field.ts';
import { handOver, handOverLine, offerLink } from './hand-over.ts';
import { define, type Result } from './operation.ts';
import * as read from './readers.ts';
import { bySecondAdmin, holdNote } from './second-admin.ts';

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

/** Gives an app a new secret. */
export const rotateSecret = define({
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

/** Gives an app a new webhook secret. */
export const rotateWebhook = define({
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
