import { isDue, isUnderWay } from './resend-webhook.ts';
import type { Webhook } from './webhook-file.ts';

/** What a webhook waits for, in the words that its merchant reads. */
export const WAITS = {
  retry: 'The next attempt comes after a pause, at the time that next_attempt_at says',
  place: 'It is due, and goes as soon as there is a place for it',
  endpoint:
    'Its endpoint does not work. One webhook at a time is tried there; the others follow when one is taken',
  secret: 'Its app has no valid secret to sign it with. It goes when there is one',
  under_way: 'An attempt is being made now',
  support: 'Something went wrong with it here, and our support looks at it. You can resend it',
} as const;

export type Wait = keyof typeof WAITS;

/** Tells what a webhook waits for. @returns null when no attempt follows by itself */
export function waitOf(webhook: Webhook): Wait | null {
  if (webhook.parked_reason !== null) return 'support';
  if (webhook.status !== 'pending') return null;
  if (isUnderWay(webhook)) return 'under_way';
  if (!webhook.can_be_signed) return 'secret';
  if (!isDue(webhook)) return 'retry';
  return webhook.endpoint_probe_at === null ? 'place' : 'endpoint';
}
