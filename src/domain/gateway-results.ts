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
  /**
   * A callback alone is not believed, because the amount is large: the gateway must say the same
   * when it is asked.
   */
  mustConfirm?: true;
  /** What the gateway says that it charges the operator for it, in cents. Left out if it says nothing. */
  chargeCents?: number;
}

/** The gateway's definite answer that no money moved. `code` is never 0. */
export interface Failed extends Refused {
  outcome: 'failed';
  externalRef: string | null;
}

interface Refused {
  code: number;
  /** For the merchant. */
  description: string;
  /**
   * The operator's own trouble with the gateway, in the gateway's words: the float is too low, say,
   * or a credential has expired. The next payment fails in the same way. Null or missing: the
   * customer's, the recipient's or the merchant's matter.
   */
  operatorTrouble?: string | null;
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
  | ({ outcome: 'declined'; externalRef: string | null } & Refused)
  | {
      outcome: 'notTaken';
      reason: string;
      /** Goes again after this, and not by the ladder: the gateway is busy, or told us to wait. */
      retryAfterMs?: number;
    }
  | ({ outcome: 'unknown'; reason: string } & MayNameCode);

interface MayNameCode {
  /** A code of the gateway that the driver does not know. Somebody must look it up. */
  unknownCode?: string | undefined;
}

/**
 * - notFound: the gateway does not know the reference (yet).
 * - noAnswer: the question failed. It says nothing about the payment.
 * - asked: the gateway took the question and answers with a callback, within the driver's window.
 */
export type QueryResult =
  | Verdict
  | { outcome: 'pending' }
  | { outcome: 'notFound' }
  | ({ outcome: 'noAnswer'; reason: string } & MayNameCode)
  | { outcome: 'asked' };

/**
 * The addresses of a payment. Some gateways send the same body to each, so only the address tells
 * what it means.
 * - result: the outcome of the payment itself.
 * - answer: the answer to a question about it.
 * - timeout: the gateway could not process a request in time. That says nothing about the payment.
 * - receipt: the answer to a question about a receipt that a person has given. It moves nothing.
 */
export const CALLBACK_ADDRESSES = ['result', 'answer', 'timeout', 'receipt'] as const;
export type CallbackAddress = (typeof CALLBACK_ADDRESSES)[number];

/** The address at which a callback came in, and the kind of its payment. */
export interface CallbackOrigin {
  address: CallbackAddress;
  kind: GatewayPaymentKind;
}

/**
 * News in a callback about its payment.
 * - pending: it says nothing yet.
 * - notFound: the answer to a question: the gateway does not know the payment, and the same
 *   reference may go again once it has said so repeatedly after the settling window.
 * - unclear: an outcome that the driver does not understand, in the gateway's words. `hasMoved`: the
 *   money has moved already, and nobody says whether by this payment.
 */
export type PaymentNews =
  | Verdict
  | { outcome: 'pending' }
  | { outcome: 'notFound'; settlingWindowMs: number }
  | { outcome: 'unclear'; code: string; description: string; hasMoved?: true };

/**
 * News in a callback. `receipt` is what the gateway says of a receipt: `told` is null if it has no
 * completed transaction with the receipt.
 */
export type CallbackNews =
  | PaymentNews
  | { outcome: 'receipt'; transId: string | null; told: ToldTransaction | null };

/** A completed transaction in the gateway's words. What they do not say is null. */
export interface ToldTransaction {
  amountCents: number | null;
  account: string | null;
  /** Our reference. */
  reference: string | null;
  externalRef: string | null;
  /** Whether the type of the transaction is that of the payment's kind; null for an unknown type. */
  isOfKind: boolean | null;
  completedAt: Date | null;
}

/** A callback in this service's words. `reference` is null when the callback has none. */
export interface ParsedCallback {
  reference: string | null;
  verdict: CallbackNews;
}

/** Reads a callback. Returns null when this gateway did not write the body. */
export type CallbackParser = (body: string, origin: CallbackOrigin) => ParsedCallback | null;

/** Finds the driver's reader of callbacks. */
export type ParserOf = (gateway: string) => CallbackParser;

/**
 * The accounts that an account with a provider may consist of. Payments move the money of
 * `utility`. `charges` holds what the provider has charged, below zero.
 */
export const SUB_ACCOUNTS = ['utility', 'working', 'charges'] as const;
export type SubAccount = (typeof SUB_ACCOUNTS)[number];

/** A balance that a provider has told, in cents. */
export interface ToldBalance {
  sub_account: SubAccount;
  current_cents: number;
  /** What payouts may use. */
  available_cents: number;
}
