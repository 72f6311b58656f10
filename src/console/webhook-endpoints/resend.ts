import type { Audited } from '../../domain/audit/audit.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { isDue, isUnderWay, resendAudited } from '../../domain/webhooks/resend-webhook.ts';
import type { Webhook } from '../../domain/webhooks/webhook-file.ts';

const AT_HAND = 'It is under way or due already: a second copy would help nobody';

/** Says why a webhook is not sent again now; null when it can be. */
export function whyNotResent(webhook: Webhook): string | null {
  if (webhook.status === null) return 'It goes out for the first time soon';
  const isHeld = webhook.endpoint_probe_at !== null;
  return isUnderWay(webhook) || (isDue(webhook) && !isHeld) ? AT_HAND : null;
}

/** Says what it means to send a webhook again. @throws OperatorRefusal when it would do nothing */
export function previewResend(webhook: Webhook): string[] {
  const { attempts, endpoint } = webhook;
  const problem = whyNotResent(webhook);
  if (problem !== null) throw new OperatorRefusal(problem);
  if (isDue(webhook)) {
    return [`It is due, and waits for ${endpoint}, which is held. The endpoint is probed at once.`];
  }
  return [
    `It goes to ${endpoint} as attempt ${attempts! + 1}, under the same webhook-id and with the same body.`,
    'The ladder of attempts begins anew. A receiver knows a second copy by its webhook-id.',
  ];
}

/** Sends a webhook again. @throws OperatorRefusal when that would do nothing any more */
export async function performResend(audited: Audited, id: string): Promise<void> {
  const { isResent, isProbed } = await resendAudited(audited, id);
  if (!isResent && !isProbed) throw new OperatorRefusal(AT_HAND);
}
