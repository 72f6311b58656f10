import { type Behaviour, type Outcome, SUCCESS, type TransactionKind } from './behaviours.ts';
import type { Identifiers } from './identifiers.ts';
import { anotherAmount, type Floats } from './money.ts';
import { moveMoney } from './movements.ts';

/** A request that was taken. */
export interface TransactionRequest {
  kind: TransactionKind;
  shortCode: string;
  /** The customer's phone: 254 and nine digits. */
  phone: string;
  amountCents: number;
  /** For an STK push it is the MerchantRequestID. */
  originatorConversationId: string;
  conversationId: string;
  checkoutRequestId: string | null;
  accountReference: string | null;
  /** The collection that a reversal gives back; null if there is no such receipt. */
  original: Transaction | null;
  behaviour: Behaviour;
  /** Posts the callbacks for what has become of it. */
  report(transaction: Transaction, address: 'result' | 'timeout'): Promise<void>;
}

export interface Transaction extends TransactionRequest {
  status: 'open' | 'succeeded' | 'failed';
  result: Outcome | null;
  receipt: string | null;
  startedAt: Date;
  completedAt: Date | null;
  /** A reversal has given the money back. */
  isReversed: boolean;
}

interface TransactionsOptions {
  ids: Identifiers;
  floats: Floats;
  delayMs: number;
  lateSuccessMs: number;
  slowSuccessMs: number;
}

export type Transactions = ReturnType<typeof createTransactions>;

/** Keeps all transactions of one simulator, in memory for as long as it runs. */
export function createTransactions(options: TransactionsOptions) {
  const { ids, floats, delayMs, lateSuccessMs, slowSuccessMs } = options;
  const byIdentifier = new Map<string, Transaction>();
  const movements: Transaction[] = [];
  const timers = new Set<NodeJS.Timeout>();

  function after(ms: number, action: () => Promise<void>): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      void action();
    }, ms);
    timers.add(timer);
  }

  async function fail(transaction: Transaction, result: Outcome): Promise<void> {
    end(transaction, 'failed', result);
    await transaction.report(transaction, 'result');
  }

  /** Moves the money, if the float and the original allow it. Resolves after the callbacks. */
  async function succeed(transaction: Transaction): Promise<void> {
    const { amount } = transaction.behaviour;
    if (amount === 'another') transaction.amountCents = anotherAmount(transaction.amountCents);
    const refusal = moveMoney(floats, transaction);
    if (refusal) return fail(transaction, refusal);
    transaction.receipt = ids.receipt();
    byIdentifier.set(transaction.receipt, transaction);
    end(transaction, 'succeeded', SUCCESS);
    movements.push(transaction);
    await transaction.report(transaction, 'result');
  }

  function schedule(transaction: Transaction): void {
    const { failed, success, queueTimeout } = transaction.behaviour;
    const successMs = { normal: delayMs, late: lateSuccessMs, slow: slowSuccessMs, never: 0 };
    if (queueTimeout) after(delayMs, () => transaction.report(transaction, 'timeout'));
    const succeedAfter = (ms: number) => {
      if (success !== 'never') after(ms, () => succeed(transaction));
    };
    const failFirst = async (result: Outcome) => {
      await fail(transaction, result);
      succeedAfter(successMs[success] - delayMs);
    };
    if (failed) after(delayMs, () => failFirst(failed));
    else succeedAfter(successMs[success]);
  }

  return {
    after,
    succeed,
    /** By its CheckoutRequestID, its OriginatorConversationID or its receipt. */
    find: (identifier: string): Transaction | undefined => byIdentifier.get(identifier),
    /** Oldest first. */
    movements: (): readonly Transaction[] => movements,
    /** The outcome comes in time, or by `succeed` when the answer has to wait for it. */
    take(request: TransactionRequest): Transaction {
      const transaction = begin(request);
      const { originatorConversationId, checkoutRequestId } = request;
      byIdentifier.set(checkoutRequestId ?? originatorConversationId, transaction);
      if (request.behaviour.answer !== 'after the callback') schedule(transaction);
      return transaction;
    },
    /** Cancels every outcome still to come. */
    stop(): void {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function begin(request: TransactionRequest): Transaction {
  const open = { status: 'open', result: null, receipt: null, completedAt: null } as const;
  return { ...request, ...open, startedAt: new Date(), isReversed: false };
}

function end(transaction: Transaction, status: 'succeeded' | 'failed', result: Outcome): void {
  Object.assign(transaction, { status, result, completedAt: new Date() });
}
