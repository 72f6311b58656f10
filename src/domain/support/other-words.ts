import { firstRow, type Transaction } from '../../connections/database.ts';
import { GATEWAY_TOLD_SUCCESS } from '../discrepancies/discrepancy.ts';
import { IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { newestWords } from '../settlement/overtaken.ts';
import { type DiscrepancyCase, paymentOf } from './discrepancy-cases.ts';
import type { Resolution } from './resolution.ts';

/** The decisions that let a payment, or its customer, have money that was told of. */
const USES_MONEY: ReadonlySet<Resolution> = new Set([
  ...(['completed', 'accept-amount', 'returned', 'same', 'parts'] as const),
]);

/**
 * Says who has told otherwise of the money than a decision has it: people before, or the gateway too. Null: nobody,
 * or the decision uses no money.
 */
export async function whoSaysOtherwise(
  trx: Transaction,
  found: DiscrepancyCase,
  as: Resolution,
): Promise<string | null> {
  const payment = paymentOf(found);
  if (!payment) return null;
  if (as === 'undo' && found.kind === 'failure_after_success') {
    return (await newerSuccess(trx, found, payment)) >= 0 ? TOLD_OTHERWISE : null;
  }
  if (as === 'dismissed' && keepsFailed(found)) {
    return (await newerSuccess(trx, found, payment)) <= 0 ? TOLD_OTHERWISE : null;
  }
  if (!USES_MONEY.has(as)) return null;
  const told = await firstRow<{ was_dismissed: boolean; was_other: boolean }>(
    trx,
    `SELECT EXISTS (SELECT FROM discrepancies
         WHERE ${IS_UNKNOWN} AND gateway = :gateway AND details->>'booked_for' = :owner
           -- A reference stands for the receipt.
           AND (coalesce(trans_id = :trans_id, true) OR trans_id = details->>'reference')
         ) AS was_dismissed,
       EXISTS (SELECT FROM discrepancies
         WHERE merchant_id = :merchant_id AND payment_kind = :payment_kind
           AND payment_id = :payment_id AND id <> :id
           AND (kind IN ('other_amount', 'other_account')
             OR kind = 'receipt_of_another' AND trans_id = :trans_id)
           AND resolution IS DISTINCT FROM 'superseded') AS was_other`,
    { ...found, owner: nameOf(payment) },
  );
  if (found.is_back || told!.was_dismissed) {
    return 'Somebody had the money sent back, or it was booked by hand or adopted.';
  }
  // Parts of a payment differ from it, and are proved by another rule.
  if (as === 'parts') return null;
  const isOther =
    told!.was_other || isToldOtherwise(found) || (await isNewestFailure(trx, payment));
  return isOther ? TOLD_OTHERWISE : null;
}

/**
 * Says so if a decision takes back the end of a payment which the gateway has told: its newest word is a success. A
 * file, or a statement, that lacks the money is no word of the gateway's.
 */
export async function whetherSuccessStands(
  trx: Transaction,
  before: DiscrepancyCase,
  after: DiscrepancyCase,
): Promise<string | null> {
  const payment = paymentOf(before);
  if (!payment) return null;
  if (before.status !== 'completed' || after.status === 'completed') return null;
  // It has a rule of its own.
  if (before.kind === 'failure_after_success') return null;
  const { succeeded_at, failed_at } = await newestWords(trx, payment);
  const stands = succeeded_at !== null && (failed_at === null || succeeded_at > failed_at);
  return stands ? TOLD_OTHERWISE : null;
}

const TOLD_OTHERWISE = 'The gateway has told otherwise of this money, too.';

/** Tells whether to dismiss the question leaves a payment completed that the gateway has failed. */
function keepsFailed({ kind, status }: DiscrepancyCase): boolean {
  return kind === 'failure_after_success' && status === 'completed';
}

/**
 * Compares the newest success that the gateway has told of a payment with the newest failure, or with the question about
 * that: above 0 if the success is newer.
 */
async function newerSuccess(
  trx: Transaction,
  { opened_at }: DiscrepancyCase,
  payment: PaymentRef,
): Promise<number> {
  const { moved_at, failed_at } = await newestWords(trx, payment);
  return (moved_at?.getTime() ?? 0) - (failed_at ?? opened_at).getTime();
}

/** Tells whether the newest word of the gateway about a payment is its failure. */
async function isNewestFailure(trx: Transaction, payment: PaymentRef): Promise<boolean> {
  const { moved_at, failed_at } = await newestWords(trx, payment);
  return failed_at !== null && (moved_at === null || failed_at >= moved_at);
}

/** Tells whether the findings differ, or a success that was told since is another one. */
function isToldOtherwise(found: DiscrepancyCase): boolean {
  const { evidence, evidence_complete, details, suspense_cents, amount_cents } = found;
  const cents = suspense_cents ?? amount_cents;
  const amounts = evidence.filter(({ decided }) => !decided).map((each) => each.amount_cents);
  const differ = amounts.some((each) => each !== null && each !== cents);
  return differ || !evidence_complete || GATEWAY_TOLD_SUCCESS in details;
}
