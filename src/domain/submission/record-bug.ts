import type { Database } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { isOpen } from '../payments/payment.ts';
import { refOf, withPaymentLocked } from '../payments/payment-store.ts';
import { pollStep } from '../payments/schedule.ts';
import { answerAttempt, countAttempts } from './attempts.ts';
import type { SubmissionClaim } from './claim-submission.ts';

/**
 * Records a call that ended in a bug of the driver. The request may have left, so the gateway is
 * asked before the next try. After the last try the step stays, since the failed job parks the row.
 * @returns whether this was the last try.
 */
export async function recordBug(
  database: Database,
  { payment: claimed, attemptNo }: SubmissionClaim,
  message: string,
  { pollFirstMs, tries }: { pollFirstMs: number; tries: number },
): Promise<boolean> {
  return withPaymentLocked(database, refOf(claimed), async (trx, payment) => {
    if (!payment) throw new Error(`${claimed.kind} ${claimed.id} is gone`);
    const isNews = await answerAttempt(trx, payment, attemptNo, 'unknown', {
      detail: `${BUG}${message}`,
    });
    if (!isNews || !isOpen(payment)) return false;
    const isLast = (await countAttempts(trx, payment, BUG)) >= tries;
    if (!isLast) await changeStep(trx, refOf(payment), pollStep(payment, pollFirstMs));
    return isLast;
  });
}

/** Begins the detail of an attempt whose driver threw. */
const BUG = 'bug of the driver: ';
