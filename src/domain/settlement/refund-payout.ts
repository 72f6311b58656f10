import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import type { ParserOf } from '../gateway-results.ts';
import { postNewJournal } from '../ledger/post-journal.ts';
import { refundedLines } from '../payments/journals.ts';
import { awaitsRefund, type Payout } from '../payments/kinds.ts';
import {
  type AnyPayment,
  type PaymentRef,
  refOf,
  withPaymentLocked,
} from '../payments/payment-store.ts';
import { REFUND_STEP } from '../payments/schedule.ts';
import { otherDatabase } from '../upkeep/other-database.ts';
import { createEvent } from '../webhooks/create-event.ts';
import { holdRefund } from './after-failure.ts';
import { drainCallbacks } from './drain-callbacks.ts';

/** The delay of a refund that may not be posted yet. */
const PUT_OFF_DELAY_MS = 30_000;

/**
 * Puts the money of a failed payout back and tells the merchant, in one transaction: the
 * webhook never precedes the money. A success that came meanwhile has removed the refund step:
 * the payout's stored callbacks are applied first.
 * In a restored database that success may still be unknown: `allPaused` puts the refund off.
 * @returns whether this job posted the refund.
 */
export async function refundPayout(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
  { parserOf, allPaused = false }: { parserOf: ParserOf; allPaused?: boolean },
): Promise<boolean> {
  return withPaymentLocked(database, ref, async (trx, payout) => {
    if (!payout || !isRefundDue(payout, stepNo)) return false;
    if (allPaused || (await otherDatabase(trx))) {
      await changeStep(trx, ref, { ...REFUND_STEP, delayMs: PUT_OFF_DELAY_MS });
      return false;
    }
    const drained = await drainCallbacks(trx, payout, parserOf);
    if (!isRefundDue(drained, stepNo)) return false;
    // News about another payment may have asked about this one, which it cannot lock.
    if (await holdRefund(trx, drained)) return false;
    await postRefund(trx, drained);
    return true;
  });
}

function isRefundDue(payout: AnyPayment, stepNo: number): payout is Payout {
  const isDue = payout.step_no === stepNo && payout.next_step === 'refund';
  return payout.kind === 'payout' && isDue && awaitsRefund(payout);
}

/** Refunds a failed payout that is locked: ends its steps, and creates event and journal. */
async function postRefund(trx: Transaction, payout: Payout): Promise<void> {
  const ref = refOf(payout);
  await rows(
    trx,
    'UPDATE payouts SET refund_posted_at = now() WHERE merchant_id = :merchant_id AND id = :id',
    ref,
  );
  await changeStep(trx, ref, 'none');
  await createEvent(trx, payout);
  // Locks the wallet last, because every payout of the merchant shares it.
  await postNewJournal(trx, {
    merchant_id: ref.merchant_id,
    source_kind: 'payout',
    source_id: ref.id,
    kind: 'refunded',
    lines: refundedLines(payout),
  });
}
