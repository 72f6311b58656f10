import type {
  QueryResult,
  SubmitResult,
  Succeeded,
  Verdict,
} from '../../src/domain/gateway-results.ts';
import { type AnyPayment, accountOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { DAY_MS } from '../../src/time.ts';

/** What a gateway has done with one reference, whatever it has said about it. */
export interface Known {
  payment: AnyPayment;
  externalRef: string;
  movements: Succeeded[];
  /** It has said that nothing will move, which is true or not. */
  failure: Verdict | null;
  /** The newest of its verdicts, which a question brings. */
  newest: Verdict | null;
}

/** What is odd about a success. */
interface OddSuccess {
  again?: boolean;
  amount?: boolean;
  parts?: boolean;
}

const FIRST_PART_CENTS = 3_000;

/** The receipts that support can give for a payment. */
export const RECEIPTS = ['own', 'of another', 'invented'] as const;
export type Whose = (typeof RECEIPTS)[number];

/**
 * The truth about money in a history: a gateway that takes references, moves money once,
 * twice or in another amount, and says that it failed before or after. What it says, and
 * whether anybody hears it, is the history's business.
 */
export class GatewayWorld {
  readonly #known = new Map<string, Known>();
  readonly #number: number;
  #receipts = 0;
  #invented = 0;
  /** How often support has given a receipt. It may be a wrong one. */
  words = 0;
  /** References that came again after they had been taken: promises that were broken. */
  readonly sentTwice: string[] = [];
  /** What has happened that a person may have to decide about, by reference. */
  readonly oddities = new Map<string, Set<string>>();

  /** Worlds of other numbers move their money on other days, under other receipts. */
  constructor(number: number) {
    this.#number = number;
  }

  /** The UTC day on which it moves all its money. */
  get day(): string {
    return this.completedAt.toISOString().slice(0, 'YYYY-MM-DD'.length);
  }

  /** A submission that arrives. The gateway may give two payments the same reference of its own. */
  take(payment: AnyPayment, sharesReference = false): SubmitResult {
    const { reference } = payment;
    const known = this.#known.get(reference);
    if (known) {
      this.sentTwice.push(reference);
      return { outcome: 'acknowledged', externalRef: known.externalRef };
    }
    const externalRef = sharesReference ? `GW-${this.#number}` : `GW-${reference}`;
    this.#known.set(reference, {
      ...{ payment, externalRef, movements: [], failure: null, newest: null },
    });
    return { outcome: 'acknowledged', externalRef };
  }

  has(payment: AnyPayment): boolean {
    return this.#known.has(payment.reference);
  }

  /** Refuses a submission that arrives. */
  decline(payment: AnyPayment): SubmitResult {
    this.take(payment);
    this.fail(payment);
    return { outcome: 'declined', code: 1037, description: 'No', externalRef: null };
  }

  /** Whether it has moved what was asked for, once. Its staff would say so. */
  hasMoved(payment: AnyPayment): boolean {
    const moved = this.#known.get(payment.reference)?.movements ?? [];
    return moved.length === 1 && this.hasReceipt(payment, moved[0]!.transId);
  }

  /** The receipt that support gives for a payment: its own, that of another one, or none of any. */
  receiptFor(payment: AnyPayment, whose: Whose): string | null {
    const known = [...this.#known.values()];
    if (whose === 'invented') return `M${this.#number}X${this.#invented++}`;
    const isMeant = (each: Known) => (each.payment.id === payment.id) === (whose === 'own');
    return known.filter(isMeant).flatMap(({ movements }) => movements)[0]?.transId ?? null;
  }

  /** Whether it has moved the amount of a payment under a receipt, for good. Null: under any. */
  hasReceipt(payment: AnyPayment, receipt: string | null): boolean {
    const moved = this.#known.get(payment.reference)?.movements ?? [];
    return moved.some(
      ({ transId, amountCents }) =>
        (receipt === null || transId === receipt) &&
        amountCents === payment.amount_cents &&
        !this.#isGivenBack(payment, transId!),
    );
  }

  /** Whether the receipt of a payment has gone back for another one that support gave it to. */
  #isGivenBack({ id }: AnyPayment, receipt: string): boolean {
    return [...this.#known.values()].some(
      ({ payment, movements }) =>
        movements.length > 0 &&
        (payment.kind === 'reversal' || payment.kind === 'return') &&
        payment.original_trans_id === receipt &&
        payment.collection_id !== id,
    );
  }

  /** Notes that support has given a receipt for a payment, right or wrong. */
  noteWord(payment: AnyPayment): void {
    this.words += 1;
    this.#note(payment, 'completed by hand');
  }

  /** Whether support has given a receipt for the payment of a reference. */
  isByHand(reference: string): boolean {
    return this.oddities.get(reference)?.has('completed by hand') ?? false;
  }

  /** What it knows of a payment; nothing unless it has taken it. */
  of(payment: AnyPayment): Readonly<Known> | undefined {
    return this.#known.get(payment.reference);
  }

  verdictOf(payment: AnyPayment): Verdict | null {
    return this.#known.get(payment.reference)?.newest ?? null;
  }

  /**
   * Moves money for a reference that was taken; more than once if asked to. A payout may go in two
   * parts, of which the second comes with the next success, or with `payTheRest`.
   */
  succeed(payment: AnyPayment, odd: OddSuccess = {}): void {
    const known = this.#known.get(payment.reference);
    if (!known) return;
    if (this.#lacksPart(known)) {
      this.#move(known, known.payment.amount_cents - FIRST_PART_CENTS);
      return;
    }
    if (known.movements.length > 0 && !odd.again) return;
    if (!this.#hasOriginal(known.payment)) {
      this.fail(payment);
      return;
    }
    if (known.movements.length > 0) this.#note(payment, 'second success');
    if (known.failure) this.#note(payment, 'success after failure');
    if (odd.parts && payment.kind === 'payout' && known.movements.length === 0) {
      this.#note(payment, 'in parts');
      this.#move(known, FIRST_PART_CENTS);
      return;
    }
    if (odd.amount) this.#note(payment, 'another amount');
    this.#move(known, payment.amount_cents + (odd.amount ? 100 : 0));
  }

  /** Moves what is left of a payout that goes in parts. */
  payTheRest(payment: AnyPayment): void {
    const known = this.#known.get(payment.reference);
    if (known && this.#lacksPart(known)) this.succeed(payment);
  }

  /** Whether a receipt is of a payment that has moved in parts. */
  isPart(payment: AnyPayment, receipt: string | null): boolean {
    const { movements } = this.#known.get(payment.reference) ?? { movements: [] };
    return this.#isInParts(payment) && movements.some(({ transId }) => transId === receipt);
  }

  #isInParts({ reference }: AnyPayment): boolean {
    return this.oddities.get(reference)?.has('in parts') ?? false;
  }

  #lacksPart({ payment, movements }: Known): boolean {
    return this.#isInParts(payment) && movements.length === 1;
  }

  #move(known: Known, amountCents: number): void {
    known.newest = {
      outcome: 'succeeded',
      transId: this.#newReceipt(),
      externalRef: known.externalRef,
      amountCents,
      account: accountOf(known.payment),
      description: 'Done',
      completedAt: this.completedAt,
    };
    known.movements.push(known.newest);
  }

  /** Whether it has got what it is to give back. A receipt that support has invented names nothing. */
  #hasOriginal(payment: AnyPayment): boolean {
    if (payment.kind !== 'reversal' && payment.kind !== 'return') return true;
    const { original_trans_id: receipt } = payment;
    return [...this.#known.values()].some(
      ({ payment: { kind }, movements }) =>
        kind === 'collection' && movements.some(({ transId }) => transId === receipt),
    );
  }

  /** Tells of a success with the receipt of another payment. No money moves. */
  shareReceipt(payment: AnyPayment): void {
    const known = this.#known.get(payment.reference);
    const isIn = payment.kind === 'collection';
    const other = [...this.#known.values()].find(
      (each) =>
        each !== known &&
        each.movements.length > 0 &&
        (each.payment.kind === 'collection') === isIn,
    );
    if (!known || !other || known.movements.length > 0) return;
    // Whichever of the two is told first has the receipt.
    for (const each of [known, other]) this.#note(each.payment, 'shared receipt');
    const { movements } = other;
    known.newest = {
      ...movements[0]!,
      externalRef: known.externalRef,
      account: accountOf(payment),
    };
  }

  /** Says that a reference that was taken has failed, also when it has not. */
  fail(payment: AnyPayment): void {
    const known = this.#known.get(payment.reference);
    if (!known) return;
    if (known.movements.length > 0) this.#note(payment, 'failure after success');
    known.failure = { outcome: 'failed', code: 1037, description: 'No', externalRef: null };
    known.newest = known.failure;
  }

  /** What a question brings when its answer arrives. */
  query(payment: AnyPayment): QueryResult {
    const known = this.#known.get(payment.reference);
    if (!known) return { outcome: 'notFound' };
    return known.newest ?? { outcome: 'pending' };
  }

  get statement(): StatementLine[] {
    return this.statementNaming('ours');
  }

  /** Lists what it has moved, under our references or under its own. */
  statementNaming(whose: 'ours' | 'its own'): StatementLine[] {
    return [...this.#known.values()].flatMap(({ payment, externalRef, movements }) =>
      movements.map((movement) => ({
        kind: payment.kind === 'return' ? ('reversal' as const) : payment.kind,
        reference: whose === 'ours' ? payment.reference : externalRef,
        account: movement.account,
        amountCents: movement.amountCents!,
        transId: movement.transId,
        completedAt: this.completedAt,
      })),
    );
  }

  /** When it moves all its money. */
  get completedAt(): Date {
    return new Date(this.#number * DAY_MS);
  }

  #note(payment: AnyPayment, oddity: string): void {
    const noted = this.oddities.get(payment.reference) ?? new Set();
    this.oddities.set(payment.reference, noted.add(oddity));
  }

  #newReceipt(): string {
    this.#receipts += 1;
    return `M${this.#number}R${this.#receipts}`;
  }
}
