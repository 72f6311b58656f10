import { endCredentials } from '../../domain/merchants/merchant.ts';
import { flag, required } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
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
    const { revoked, unsigned, changed } = await audited((trx) =>
      endCredentials(trx, merchant_id, { keepWebhookSecrets }),
    );
    const title = changed
      ? `The credentials of merchant ${merchant_id} have ended`
      : `The credentials of merchant ${merchant_id} had ended ${ALREADY}`;
    return {
      data: { merchant_id, changed, ...revoked, apps_without_signing_secret: unsigned },
      lines: [title, changed && render(revoked), waitingWords(unsigned)],
    };
  },
});

function waitingWords(apps: number[]): string | false {
  if (apps.length === 0) return false;
  return `Webhooks wait until these apps have a new secret to sign with: ${apps.join(', ')}`;
}
