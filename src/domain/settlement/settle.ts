import type { Transaction } from '../../connections/database.ts';
import type { DiscrepancyKind, Told } from '../discrepancies/discrepancy.ts';
import type { Failed, ParserOf, Succeeded, Verdict } from '../gateway-results.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { applyVerdict } from './apply-verdict.ts';
import { drainCallbacks } from './drain-callbacks.ts';
import type { Movement } from './movements.ts';

/** The effect of a verdict, in words for support and logs. */
export type Settlement =
  | 'completed'
  | 'failed'
  /** Known already. At most it filled empty columns. */
  | 'repeat'
  /** A failure, while news that money has moved waits. The gateway is asked, or somebody decides. */
  | 'put_off'
  /** Success after a recorded failure: the money is in suspense and on its way back. */
  | 'late_success'
  /** It contradicts the payment: recorded as a discrepancy, without a change of status. */
  | 'discrepancy';

/** The source of a verdict. */
interface Source {
  /** For the history: 'submission', 'poll', 'callback', 'statement' or 'support'. */
  cause: string;
  /** When the verdict arrived, or when the gateway was asked for it. Without it: now. */
  heardAt?: Date | null;
  /** Somebody has brought the statement as a file: the gateway itself has not said it. */
  isFromFile?: boolean;
  /** The statement names no payment, and its line fits this one. */
  isByLikeness?: boolean;
  /** The statement that has told it. */
  importId?: string;
  /** The way in which the gateway has told it. Default: by the cause, when it was heard. */
  told?: Told;
  /** Reads the payment's stored callbacks, which are applied before a failure. */
  parserOf: ParserOf;
}

/** A verdict with its cause, and with the time at which it was heard. Null: now. */
export type News<V extends Verdict> = V & {
  cause: string;
  heardAt: Date | null;
  isFromFile?: boolean;
  isByLikeness?: boolean;
  importId?: string;
  told?: Told;
};

/** The rules of one kind of payment for news that is neither a repeat nor contrary. */
export interface SettlingRules<P extends AnyPayment> {
  /**
   * Returns why a movement cannot be booked as the payment's own, or null when it can. The
   * payment has no movement so far.
   */
  problemOf(
    trx: Transaction,
    payment: P,
    news: News<Succeeded>,
  ): Promise<DiscrepancyKind | null> | DiscrepancyKind | null;
  /** Tells whether the service returns the money, because it came after the failure. */
  comesTooLate?(payment: P): boolean;
  /** Moves the payment and books its movement. */
  complete(
    trx: Transaction,
    payment: P,
    news: News<Succeeded>,
    movement: Movement,
  ): Promise<'completed' | 'late_success'>;
  /** Fails an open payment without any known movement. */
  fail(trx: Transaction, payment: P, news: News<Failed>): Promise<void>;
}

/**
 * Applies a gateway's verdict to a payment that this transaction has locked. A failure comes
 * last: first all stored callbacks of the payment are applied, because one of them may tell that
 * the money has moved.
 */
export async function settle(
  trx: Transaction,
  payment: AnyPayment,
  verdict: Verdict,
  {
    cause,
    heardAt = null,
    parserOf,
    isFromFile = false,
    isByLikeness = false,
    importId,
    told = { by: cause, at: heardAt },
  }: Source,
): Promise<Settlement> {
  const news = {
    ...verdict,
    cause,
    heardAt,
    isFromFile,
    isByLikeness,
    told,
    ...(importId && { importId }),
  };
  if (verdict.outcome === 'succeeded') return applyVerdict(trx, payment, news);
  return applyVerdict(trx, await drainCallbacks(trx, payment, parserOf), news);
}
