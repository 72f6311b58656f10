/**
 * What a gateway can say about a payment, in this service's words. "It did not happen",
 * "it happened" and "nobody knows" are three different things and never mixed: a
 * missing answer is never a failure.
 */

/**
 * What can be sent through a gateway. A reversal gives a collection back because the
 * merchant wants it, a return because it came when nobody waited for it any more.
 */
export type GatewayPaymentKind = 'collection' | 'payout' | 'reversal' | 'return';

/** A movement of money that the gateway says it has made. */
export interface Succeeded {
  outcome: 'succeeded';
  /** The gateway's receipt; null when this way of asking does not give one. */
  transId: string | null;
  externalRef: string | null;
  /** As the gateway states it, in cents; null when it does not. */
  amountCents: number | null;
  /** As the gateway states it; null when it does not. */
  account: string | null;
  description: string;
  completedAt: Date | null;
}

/** The gateway's definite word that no money moved. `code` is never 0. */
export interface Failed {
  outcome: 'failed';
  code: number;
  description: string;
  externalRef: string | null;
}

/** A definite word of the gateway about one payment. */
export type Verdict = Succeeded | Failed;

/**
 * - acknowledged: taken, the outcome follows.
 * - declined: definitely refused; no money will move.
 * - notTaken: nothing was processed (connection refused, DNS, TLS, rate refused);
 *   the same reference may go again later.
 * - unknown: it may have arrived (timeout, reset, 5xx, unreadable answer); only the
 *   gateway's own word decides from here.
 */
export type SubmitResult =
  | { outcome: 'acknowledged'; externalRef: string | null }
  | { outcome: 'declined'; code: number; description: string; externalRef: string | null }
  | { outcome: 'notTaken'; reason: string }
  | { outcome: 'unknown'; reason: string };

/**
 * - notFound: the gateway says that it does not know the reference (yet).
 * - noAnswer: the question failed; says nothing about the payment.
 * - asked: the question was taken and its answer comes as a callback.
 */
export type QueryResult =
  | Verdict
  | { outcome: 'pending' }
  | { outcome: 'notFound' }
  | { outcome: 'noAnswer'; reason: string }
  | { outcome: 'asked' };

/** A callback in our words. `reference` is null when the provider does not echo ours. */
export interface ParsedCallback {
  reference: string | null;
  verdict: Verdict | { outcome: 'pending' };
}
