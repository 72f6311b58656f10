import type { Transaction } from '../../connections/database.ts';
import { type AppRecord, requireApp } from '../../domain/merchants/app.ts';
import { newestSecretId, type SecretKind } from '../../domain/merchants/app-secrets.ts';
import {
  MAX_OVERLAP_DAYS,
  renewAppSecret,
  renewWebhookSecret,
} from '../../domain/merchants/change-app.ts';
import * as read from '../../operations/readers.ts';
import type { Action } from '../shell/action.ts';
import { Field } from '../shell/fields.tsx';
import { nairobiTime } from '../shell/links.tsx';
import { readField } from '../shell/read-fields.ts';
import { requireVersion, Version } from '../shell/reason-form.tsx';
import { shownOnce } from '../shell/shown-once.tsx';
import type { Visit } from '../visit.ts';
import { APP } from './app.ts';

const OVERLAP = { name: 'overlap', label: 'Overlap' };
const overlap = read.duration(MAX_OVERLAP_DAYS);
const USUAL_OVERLAP = '24h';

const SIGNATURES =
  'In an overlap X-Service-Signature stays with the oldest secret until it ends, and webhook-signature has a signature for each.';

async function fields(kind: SecretKind, app: AppRecord, given: Visit['form'], { service }: Visit) {
  return (
    <>
      <Version of={await newestSecretId(service.database, kind, refOf(app))} />
      <Field
        {...OVERLAP}
        value={given.overlap ?? USUAL_OVERLAP}
        hint={`How long the old secrets still work, such as 24h or 7d, at most ${MAX_OVERLAP_DAYS}d. 0: they end at once`}
      />
    </>
  );
}

/** Lets each form rotate once: whoever reloads the answer would make another secret. */
async function requireNewest(
  trx: Transaction,
  { form }: Visit,
  kind: SecretKind,
  { code }: AppRecord,
): Promise<void> {
  const app = await requireApp(trx, code, 'FOR NO KEY UPDATE');
  requireVersion(form, await newestSecretId(trx, kind, refOf(app)));
}

function refOf({ merchant_id, code: app_code }: AppRecord) {
  return { merchant_id, app_code };
}

function signedWith(until: Date | null): string {
  return until
    ? `X-Service-Signature uses the oldest secret until it ends, at the latest ${nairobiTime(until)}; webhook-signature has a signature for each.`
    : 'The new secret signs webhooks from now on.';
}

/** Gives an app a new secret, and shows it once. */
export const rotateSecret: Action<AppRecord> = {
  action: 'app.rotate-secret',
  title: 'Rotate the secret',
  verb: 'Rotate and show the new secret',
  preview: (_visit, { signs_webhooks_with }) => [
    'The app gets a new secret, which is shown once on the next page.',
    'With an overlap of 0 the old secrets and all tokens of the app end at once. With a longer one they work until it ends.',
    ...(signs_webhooks_with === 'app' ? [`The secret also signs its webhooks. ${SIGNATURES}`] : []),
  ],
  fields: (app, given, visit) => fields('app', app, given, visit),
  perform: async (visit, app, { audited }) => {
    const { secretsKeys } = visit.service.config;
    const overlapMs = readField(visit.form, OVERLAP, overlap);
    const rotated = await audited(async (trx) => {
      await requireNewest(trx, visit, 'app', app);
      return renewAppSecret(trx, secretsKeys, app.code, overlapMs);
    });
    const { old_secrets_until: until, revoked } = rotated;
    return shownOnce({
      title: `${APP.nameOf(app)} has a new secret`,
      what: 'app secret',
      secret: rotated.app_secret,
      back: APP.pathOf(app),
      lines: [
        ...(app.signs_webhooks_with === 'app' ? [signedWith(until)] : []),
        until
          ? `Old secrets work until ${nairobiTime(until)}.`
          : `Old secrets have ended. Sessions ended: ${revoked}.`,
      ],
    });
  },
};

/** Gives an app a new webhook secret, and shows it once. */
export const rotateWebhookSecret: Action<AppRecord> = {
  action: 'app.rotate-webhook-secret',
  title: 'Rotate the webhook secret',
  verb: 'Rotate and show the new webhook secret',
  whyNot: ({ signs_webhooks_with }) =>
    signs_webhooks_with === 'own'
      ? null
      : 'Its webhooks are signed with the app secret: rotate that one',
  preview: () => [
    'The app gets a new webhook secret, which is shown once on the next page.',
    `With an overlap of 0 the old one ends at once. ${SIGNATURES}`,
  ],
  fields: (app, given, visit) => fields('own', app, given, visit),
  perform: async (visit, app, { audited }) => {
    const { secretsKeys } = visit.service.config;
    const overlapMs = readField(visit.form, OVERLAP, overlap);
    const rotated = await audited(async (trx) => {
      await requireNewest(trx, visit, 'own', app);
      return renewWebhookSecret(trx, secretsKeys, app.code, overlapMs);
    });
    return shownOnce({
      title: `${APP.nameOf(app)} has a new webhook secret`,
      what: 'webhook secret',
      secret: rotated.secret,
      back: APP.pathOf(app),
      lines: [signedWith(rotated.old_secrets_until)],
    });
  },
};
