import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { Failed, ParserOf } from '../gateway-results.ts';
import type { Rate } from '../money.ts';
import { canMove, isOpen, MACHINES, type Payment } from '../payments/payment.ts';

/**
 * The decisions that support can take about a discrepancy.
 * - completed: completes the payment with the movement in suspense, or by the gateway's word
 *   that support has. A payment that has completed without a receipt gets its receipt.
 * - accept-amount: the same, with the amount that has moved instead of the one asked for. A completed
 *   payment is corrected to the amount that the gateway has told since.
 * - failed: fails the payment. Money that went out nevertheless is the operator's loss.
 * - returned: the money goes back, or has come back.
 * - parts: several receipts together are the money of the payment.
 * - same: the movement in suspense is the one that completed the payment, or that went back to the customer.
 *   People had given another receipt for it.
 * - undo: the payment did not complete after all, or its money has come back. Support's word that it
 *   has failed is taken back: the gateway is asked again. Or the file that told of money was wrong, or
 *   the receipt of the money is another payment's.
 * - dismissed: nothing is to be done, and no money is in suspense.
 */
export const RESOLUTIONS = [
  'completed',
  'failed',
  'returned',
  'accept-amount',
  'parts',
  'same',
  'undo',
  'dismissed',
] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** The decisions for each kind, as far as the payment and its money allow them. */
export const ALLOWED_RESOLUTIONS: Readonly<Record<DiscrepancyKind, readonly Resolution[]>> = {
  other_amount: ['accept-amount', 'parts', 'returned', 'failed', 'undo', 'dismissed'],
  other_account: ['completed', 'accept-amount', 'returned', 'failed', 'undo', 'dismissed'],
  second_success: [
    ...(['completed', 'accept-amount', 'parts', 'same', 'returned'] as const),
    ...(['failed', 'undo', 'dismissed'] as const),
  ],
  failure_after_success: ['undo', 'dismissed'],
  return_failed: ['returned', 'undo', 'dismissed'],
  paid_after_failure: ['returned', 'undo', 'dismissed'],
  paid_after_refund: ['completed', 'accept-amount', 'returned', 'failed', 'undo', 'dismissed'],
  second_reversal: ['completed', 'accept-amount', 'returned', 'failed', 'undo', 'dismissed'],
  never_taken: ['failed', 'dismissed'],
  taken_after_failure: ['failed', 'dismissed'],
  taken_twice: ['dismissed'],
  overdue: ['completed', 'parts', 'failed', 'dismissed'],
  missing_at_gateway: ['completed', 'parts', 'undo', 'dismissed'],
  unknown_movement: ['dismissed'],
  money_back: ['dismissed'],
  receipt_of_another: ['undo', 'dismissed'],
  other_payment: ['dismissed'],
  unreadable_callback: ['dismissed'],
  unclear_result: ['completed', 'failed', 'dismissed'],
  unconfirmed_success: ['completed', 'failed', 'dismissed'],
  unknown_payment: ['dismissed'],
  undone_money: ['returned', 'undo', 'failed', 'dismissed'],
  doubted: ['undo', 'dismissed'],
};

type Decidable = Pick<Payment, 'kind' | 'status' | 'amount_cents' | 'undone_at'> & {
  /** The gateway itself has not told the receipt of the money that completed it, or went back, or nobody has. */
  has_unsure_receipt: boolean;
  /** Nobody has told the receipt of the money that completed it. */
  lacks_receipt: boolean;
  /** The discrepancy is about the movement that completed the payment. */
  is_about_completion: boolean;
  /** Its money was adopted before it came. */
  is_adopted: boolean;
  /** Its money was adopted, and the adoption was taken back. Then `undo` would be about the payment itself. */
  is_adoption_over: boolean;
};

/** The facts that decide which resolutions are possible. */
export interface Situation {
  kind: DiscrepancyKind;
  /** Null when the discrepancy is of no payment here. */
  payment: Decidable | null;
  /** The money that waits in suspense for the decision, in cents. */
  suspenseCents: number | null;
  /** The amount that all findings tell of the movement that completed the payment, in cents. */
  toldCents: number | null;
  /**
   * Nothing but a file has told of the money in suspense or its receipt, another payment claims that, or the
   * gateway has failed the collection since.
   */
  mayBeWrong: boolean;
}

/** Returns the possible decisions. There is always at least one. */
export function allowedResolutions(situation: Situation): Resolution[] {
  return ALLOWED_RESOLUTIONS[situation.kind].filter((as) => isPossible(as, situation));
}

/** Support decides about these by the word of the gateway's staff, while the payment is open. */
export const DECIDED_BY_WORD: ReadonlySet<DiscrepancyKind> = new Set([
  'overdue',
  'never_taken',
  'unclear_result',
  'unconfirmed_success',
]);

/** Tells whether support may give a payment's receipt with `completed`, about a discrepancy of this kind. */
export function takesReceipt(kind: DiscrepancyKind): boolean {
  return kind === 'missing_at_gateway' || (DECIDED_BY_WORD.has(kind) && kind !== 'never_taken');
}

