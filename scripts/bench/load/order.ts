import type { BenchMerchant } from '../merchants.ts';

/** What the load generator can be told to do, as it goes to its process. */
export type Work =
  | { kind: 'get'; url: string; token: string | null }
  | { kind: 'checkout'; baseUrl: string; tokens: string[]; keyed: boolean; tag: string }
  | { kind: 'insert'; databaseUrl: string; poolMax: number; payees: Payee[]; tag: string }
  | {
      kind: 'accept';
      databaseUrl: string;
      poolMax: number;
      payees: Payee[];
      tag: string;
      payments: readonly ('collection' | 'payout')[];
      callbackUrl: string;
    }
  | InitiateWork;

/** Payments over HTTP, spread over the merchants. */
export interface InitiateWork {
  kind: 'initiate';
  baseUrl: string;
  merchants: readonly BenchMerchant[];
  tag: string;
  /** Sent in turn, again and again. */
  mix: readonly MixedPayment[];
  callbackUrl: string;
}

/** A payment to send: what it is, and the last digits of the account, which say how it ends. */
export interface MixedPayment {
  kind: 'collection' | 'payout';
  ending: string;
}

/** Whose payments are recorded. */
export interface Payee {
  merchant_id: number;
  app_code: number;
}

/** Whichever comes first. */
export interface Bound {
  count: number;
  durationMs: number;
}

export interface LoadOrder {
  work: Work;
  /** How many are under way at once; each waits for its own end before it begins anew. */
  concurrency: number;
  /**
   * Begun at this constant rate, whatever the answers take, as long as fewer than
   * `concurrency` are under way. Absent: as soon as one of them has ended.
   */
  perSecond?: number;
  /** Done first, and not measured. */
  warmUp: Bound;
  measured: Bound;
}

export interface LoadResult {
  /** Of those that succeeded, from sending (at a rate: from when they were due) to the end of the answer. */
  latenciesMs: number[];
  errors: number;
  /** All that were made, those of the warm-up and those that failed included. */
  madeCount: number;
  firstError: string | null;
  /** From the first beginning to the last end. */
  elapsedMs: number;
  /** Part of one core that the generator itself used. */
  cpuShare: number;
}

/** What the generator's process answers to an order. */
export type LoadReply = { result: LoadResult } | { problem: string };
