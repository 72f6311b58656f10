/**
 * The interface of a payment gateway: three verbs, with results that keep "it did not happen" apart
 * from "nobody knows". A driver translates a provider's protocol into these results and does
 * nothing else. It never retries, never touches the database and never guesses. It returns expected
 * failures as values and throws only on bugs.
 */

import type { Deadline } from '../domain/deadline.ts';
import type {
  GatewayPaymentKind,
  ParsedCallback,
  QueryResult,
  SubmitResult,
} from '../domain/gateway-results.ts';
import type { StatementLine } from '../domain/reconciliation/statement.ts';

export type * from '../domain/gateway-results.ts';
export type { StatementLine };

export type StatementResult =
  | { outcome: 'lines'; lines: StatementLine[] }
  | { outcome: 'noAnswer'; reason: string };

export interface SubmitRequest {
  kind: GatewayPaymentKind;
  /** Our reference. It is stored before the call and never changes: queries use it too. */
  reference: string;
  /** The phone (E.164) that pays or is paid. For a payout also the number of a bank account. */
  account: string;
  amountCents: number;
  /** The code of a mobile network, or the clearing code of a payout's bank. */
  channel: number;
  /** The account that the payer of a collection sees; null for other kinds. */
  accountNumber: string | null;
  /** The remarks that the network gets with a payout or reversal; null when there are none. */
  narration: string | null;
  /** The address for the outcome. It contains an unguessable token: never log it. */
  callbackUrl: string;
  /** Nothing of the request leaves after this, and nobody waits for the answer any longer. */
  deadline: Deadline;
  /** The receipt of the collection that a reversal or return gives back; null for other kinds. */
  originalTransId: string | null;
}

export interface QueryRequest {
  kind: GatewayPaymentKind;
  reference: string;
  /** The gateway's reference from its acknowledgement, if one was received. */
  externalRef: string | null;
  /**
   * Null while no address for callbacks is known. A driver whose answers come as callbacks does not
   * ask then, and returns `noAnswer`.
   */
  callbackUrl: string | null;
}

export interface Gateway {
  /** The driver's name, which is also in the name of its submission queue. */
  readonly name: string;
  /**
   * `safe`: the same reference may be submitted again once the gateway has repeatedly said, after
   * the settling window, that it does not know it. `never`: a payment whose acknowledgement was
   * lost waits for a callback, a statement or support.
   */
  readonly resubmit: 'safe' | 'never';
  /** The time after a submission in which "not found" proves nothing. */
  readonly settlingWindowMs: number;
  /**
   * The time in which the callback comes that answers a question (`asked`). 0 if every answer comes
   * at once.
   */
  readonly answerWindowMs: number;
  /** Amounts that are no multiple of this are refused at once (100: whole shillings). */
  readonly amountStepCents: number;
  submit(request: SubmitRequest): Promise<SubmitResult>;
  query(request: QueryRequest): Promise<QueryResult>;
  /**
   * Returns the movements of money that the gateway made from `start` until before `end`. A driver
   * lacks it if its provider has statements only as files.
   */
  statement?(start: Date, end: Date): Promise<StatementResult>;
  /** Reads a callback's body. Returns null when this provider did not write it. Pure. */
  parseCallback(body: string): ParsedCallback | null;
}
