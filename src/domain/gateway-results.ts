/**
 * The answers of a gateway about a payment, in this service's words. "It did not happen",
 * "it happened" and "nobody knows" are three different answers. A missing answer is never a
 * failure.
 */

/**
 * The kinds of payments that go through a gateway. A reversal gives a collection back because the
 * merchant wants it. A return gives money back that came after its collection had failed.
 */
export type GatewayPaymentKind = 'collection' | 'payout' | 'reversal' | 'return';

/** A movement of money that the gateway says it has made. */
export interface Succeeded {
  outcome: 'succeeded';
  /** The gateway's receipt; null when the answer has none. */
  transId: string | null;
  externalRef: string | null;
  /** The amount that the gateway states, in cents; null when it states none. */
  amountCents: number | null;
  /** The account that the gateway states; null when it states none. */
  account: string | null;
  description: string;
  completedAt: Date | null;
}

/** The gateway's definite answer that no money moved. `code` is never 0. */
export interface Failed {
  outcome: 'failed';
  code: number;
  description: string;
  externalRef: string | null;
}

/** A definite answer of the gateway about one payment. */
export type Verdict = Succeeded | Failed;

/**
 * - acknowledged: the gateway took it, and the outcome follows.
 * - declined: the gateway refused it. No money will move.
 * - notTaken: nothing was processed (connection refused, DNS, TLS, rate limit). The same
 *   reference may be sent again later.
 * - unknown: it may have arrived (timeout, reset, 5xx, unreadable answer). Only an answer of
 *   the gateway can tell.
 */
export type SubmitResult =
  | { outcome: 'acknowledged'; externalRef: string | null }
  | { outcome: 'declined'; code: number; description: string; externalRef: string | null }
  | { outcome: 'notTaken'; reason: string }
  | { outcome: 'unknown'; reason: string };

/**
 * - notFound: the gateway does not know the reference (yet).
 * - noAnswer: the question failed. It says nothing about the payment.
 * - asked: the gateway took the question and answers with a callback, within the driver's window.
 */
export type QueryResult =
  | Verdict
  | { outcome: 'pending' }
  | { outcome: 'notFound' }
  | { outcome: 'noAnswer'; reason: string }
  | { outcome: 'asked' };

/** A callback in this service's words. `reference` is null when the callback has none. */
export interface ParsedCallback {
  reference: string | null;
  verdict: Verdict | { outcome: 'pending' };
}

/** Finds the driver's reader of callbacks. The reader returns null when it cannot read a body. */
export type ParserOf = (gateway: string) => (body: string) => ParsedCallback | null;
