import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { postJournal } from '../ledger/post-journal.ts';
import { lockPayment, type PaymentRef } from '../payments/payment-store.ts';
import { awaitsRefund, type Payout } from '../payments/payout.ts';
import { REFUND_STEP } from '../payments/schedule.ts';
import { refundedLines } from '../payouts/journals.ts';
import { createEvent } from '../webhooks/create-event.ts';

/** How long a refund that may not be posted yet is put off. */
const PUT_OFF_DELAY_MS = 30_000;

/**
 * Puts the money of a failed payout back and tells the merchant, in one transaction: the
 * webhook never precedes the money. A success that came meanwhile has taken the step away. In
 * a restored database that success may still have to be learned: with `allPaused` it is put off.
 * @returns whether this job was the one to do it.
 */
export async function refundPayout(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
  { allPaused = false }: { allPaused?: boolean } = {},
): Promise<boolean> {
  return inTransaction(database, async (trx) => {
    const payout = await lockPayment(trx, ref);
    const isDue = payout?.step_no === stepNo && payout.next_step === 'refund';
    if (payout?.kind !== 'payout' || !isDue || !awaitsRefund(payout)) return false;
    if (allPaused) {
      await changeStep(trx, ref, { ...REFUND_STEP, delayMs: PUT_OFF_DELAY_MS });
      return false;
    }
    await postRefund(trx, payout);
    return true;
  });
}

/** Ends a failed payout that is locked: event, journal, and the moment in which it was. */
export async function postRefund(trx: Transaction, payout: Payout): Promise<void> {
  const { merchant_id: merchantId, id } = payout;
  await rows(
    trx,
    'UPDATE payouts SET refund_posted_at = now() WHERE merchant_id = :merchant_id AND id = :id',
    { merchant_id: merchantId, id },
  );
  await changeStep(trx, { kind: 'payout', merchant_id: merchantId, id }, 'none');
  await createEvent(trx, payout);
  // The wallet is the row that all of a merchant's payouts share, so it is locked last.
  const posted = await postJournal(trx, {
    merchant_id: merchantId,
    source_kind: 'payout',
    source_id: id,
    kind: 'refunded',
    lines: refundedLines(payout),
  });
  if (!posted) throw new Error(`The refund of payout ${id} was posted before`);
}
