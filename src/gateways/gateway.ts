/**
 * The interface of a payment gateway: three verbs, with results that keep "it did not happen" apart
 * from "nobody knows". A driver translates a provider's protocol into these results and does
 * nothing else. It never retries, never touches the database and never guesses. It returns expected
 * failures as values and throws only on bugs.
 */

import type { AmountRule } from '../domain/channels/channel.ts';
import type {
  CallbackParser,
  GatewayPaymentKind,
  QueryResult,
  SubmitResult,
  ToldBalance,
} from '../domain/gateway-results.ts';
import type { OwnLine, StatementLine } from '../domain/reconciliation/statement.ts';
import type { Deadline } from '../time.ts';
import type { Pace } from './pace.ts';

export type * from '../domain/gateway-results.ts';
export type { OwnLine, StatementLine };

export type StatementResult =
  /** `mayLack`: it may lack movements, so it proves nothing about a movement that it lacks. */
  | { outcome: 'lines'; lines: StatementLine[]; own?: OwnLine[]; mayLack?: true }
  | { outcome: 'noAnswer'; reason: string };

/** Finds the times of receipts that the gateway has told in other ways. */
export type KnownTimes = (receipts: string[]) => Promise<ReadonlyMap<string, Date>>;

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
  /** The merchant's name, by which the payer of a collection recognises the prompt. */
  merchantName: string;
  /** The address for the outcome. It contains an unguessable token: never log it. */
  callbackUrl: string;
  /** The address for "not processed in time", for gateways that want another one for that. */
  timeoutUrl: string;
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
   * The addresses for an answer that comes as a callback, and for "not answered in time". Null
   * while nobody knows where gateways reach us. A driver does not ask such a question then, and
   * returns `noAnswer`.
   */
  callbackUrl: string | null;
  timeoutUrl: string | null;
}

/** A question about a receipt. The answer comes to `callbackUrl`, an address of use `receipt`. */
export interface ReceiptQuestion {
  receipt: string;
  callbackUrl: string;
  timeoutUrl: string;
}

export type Asked = Extract<QueryResult, { outcome: 'asked' | 'noAnswer' }>;

/**
 * Watches the money from which payouts go. The provider answers a question with a callback, whose
 * address belongs to the account and not to a payment.
 */
export interface FloatWatch {
  /** Operators are told when less than this is left, in cents. Null: never. */
  readonly alertBelowCents: number | null;
  /** @returns why the question could not be asked; null when the answer will come */
  ask(answerUrl: string, timeoutUrl: string): Promise<string | null>;
  /** Reads an answer. @returns the balances, `utility` among them; null when the body does not say. */
  read(body: string): ToldBalance[] | null;
}

/** One thing that was looked at. */
export interface Finding {
  about: string;
  state: 'ok' | 'warning' | 'wrong';
  /** The finding and, unless it is ok, the advice. */
  words: string;
}

/** Addresses of ours for a check. Never log the float's address. */
export interface CheckAddresses {
  /** Where gateways reach the API. */
  base: string;
  /** The id of the key that signs addresses. It is a part of each. */
  keyId: string;
  float: string;
  floatTimeout: string;
  /** Requests to this address are answered and dropped. */
  unread: string;
}

export type Registration = { outcome: 'registered' | 'known' } | { problem: string };

/** The operations of an account besides payments. None of them moves money. */
export interface AccountTools {
  /**
   * Tries whether the account can be used. Says in plain words what is wrong.
   * @param addresses null: nobody knows yet where gateways reach us
   */
  check(addresses: CheckAddresses | null): Promise<Finding[]>;
  /** Registers an address of ours with a product that wants one. `known`: it was done before. */
  register?(callbackUrl: string): Promise<Registration>;
  /** Asks for the name of an organisation before it is paid. */
  payeeName?(
    type: 'till' | 'paybill',
    number: string,
  ): Promise<{ name: string } | { problem: string }>;
}

/** The kinds that merchants initiate with an amount of their own. */
export type InitiatedKind = 'collection' | 'payout';

export interface Gateway {
  /**
   * The name of this account with a provider: the driver's name, and what tells it from other
   * accounts. Payments keep it, and it is in the names of its queues.
   */
  readonly name: string;
  /**
   * `safe`: the same reference may be submitted again once the gateway has repeatedly said, after
   * the settling window, that it does not know it. `never`: a payment whose acknowledgement was
   * lost waits for a callback, a statement or support.
   */
  resubmit(kind: GatewayPaymentKind): 'safe' | 'never';
  /** The time after a submission in which "not found" proves nothing. */
  readonly settlingWindowMs: number;
  /**
   * The time in which the callback comes that answers a question (`asked`). 0 if every answer comes
   * at once.
   */
  readonly answerWindowMs: number;
  /** The amounts of the kinds that this account carries. A kind that is missing is refused. */
  readonly amounts: Readonly<Partial<Record<InitiatedKind, AmountRule>>>;
  /** Slows the calls down while the provider is busy. */
  readonly pace?: Pace;
  submit(request: SubmitRequest): Promise<SubmitResult>;
  query(request: QueryRequest): Promise<QueryResult>;
  /** Asks about a receipt that a person has given. Missing where a provider cannot be asked. */
  askReceipt?(question: ReceiptQuestion): Promise<Asked>;
  /**
   * Returns the movements of money that the gateway made from `start` until before `end`. A driver
   * lacks it if its provider has statements only as files.
   * @param known helps to read times that are not clear
   */
  statement?(start: Date, end: Date, known?: KnownTimes): Promise<StatementResult>;
  /** The kinds of which `statement` lists every movement. */
  readonly statementCovers?: readonly StatementLine['kind'][];
  /** Missing where a provider does not tell, or nothing is paid out. */
  readonly float?: FloatWatch | undefined;
  /** When the account's password ends, if the operator has said when it was set. */
  readonly passwordEndsAt?: Date | null;
  /** Reads a callback's body. Returns null when this provider did not write it. Pure. */
  parseCallback: CallbackParser;
}