function isPossible(as: Resolution, situation: Situation): boolean {
  const { kind, payment, suspenseCents } = situation;
  // A gateway splits what it sends. Money that came in has one receipt, which a reversal names.
  const isOut = payment !== null && payment.kind !== 'collection';
  const mayBePart = isOut && (suspenseCents ?? 0) < payment.amount_cents;
  if (as === 'parts' && !mayBePart) return false;
  if (payment && DECIDED_BY_WORD.has(kind)) {
    // Support has the gateway's word. A payment that the gateway has ended needs no word.
    return (as === 'dismissed') !== isOpen(payment);
  }
  if (kind === 'missing_at_gateway' && as === 'completed') {
    const isBooked = payment?.status === 'completed' && payment.is_about_completion;
    return isBooked && payment.lacks_receipt && payment.undone_at === null;
  }
  if (payment && as === 'parts') {
    return payment.undone_at === null && (payment.status === 'completed' || isCompletable(payment));
  }
  // The same word ends the asking about one that has failed here.
  if (payment && kind === 'taken_after_failure') {
    return (as === 'failed') === (payment.status === 'failed');
  }
  if (as === 'undo' && payment?.is_adoption_over) return false;
  if (as === 'undo' && kind === 'paid_after_failure') return suspenseCents !== null;
  // A line of a file may be wrong. The gateway's own word is wrong only if it contradicts itself.
  if (as === 'undo' && kind !== 'undone_money' && situation.mayBeWrong) return true;
  // Money that came in may have gone back. Money that went out has come back as `returned`.
  if (as === 'undo' && kind === 'undone_money') {
    return suspenseCents !== null && payment?.kind === 'collection';
  }
  // The adoption gives way to the payment.
  if (as === 'undo' && payment?.is_adopted) return true;
  if (as === 'undo' && kind === 'doubted' && payment?.status === 'failed') {
    return payment.undone_at === null;
  }
  if (as === 'undo') {
    // Money in suspense is not the money that completed the payment.
    const isCompletion = suspenseCents === null && payment?.is_about_completion === true;
    return isCompletion && payment.status === 'completed' && payment.undone_at === null;
  }
  if (as === 'accept-amount' && suspenseCents === null) return isCorrectable(situation);
  // No decision leaves money in suspense, and without money there is nothing to book.
  if (payment === null || suspenseCents === null) return as === 'dismissed';
  const isAsAsked = suspenseCents === payment.amount_cents;
  switch (as) {
    case 'completed':
      return isAsAsked && isCompletable(payment);
    case 'accept-amount':
      // A customer who is paid back gets everything.
      return !isAsAsked && payment.kind !== 'return' && isCompletable(payment);
    case 'same':
      // The gateway's own word about two movements is about two movements.
      // A collection that is completed and undone was the operator's loss, until its money came.
      if (payment.undone_at !== null) return isAsAsked && payment.status === 'completed';
      if (!payment.has_unsure_receipt) return false;
      // Late money of a collection goes back whatever its amount.
      return payment.status === 'completed' ? isAsAsked : hasGoneBack(situation, payment);
    case 'failed':
      // Money that came in is never written off: it belongs to somebody.
      return payment.kind !== 'collection';
    case 'returned':
      return true;
    case 'parts':
    case 'dismissed':
      return false;
  }
}

/** Tells whether the amount of a completed payment can become the one that was told since. */
function isCorrectable({ kind, payment, toldCents }: Situation): boolean {
  const isAboutDifference = kind === 'other_amount' || kind === 'other_account';
  if (!isAboutDifference || payment === null || toldCents === null) return false;
  const isBooked = payment.status === 'completed' && payment.is_about_completion;
  // The rest of a return would have no owner: a customer who is paid back gets everything.
  return isBooked && payment.kind !== 'return' && toldCents !== payment.amount_cents;
}

/** Tells whether late money of a failed collection may have gone back under another receipt. */
function hasGoneBack({ mayBeWrong }: Situation, { kind, status }: Decidable): boolean {
  return kind === 'collection' && status === 'failed' && !mayBeWrong;
}

function isCompletable({ kind, status, undone_at }: Decidable): boolean {
  return undone_at === null && canMove(MACHINES[kind], status, 'completed');
}

/** The result code of a payment that support has failed. No gateway uses it. */
const FAILED_HERE_CODE = 90_011;

/** Returns the verdict about a payment that support has failed. */
export function failedHere(description: string): Failed {
  return { outcome: 'failed', code: FAILED_HERE_CODE, description, externalRef: null };
}

/** What each decision about a discrepancy says, for people. */
export const RESOLUTION_WORDS: Readonly<Record<Resolution, string>> = {
  completed: 'The payment is complete',
  'accept-amount': 'The payment is complete, with the amount that moved or was told later',
  failed:
    'The payment has failed, and a payout goes back into the wallet. Money that went out nevertheless is our loss',
  returned: 'The money goes back, or has come back',
  parts: 'Several receipts together are the money of the payment',
  same: 'It is the money that completed the payment, or went back to the customer, under its right receipt',
  undo: 'The payment did not complete after all, or its money has come back. The word that it has failed, the line of a wrong file, or the receipt of another payment is taken back',
  dismissed: 'There is nothing to do',
};

export interface Decision {
  as: Resolution;
  actor: string;
  reason: string;
  /** The gateway's receipt, if support knows it. */
  transId: string | null;
}

export interface ResolveOptions {
  /** For merchants without a commission of their own. */
  commissionDefaults: Rate;
  /** The time until the gateway is asked again about a parked payment. */
  pollFirstMs: number;
  /** Reads the payment's stored callbacks, which are applied before the decision. */
  parserOf: ParserOf;
}
