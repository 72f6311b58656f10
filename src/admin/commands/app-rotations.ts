import {
  MAX_OVERLAP_DAYS,
  renewAppSecret,
  renewWebhookSecret,
} from '../../domain/merchants/change-app.ts';
import { required, withDefault } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { recordLines, shownOnce } from '../output/answers.ts';
import { apps as view } from '../output/apps.ts';
import { moment } from '../output/table.ts';
import { changes } from '../verb.ts';

const options = {
  code: required('app', read.appCode, 'The code of the app'),
  overlap: withDefault(
    'overlap',
    read.duration(MAX_OVERLAP_DAYS),
    'How long the old secrets still work, such as 24h. Default: 0',
    0,
  ),
};

const SIGNATURES =
  'In an overlap X-Service-Signature stays with the oldest secret until it ends, and webhook-signature has a signature for each.';

export const rotateSecret = changes({
  role: 'admin',
  summary: 'Gives an app a new secret and shows it once',
  notes: `Without an overlap the old secrets and the tokens of the app end at once. With an overlap they work until it ends. The secret also signs webhooks, unless the app has a webhook secret of its own. ${SIGNATURES}`,
  options,
  argument: 'code',
  run: async ({ config }, { code, overlap }, { audited }) => {
    const { app, app_secret, old_secrets_until, revoked } = await audited((trx) =>
      renewAppSecret(trx, config.secretsKeys, code, overlap),
    );
    return {
      data: {
        ...view.document(app),
        app_secret,
        old_secrets_until,
        revoked_token_families: revoked,
      },
      lines: [
        recordLines(view, app, 'has a new secret'),
        shownOnce('secret', app_secret),
        app.signs_webhooks_with === 'app' && signedWith(old_secrets_until),
        old_secrets_until
          ? `Old secrets work until ${moment(old_secrets_until)}`
          : `Old secrets have ended. Sessions ended: ${revoked}`,
      ],
    };
  },
});

export const rotateWebhook = changes({
  role: 'admin',
  summary: 'Gives an app a new webhook secret and shows it once',
  notes: `The app must have a webhook secret of its own: app update CODE --webhook-secret own. Without an overlap the old one ends at once. ${SIGNATURES}`,
  options,
  argument: 'code',
  run: async ({ config }, { code, overlap }, { audited }) => {
    const { app, secret, old_secrets_until } = await audited((trx) =>
      renewWebhookSecret(trx, config.secretsKeys, code, overlap),
    );
    return {
      data: { ...view.document(app), webhook_secret: secret, old_secrets_until },
      lines: [
        recordLines(view, app, 'has a new webhook secret'),
        shownOnce('webhook secret', secret),
        signedWith(old_secrets_until),
      ],
    };
  },
});

function signedWith(oldSecretsUntil: Date | null): string {
  return oldSecretsUntil
    ? `X-Service-Signature uses the oldest secret until it ends, at the latest ${moment(oldSecretsUntil)}; webhook-signature has a signature for each`
    : 'The new secret signs webhooks from now on';
}
