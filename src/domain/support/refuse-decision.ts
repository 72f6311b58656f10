import { hasRow, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import { type AnyPayment, findPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import type { Movement } from '../settlement/movements.ts';
import { casesOf, type Discrepancy } from './discrepancy-cases.ts';
import type { Resolution } from './resolution.ts';

/*
 * Decisions that depend on another question about the same money: that one must be decided first.
 */

/** These decisions need money that has moved. A customer's money must have come before it can go back. */
const NEEDS_MONEY: ReadonlySet<Resolution> = new Set<Resolution>([
  'completed',
  'accept-amount',
  'parts',
  'failed',
]);

/**
 * Refuses a decision that needs money which may have bounced.
 * @throws OperatorRefusal when the gateway has failed the payment after it told of the money
 */
export async function refuseBounced(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement | null,
  as: Resolution,
): Promise<void> {
  const owner = movement ? await ownerOf(trx, payment, movement) : payment;
  const goesBack = as === 'returned' && owner.kind === 'collection';
  if (owner.status === 'completed' || !(goesBack || NEEDS_MONEY.has(as))) return;
  const isAsked = (await casesOf(trx, refOf(owner))).some(
    ({ kind, resolved_at }) => kind === 'failure_after_success' && resolved_at === null,
  );
  if (!isAsked) return;
  throw new OperatorRefusal(
    `The gateway has failed the ${owner.kind} after it told of this money, which may have come back: resolve failure_after_success first`,
  );
}

/**
 * Refuses to undo a payment whose own receipt may wait: the payment would fail for good.
 * @throws OperatorRefusal when a second receipt, or several, may take the place of the first one
 */
export async function refuseBeforeSame(trx: Transaction, payment: AnyPayment): Promise<void> {
  const cases = await casesOf(trx, refOf(payment));
  const other = cases.find(
    ({ kind, allowed }) => kind === SECOND && allowed.some((as) => as === 'same' || as === 'parts'),
  );
  if (!other) return;
  throw new OperatorRefusal(
    `Receipt ${other.trans_id} may be the ${payment.kind}'s own: resolve ${SECOND} first, as same or parts if it is`,
  );
}

const SECOND = 'second_success';

/**
 * Refuses to give a customer's money back while an earlier reversal may have done so.
 * @throws OperatorRefusal when the money of a reversal of the collection waits for a decision
 */
export async function refuseBesideReversal(
  trx: Transaction,
  { kind, merchant_id, id }: AnyPayment,
): Promise<void> {
  const waits = `SELECT 1 FROM reversals r JOIN movements m ON m.merchant_id = r.merchant_id
       AND m.payment_kind = 'reversal' AND m.payment_id = r.id AND m.booked = 'suspense'
     WHERE r.merchant_id = :merchant_id AND r.collection_id = :id`;
  if (kind !== 'collection' || !(await hasRow(trx, waits, { merchant_id, id }))) return;
  throw new OperatorRefusal(
    'A reversal of the collection has moved money that waits for a decision: the customer may have it. Resolve the question about that reversal first',
  );
}

/**
 * Refuses, because the customer may have the money, or still get it: then the bank would pay a second time.
 * @throws OperatorRefusal when anything else is open about the return
 */
export async function refuseWhileOpen(
  trx: Transaction,
  payment: AnyPayment,
  { id }: Discrepancy,
): Promise<void> {
  const cases = await casesOf(trx, refOf(payment));
  const other = cases.find((each) => each.resolved_at === null && each.id !== id);
  if (!other) return;
  throw new OperatorRefusal(
    `The customer may have the money of the return already: resolve its ${other.kind} first`,
  );
}

/**
 * Refuses to complete money that goes out with less than was asked for, because the merchant would get the rest back.
 * @param cents have moved
 * @throws OperatorRefusal while other money of the payment waits, which may be that rest
 */
export async function refuseBeforeRest(
  trx: Transaction,
  payment: AnyPayment,
  { id }: Discrepancy,
  cents: number,
): Promise<void> {
  if (payment.kind === 'collection' || cents >= payment.amount_cents) return;
  const cases = await casesOf(trx, refOf(payment));
  const other = cases.find((each) => each.suspense_cents !== null && each.id !== id);
  if (!other) return;
  throw new OperatorRefusal(
    `Receipt ${other.trans_id ?? 'none'} of the ${payment.kind} waits too: resolve its ${other.kind} first, or both as parts`,
  );
}

/** Returns the payment whose money waits. A failed return has the money of its collection. */
export async function ownerOf(
  trx: Transaction,
  payment: AnyPayment,
  { id }: Movement,
): Promise<AnyPayment> {
  if (payment.kind !== 'return' || payment.movement_id !== id) return payment;
  return (await findPayment(trx, (await collectionOf(trx, refOf(payment)))!))!;
}

/** Returns the collection whose money a return gives back. */
export async function collectionOf(trx: Transaction, ref: PaymentRef): Promise<PaymentRef | null> {
  const payment = ref.kind === 'return' ? await findPayment(trx, ref) : undefined;
  if (payment?.kind !== 'return') return null;
  return { kind: 'collection', merchant_id: payment.merchant_id, id: payment.collection_id };
}
