import { rows, type Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { Audited } from '../audit/audit.ts';
import { OperatorRefusal, Refusal } from '../errors.ts';
import { probeNow } from './endpoint-store.ts';
import { findWebhook, type Webhook } from './webhook-file.ts';

export interface Resending {
  before: Webhook;
  after: Webhook;
  /** False when it is under way or due: a second copy would help nobody. */
  isResent: boolean;
  /** Its endpoint was held, and is probed at once. */
  isProbed: boolean;
}

/**
 * Lets a webhook go out again now, in a transaction of its own with its line in the audit log.
 * @throws OperatorRefusal as `resendWebhook`
 */
export function resendAudited(audited: Audited, id: string): Promise<Resending> {
  return audited(async (trx) => {
    const value = await resendWebhook(trx, id);
    return { value, audit: value.isResent || value.isProbed ? auditOf(value) : null };
  });
}

function auditOf({ before, isResent, isProbed }: Resending) {
  const { id, merchant_id, payment_kind, payment_id, status, attempts } = before;
  const done = { resent: isResent, probed: isProbed };
  const details = { payment: `${payment_kind} ${payment_id}`, status, attempts, ...done };
  return { merchant_id, subject: `webhook ${id}`, details };
}

/**
 * Lets a webhook of whatever merchant go out again, for an operator.
 * @throws OperatorRefusal when there is no such webhook, or it has no delivery yet
 */
export async function resendWebhook(trx: Transaction, id: string): Promise<Resending> {
  const found = await findWebhook(trx, id);
  if (!found) throw new OperatorRefusal(`There is no webhook ${id}`);
  if (found.status === null) {
    throw new OperatorRefusal(
      `Webhook ${id} has no number yet: it goes out for the first time soon`,
    );
  }
  return resend(trx, found);
}

/**
 * Lets a webhook of a merchant go out again, for this merchant.
 * @throws Refusal `webhook_not_found`, also when it has no delivery yet
 */
export async function resendOwnWebhook(
  trx: Transaction,
  { merchant_id, id }: { merchant_id: number; id: string },
): Promise<Resending> {
  const found = await findWebhook(trx, id, merchant_id);
  if (!found || found.status === null) throw new Refusal('webhook_not_found');
  return resend(trx, found);
}

/**
 * Lets a webhook go out again now, under its own id and with the same body, whatever became of
 * it. The dispatcher admits it, and the ladder of attempts begins anew. One that is under way or due
 * stays as it is. Where the breaker is open, the next probe goes at once, unless this one is it.
 */
async function resend(trx: Transaction, found: Webhook): Promise<Resending> {
  const { merchant_id, id } = found;
  await rows(
    trx,
    `SELECT 1 FROM webhook_deliveries
     WHERE merchant_id = :merchant_id AND event_id = :id FOR UPDATE`,
    found,
  );
  // Read again under the lock: an attempt may have ended, or somebody else may have come first.
  const before = (await findWebhook(trx, id, merchant_id))!;
  if (isUnderWay(before)) return { before, after: before, isResent: false, isProbed: false };
  const isResent = !isDue(before);
  if (isResent) {
    await changeStep(
      trx,
      { kind: 'webhook', merchant_id, id },
      { next: 'deliver', queue: null, delayMs: 0 },
      { set: { status: 'pending', attempts_before_resend: before.attempts, admitted_at: null } },
    );
  }
  const isProbed = (await probeNow(trx, before)) > 0;
  return { before, after: (await findWebhook(trx, id, merchant_id))!, isResent, isProbed };
}

/** Tells whether an attempt runs, or its job waits. */
export function isUnderWay({ next_attempt_at, admitted_at }: Webhook): boolean {
  return next_attempt_at !== null && admitted_at !== null;
}

/** Tells whether it waits for a place at its endpoint. */
export function isDue({ is_due }: Webhook): boolean {
  return is_due === true;
}
