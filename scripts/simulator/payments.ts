import { randomBytes } from 'node:crypto';
import { formatWireAmount } from '../../src/gateways/simulator/messages.ts';
import type { Behaviour, Refusal } from './behaviours.ts';
import type { PaymentRequest } from './payment-request.ts';
import { newReceipt } from './receipts.ts';
import type { Resource } from './resources.ts';

export interface Payment extends PaymentRequest {
  resource: Resource;
  behaviour: Behaviour;
  externalRef: string;
  status: 'pending' | 'succeeded' | 'failed';
  result: Refusal | null;
  transId: string | null;
  completedAt: Date | null;
}

export interface PaymentsOptions {
  delayMs: number;
  lateSuccessMs: number;
  slowSuccessMs: number;
  /** Called at every outcome of a payment, to send its callback. */
  onOutcome(payment: Payment): Promise<void>;
}

const SUCCESS: Refusal = { code: 0, description: 'The service request is processed successfully.' };

/** All payments and movements of one simulator, in memory for as long as it runs. */
export class Payments {
  readonly #options: PaymentsOptions;
  readonly #byReference = new Map<string, Payment>();
  readonly #unprocessedRequests = new Map<string, number>();
  readonly #movements: Payment[] = [];
  readonly #transIds = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: PaymentsOptions) {
    this.#options = options;
  }

  find(reference: string): Payment | undefined {
    return this.#byReference.get(reference);
  }

  /** Oldest first. */
  get movements(): readonly Payment[] {
    return this.#movements;
  }

  /** Tells whether to leave this request of a new reference unprocessed, and counts it if so. */
  leavesUnprocessed(reference: string, { notProcessed }: Behaviour): boolean {
    const count = this.#unprocessedRequests.get(reference) ?? 0;
    if (count >= notProcessed.requests) return false;
    this.#unprocessedRequests.set(reference, count + 1);
    return true;
  }

  /** Accepts a new reference. Its outcome comes in time, or by `succeed` when it has to wait. */
  take(resource: Resource, request: PaymentRequest, behaviour: Behaviour): Payment {
    const payment = newPayment(resource, request, behaviour);
    this.#byReference.set(request.reference, payment);
    if (behaviour.declined) end(payment, 'failed', behaviour.declined);
    else if (behaviour.answer !== 'after the callback') this.#schedule(payment);
    return payment;
  }

  /** Moves the money. Resolves when its callbacks have been sent. */
  async succeed(payment: Payment): Promise<void> {
    const { amount } = payment.behaviour;
    if (amount === 'another') payment.amountCents = anotherAmount(payment.amountCents);
    payment.transId = newReceipt(this.#transIds);
    end(payment, 'succeeded', SUCCESS);
    this.#movements.push(payment);
    await this.#options.onOutcome(payment);
  }

  /** Cancels every outcome still to come. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #schedule(payment: Payment): void {
    const { delayMs, lateSuccessMs, slowSuccessMs } = this.#options;
    const { failed, success } = payment.behaviour;
    const successMs = { normal: delayMs, late: lateSuccessMs, slow: slowSuccessMs, never: 0 };
    const succeedAfter = (ms: number) => {
      if (success !== 'never') this.#after(ms, () => this.succeed(payment));
    };
    const failFirst = async (refusal: Refusal) => {
      await this.#fail(payment, refusal);
      succeedAfter(successMs[success] - delayMs);
    };
    if (failed) this.#after(delayMs, () => failFirst(failed));
    else succeedAfter(successMs[success]);
  }

  #after(ms: number, action: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void action();
    }, ms);
    this.#timers.add(timer);
  }

  async #fail(payment: Payment, refusal: Refusal): Promise<void> {
    end(payment, 'failed', refusal);
    await this.#options.onOutcome(payment);
  }
}

/** Presents a payment as queries and callbacks show it. */
export function presentPayment(payment: Payment) {
  return {
    reference: payment.reference,
    kind: payment.resource.kind,
    status: payment.status,
    external_ref: payment.externalRef,
    amount: formatWireAmount(payment.amountCents),
    account: payment.account,
    trans_id: payment.transId,
    result_code: payment.result?.code ?? null,
    result_description: payment.result?.description ?? null,
    completed_at: payment.completedAt?.toISOString() ?? null,
  };
}

/** Presents a movement as the statement shows it. */
export function presentMovement(payment: Payment) {
  const { reference, account, amount, trans_id, completed_at } = presentPayment(payment);
  const kind = payment.resource.statementKind;
  return { reference, kind, account, amount, trans_id, completed_at };
}

function newPayment(resource: Resource, request: PaymentRequest, behaviour: Behaviour): Payment {
  const externalRef = `SIM-${randomBytes(8).toString('hex')}`;
  const open = { status: 'pending', result: null, transId: null, completedAt: null } as const;
  return { ...request, ...open, resource, behaviour, externalRef };
}

function end(payment: Payment, status: 'succeeded' | 'failed', result: Refusal): void {
  Object.assign(payment, { status, result, completedAt: new Date() });
}

const SMALLEST_OTHER_AMOUNT_CENTS = 100;

/** Returns half the amount, or a larger one when half would be too small. */
function anotherAmount(amountCents: number): number {
  const halfCents = Math.floor(amountCents / 2);
  if (halfCents >= SMALLEST_OTHER_AMOUNT_CENTS) return halfCents;
  return amountCents + SMALLEST_OTHER_AMOUNT_CENTS;
}
