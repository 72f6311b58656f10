import {
  type RevokedCredentials,
  revokeCredentials,
} from '../../domain/identity/revoke-credentials.ts';
import { flag, required } from '../options/option.ts';
import * as read from '../options/readers.ts';
import { ALREADY } from '../output/answers.ts';
import { render } from '../output/table.ts';
import { changes } from '../verb.ts';

export const revokeAll = changes({
  role: 'admin',
  summary: 'Ends all sessions and all secrets of a merchant at once',
  notes:
    'Passwords of its users stay: user update --new-password replaces one. Webhooks of an app that has no secret left to sign with wait until it has one, and are not lost: app rotate-secret, or app rotate-webhook-secret for an app with a webhook secret of its own. With --keep-webhook-secrets the webhooks of such an app go on. docs/operations.md has the steps after a leak.',
  options: {
    merchant_id: required('merchant', read.merchantId, 'The number of the merchant'),
    keepWebhookSecrets: flag('keep-webhook-secrets', 'Apps keep the webhook secrets of their own'),
  },
  argument: 'merchant_id',
  run: async (_service, { merchant_id, keepWebhookSecrets }, { audited }) => {
    const { revoked, unsigned } = await audited(async (trx) => {
      const value = await revokeCredentials(trx, merchant_id, { keepWebhookSecrets });
      const details = { ...value.revoked, kept_webhook_secrets: keepWebhookSecrets };
      if (!hasEnded(value.revoked)) return { value, audit: null };
      const event = { kind: 'credentials_revoked', merchant_id, detail: details } as const;
      const audit = { merchant_id, subject: `merchant ${merchant_id}`, details };
      return { value, audit, events: [event] };
    });
    const changed = hasEnded(revoked);
    const title = changed
      ? `The credentials of merchant ${merchant_id} have ended`
      : `The credentials of merchant ${merchant_id} had ended ${ALREADY}`;
    return {
      data: { merchant_id, changed, ...revoked, apps_without_signing_secret: unsigned },
      lines: [title, changed && render(revoked), waitingWords(unsigned)],
    };
  },
});

function hasEnded(revoked: RevokedCredentials): boolean {
  return Object.values(revoked).some((count) => count > 0);
}

function waitingWords(apps: number[]): string | false {
  if (apps.length === 0) return false;
  return `Webhooks wait until these apps have a new secret to sign with: ${apps.join(', ')}`;
}
