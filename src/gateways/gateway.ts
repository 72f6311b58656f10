/**
 * What a payment gateway is to this service: three verbs, and results that keep
 * "it did not happen" apart from "nobody knows". A driver translates a provider's
 * protocol into these results and does nothing else: it never retries, never
 * touches the database and never guesses. Drivers return expected failures as
 * values and throw only on bugs.
 */

import type {
  GatewayPaymentKind,
  ParsedCallback,
  QueryResult,
  SubmitResult,
} from '../domain/gateway-results.ts';

import type { StatementLine } from '../domain/reconciliation/statement.ts';

export type {
  Failed,
  GatewayPaymentKind,
  ParsedCallback,
  QueryResult,
  SubmitResult,
  Succeeded,
  Verdict,
} from '../domain/gateway-results.ts';
export type { StatementLine } from '../domain/reconciliation/statement.ts';

export type StatementResult =
  | { outcome: 'lines'; lines: StatementLine[] }
  | { outcome: 'noAnswer'; reason: string };

export interface SubmitRequest {
  kind: GatewayPaymentKind;
  /** Ours, stored before the call and the same for ever: the key to ask about later. */
  reference: string;
  /** The phone (E.164) that pays or is paid; for a payout also a bank account's number. */
  account: string;
  amountCents: number;
  /** The channel's code: a mobile network's, or the clearing code of a payout's bank. */
  channel: number;
  /** What the payer of a collection sees as the account that is paid into; null otherwise. */
  accountNumber: string | null;
  /** What the network notes with a payout or a reversal; null when there is nothing to say. */
  narration: string | null;
  /** Where the gateway reports the outcome. Contains an unguessable token: never log it. */
  callbackUrl: string;
  /** The gateway's own receipt of the collection that a reversal or return gives back; null otherwise. */
  originalTransId: string | null;
}

export interface QueryRequest {
  kind: GatewayPaymentKind;
  reference: string;
  /** The gateway's reference from its acknowledgement, if one was received. */
  externalRef: string | null;
  callbackUrl: string;
}

export interface Gateway {
  /** The driver's name; also names its submission queue. */
  readonly name: string;
  /**
   * Whether a reference may be submitted again once the gateway has repeatedly
   * reported it not found, after the settling window. `never` means that a lost
   * acknowledgement waits for a callback, a statement or support.
   */
  readonly resubmit: 'safe' | 'never';
  /** How long after a submission "not found" still proves nothing. */
  readonly settlingWindowMs: number;
  /** Any amount that is not a multiple of this is refused before it is recorded (100: whole shillings). */
  readonly amountStepCents: number;
  submit(request: SubmitRequest): Promise<SubmitResult>;
  query(request: QueryRequest): Promise<QueryResult>;
  /**
   * The movements of money that the gateway made from `start` until before `end`; absent
   * where a provider has no such question and its statements come as files.
   */
  statement?(start: Date, end: Date): Promise<StatementResult>;
  /** Reads a callback's body; null when it is not one of this provider's. Pure. */
  parseCallback(body: string): ParsedCallback | null;
}
