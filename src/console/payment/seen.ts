import type { PaymentFile } from '../../domain/support/payment-file.ts';
import { recordView } from '../access/record-view.ts';
import type { Visit } from '../visit.ts';

declare module 'express-session' {
  interface SessionData {
    /** The payments that the member has opened last. */
    seen: string[];
  }
}

/** A session remembers so many. One that it has forgotten is recorded again. */
const MAX_SEEN = 50;

/**
 * Writes into the audit log that the member sees a payment.
 * @param isNew is false for a page that belongs to one which the member has opened: the same
 * payment again is no new read
 */
export async function recordPaymentView(
  visit: Visit,
  { payment }: PaymentFile,
  { isNew = false, action = 'payment.show' } = {},
): Promise<void> {
  const { session } = visit.req;
  const { merchant_id, kind, id } = payment;
  const subject = `${kind} ${id}`;
  const seen = session.seen ?? [];
  if (!isNew && seen.includes(subject)) return;
  await recordView(visit, { action, merchant_id, subject, lookedFor: {}, rows: 1 });
  if (!seen.includes(subject)) session.seen = [...seen, subject].slice(-MAX_SEEN);
}
