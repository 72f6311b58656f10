import { firstRow, type Transaction } from '../../connections/database.ts';
import { type Evidence, GATEWAY_TOLD_SUCCESS } from '../discrepancies/discrepancy.ts';
import { IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { hasFailedSinceMoney, hasToldSuccess } from '../settlement/overtaken.ts';
import { type DiscrepancyCase, paymentOf } from './discrepancy-cases.ts';
import type { Resolution } from './resolution.ts';

/** The decisions that let a payment, or its customer, have money that was told of. */
const USES_MONEY: ReadonlySet<Resolution> = new Set([
  ...(['completed', 'accept-amount', 'returned', 'same', 'parts'] as const),
]);

/** What other questions and payments say of the money of a question. */
interface Told {
  was_dismissed: boolean;
  was_other: boolean;
  is_reversed: boolean;
}

/**
 * Says who has told otherwise of the money than a decision has it: people before, or the gateway too. Null: nobody,
 * or the decision uses no money.
 */
export async function whoSaysOtherwise(
  trx: Transaction,
  found: DiscrepancyCase,
  as: Resolution,
): Promise<string | null> {
  const isUnknown = found.kind === 'unknown_movement' || found.kind === 'unknown_payment';
  // It was dismissed, or booked by hand, before a payment got it.
  if (isUnknown && as === 'dismissed' && 'booked_for' in found.details) {
    return 'The money may be booked twice.';
  }
  const payment = paymentOf(found);
  if (!payment) return null;
  const isUnconfirmed = found.kind === 'unconfirmed_success';
  if (isUnconfirmed && found.status === 'completed') return MAY_BE_SECOND;
  const isTold = isUnconfirmed || saysItMoved(found);
  if (found.kind === 'failure_after_success' || (isTold && found.status === 'failed')) {
    if ('of' in found.details) return COLLECTION_FAILED;
    return isOfRow(found) ? whoSaysOfRow(found) : TOLD_BOTH;
  }
  if (as === 'dismissed' && isOfOtherPayer(found)) {
    return 'Another phone may have paid, and a reversal of the collection would pay this one.';
  }
  return USES_MONEY.has(as) ? whoDisputesMoney(trx, found, as, payment) : null;
}

/** Tells whether nothing but the row of a statement says that money has come back. */
function isOfRow({ details, trans_id }: DiscrepancyCase): boolean {
  return 'has_come_back' in details && trans_id !== null;
}

function whoSaysOfRow({ details: { assigned_by } }: DiscrepancyCase): string {
  return assigned_by
    ? `Nobody but ${assigned_by} has said whose money the row of the statement brings back.`
    : 'Nothing but a row of a statement says that the money has come back.';
}

/** Says who has told otherwise of money that a decision uses. */
async function whoDisputesMoney(
  trx: Transaction,
  found: DiscrepancyCase,
  as: Resolution,
  payment: PaymentRef,
): Promise<string | null> {
  const { was_dismissed, was_other, is_reversed } = await readTold(trx, found, payment);
  if (found.is_back || was_dismissed) {
    return 'Somebody had the money sent back, or it was booked by hand or adopted.';
  }
  if (as === 'accept-amount' && is_reversed) {
    return 'A reversal has given the collection back, perhaps in the other amount.';
  }
  if (as === 'accept-amount' && takesMore(found)) {
    return 'The merchant would give back more than it has collected.';
  }
  if (await hasFailedSinceMoney(trx, payment)) return TOLD_BOTH;
  // Parts of a payment differ from it, and are proved by another rule.
  if (as === 'parts') return null;
  return was_other || isToldOtherwise(found) ? TOLD_OTHERWISE : null;
}

async function readTold(
  trx: Transaction,
  found: DiscrepancyCase,
  payment: PaymentRef,
): Promise<Told> {
  const told = await firstRow<Told>(
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
           AND resolution IS DISTINCT FROM 'superseded') AS was_other,
       EXISTS (SELECT FROM reversals WHERE merchant_id = :merchant_id
         AND collection_id = :payment_id AND status = 'completed') AS is_reversed`,
    { ...found, owner: nameOf(payment) },
  );
  return told!;
}

/**
 * Says so if a decision takes back the end of a payment which the gateway has told. A file, or a statement, that lacks
 * the money is no word of the gateway's.
 */
export async function whetherSuccessStands(
  trx: Transaction,
  before: DiscrepancyCase,
  after: DiscrepancyCase,
): Promise<string | null> {
  const payment = paymentOf(before);
  if (!payment) return null;
  if (before.status !== 'completed' || after.status === 'completed') return null;
  return (await hasToldSuccess(trx, payment)) ? TOLD_OTHERWISE : null;
}

const TOLD_OTHERWISE = 'The gateway has told otherwise of this money, too.';

/** Which of the two is true, no rule can tell: one may be late, repeated, or about other money. */
const TOLD_BOTH = 'Both a success and a failure of the payment were told.';

const MAY_BE_SECOND = 'The money may have moved a second time: ask the gateway about the receipt.';

const COLLECTION_FAILED = 'The gateway has failed the collection of this reversal.';

/** Tells whether the gateway has said that the money of a payment moved, by this payment or under another name. */
function saysItMoved({ kind, details, evidence }: DiscrepancyCase): boolean {
  if (kind === 'other_payment') return details.outcome === 'succeeded';
  const isDone = ({ decided, details: told }: Evidence) => !decided && told.has_moved === true;
  return kind === 'unclear_result' && evidence.some(isDone);
}

/** Tells whether a question names another payer of a completed collection than the phone that was asked. */
function isOfOtherPayer({ kind, payment_kind, status, suspense_cents }: DiscrepancyCase): boolean {
  const isOfCollection = payment_kind === 'collection' && status === 'completed';
  return kind === 'other_account' && isOfCollection && suspense_cents === null;
}

/** Tells whether a reversal has moved more than its collection had. */
function takesMore({ payment_kind, suspense_cents, amount_cents, asked_cents }: DiscrepancyCase) {
  return payment_kind === 'reversal' && (suspense_cents ?? amount_cents ?? 0) > (asked_cents ?? 0);
}

/** Tells whether the findings differ, or a success that was told since is another one. */
function isToldOtherwise(found: DiscrepancyCase): boolean {
  const { evidence, evidence_complete, details, suspense_cents, amount_cents } = found;
  const cents = suspense_cents ?? amount_cents;
  const amounts = evidence.filter(({ decided }) => !decided).map((each) => each.amount_cents);
  const differ = amounts.some((each) => each !== null && each !== cents);
  return differ || !evidence_complete || GATEWAY_TOLD_SUCCESS in details;
}
