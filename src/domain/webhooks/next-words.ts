import { isDue, isUnderWay } from './resend-webhook.ts';
import type { Webhook } from './webhook-file.ts';

/** Says what a webhook waits for, in the words that its merchant reads. */
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

/** Tells what a webhook waits for. @returns null when no attempt is planned */
export function waitOf(webhook: Webhook): Wait | null {
  if (webhook.parked_reason !== null) return 'support';
  if (webhook.status !== 'pending') return null;
  if (isUnderWay(webhook)) return 'under_way';
  if (!webhook.can_be_signed) return 'secret';
  if (!isDue(webhook)) return 'retry';
  return webhook.endpoint_probe_at === null ? 'place' : 'endpoint';
}

/** How the reader is shown moments, and texts that come from outside. */
export interface Wording {
  moment(at: Date): string;
  text(text: string): string;
}

/** Says when the next attempt of a webhook comes, and why. */
export function nextWords(webhook: Webhook, { moment, text }: Wording): string {
  const { status, attempts, next_attempt_at: at, parked_reason, can_be_signed } = webhook;
  if (parked_reason !== null) {
    return `none until somebody replays its job or resends it: ${text(parked_reason)}`;
  }
  switch (status) {
    case null:
      return 'the first, when the dispatcher has numbered it';
    case 'delivered':
      return 'none: the receiver has taken it';
    case 'stopped':
      return 'none: the receiver answered 410, which means that it does not want it';
    case 'exhausted':
      return `none planned: attempt ${attempts} was the last one of the ladder`;
    case 'pending':
      if (!can_be_signed) return `attempt ${attempts! + 1}, ${secretWords(webhook)}`;
      if (isHeld(webhook)) return `attempt ${attempts! + 1}, ${heldWords(webhook, moment)}`;
      return `attempt ${attempts! + 1}, ${whenWords(webhook)}, ${whyWords(webhook)}, at ${moment(at!)}`;
  }
}

/** Tells whether it waits for its endpoint to work. One that is under way is the probe. */
function isHeld(webhook: Webhook): boolean {
  return webhook.endpoint_probe_at !== null && !isUnderWay(webhook);
}

function heldWords(webhook: Webhook, moment: Wording['moment']): string {
  const {
    endpoint_failing_since: since,
    endpoint_probe_at: probeAt,
    next_attempt_at: at,
  } = webhook;
  const earliest = isDue(webhook) ? '' : `not before ${moment(at!)}, `;
  return `${earliest}waits: the endpoint has failed since ${moment(since!)}, next probe ${moment(probeAt!)}`;
}

function secretWords({ app_code, signs_webhooks_with }: Webhook): string {
  const verb = signs_webhooks_with === 'own' ? 'rotate-webhook-secret' : 'rotate-secret';
  return `when its app has a secret to sign with: app ${verb} ${app_code}`;
}

function whenWords(webhook: Webhook): string {
  if (isUnderWay(webhook)) return 'under way';
  return isDue(webhook) ? 'due: the dispatcher lets it go when its endpoint has a place' : 'later';
}

function whyWords({ attempts, attempts_before_resend }: Webhook): string {
  if (attempts === 0) return 'the first';
  if (attempts === attempts_before_resend) return 'because it was resent';
  return 'because the one before has failed';
}
