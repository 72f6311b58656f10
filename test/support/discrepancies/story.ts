import type { DiscrepancyKind } from '../../../src/domain/discrepancies/discrepancy.ts';
import type { PaymentStatus } from '../../../src/domain/payments/payment.ts';
import type { AnyPayment } from '../../../src/domain/payments/payment-store.ts';
import type { Resolution } from '../../../src/domain/support/resolution.ts';
import { succeeded } from '../payments.ts';
import { discrepancyOf, resolve, type Scene } from './scene.ts';

/** What a decision must lead to. */
export interface Decided {
  status: PaymentStatus;
  /** The sums of all accounts in cents; none is even. */
  books: Record<string, number>;
  /** What the merchant has been told in all. */
  told?: ('completed' | 'failed')[];
  /** Amounts on their way back to the customer. */
  returns?: number[];
  /** What it does next; nothing by default. */
  step?: 'refund' | 'poll' | 'parked';
  /** What is still undecided of the payment. */
  left?: DiscrepancyKind[];
}

/** Something that does not add up, and all that support can decide about it. */
export interface DiscrepancyStory {
  kind: DiscrepancyKind;
  arrange(scene: Scene): Promise<AnyPayment>;
  decisions: Partial<Record<Resolution, Decided>>;
}

export type Stories = Readonly<Record<string, DiscrepancyStory>>;

export const HALF = succeeded({ amountCents: 5_000 });
export const HALF_OF_STRANGER = succeeded({ amountCents: 5_000, account: '+254733999999' });

/** The books of a merchant with one completed collection. */
export const COLLECTED = { 'wallet:collection': 9_850, commission: 150, gateway_float: -10_000 };

/** The decision that takes a completed payment back. Its money waits until it has come back. */
export function undone(completed: Decided, others: Partial<Decided>): Decided {
  const told = completed.told && [...completed.told, 'failed' as const];
  const left = ['undone_money' as const];
  return { ...completed, status: 'failed', left, ...(told && { told }), ...others };
}

/** What support has undone, and what becomes of it. */
export function undo(story: DiscrepancyStory): DiscrepancyStory['arrange'] {
  return async (scene) => {
    const payment = await story.arrange(scene);
    await resolve(scene, await discrepancyOf(scene, story.kind), 'undo');
    return payment;
  };
}

/** The same, with so much of what went out lost to the operator. */
export function lost(decided: Decided, cents: number): Decided {
  const { gateway_float = 0, ...others } = decided.books;
  const books = { ...others, losses: -cents, gateway_float: gateway_float + cents };
  const uneven = Object.entries(books).filter(([, sum]) => sum !== 0);
  return { ...decided, books: Object.fromEntries(uneven) };
}
