import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import {
  type DiscrepancyKind,
  FOR_DECISION,
  openDiscrepancy,
} from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import { takeChargeBack } from '../gateway-accounts/charges.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { type JournalLine, postNewJournal } from '../ledger/post-journal.ts';
import { formatAmount } from '../money.ts';
import { isOpen } from '../payments/payment.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { type Movement, type MovementRef, rebookMovement } from './movements.ts';
import { releaseReceipt } from './receipts.ts';
import { nameMoneyBack } from './rows-of-movements.ts';
import { isSameAccount, withoutForms } from './same-account.ts';
import { UNSURE_SOURCES } from './sources.ts';

/*
 * Money that a gateway has moved waits in suspense until somebody has decided about it.
 */

/** Returns a movement's amount as suspense carries it, in cents. Money that came in is positive. */
export function suspenseCents(kind: GatewayPaymentKind, amountCents: number): number {
  return kind === 'collection' ? amountCents : -amountCents;
}

/** Posts a new movement that is not the payment's own. */
export async function postToSuspense(
  trx: Transaction,
  { kind }: AnyPayment,
  movement: Movement,
): Promise<void> {
  const cents = suspenseCents(kind, movement.amount_cents);
  await postMovement(trx, movement, 'suspense', [
    { account: 'gateway_float', amount_cents: -cents },
    { account: 'suspense', amount_cents: cents },
  ]);
}

export const ABOUT_DIFFERENCES: DiscrepancyKind[] = ['other_amount', 'other_account'];

/**
 * Corrects a movement to what the gateway has told since, before it waits in suspense, because somebody
 * undoes its payment by this difference. The difference waits too.
 * @returns the movement as it is now
 * @throws OperatorRefusal when several amounts or accounts were told: nobody knows what would wait
 */
export async function correctAsTold(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<Movement> {
  const { amounts, accounts } = await differencesOf(trx, payment, movement);
  if (amounts.length > 1 || accounts.length > 1) {
    const all = amounts.length > 1 ? amounts.map(formatAmount) : accounts;
    throw new OperatorRefusal(
      `The gateway has told of the money in several ways (${all.join(', ')}): dismiss that, and its next word asks again`,
    );
  }
  const [amount_cents = movement.amount_cents] = amounts;
  const [account = movement.account] = accounts;
  return correct(trx, payment, movement, { amount_cents, account });
}

/**
 * Corrects money that waits in suspense to the gateway's newest word about it: a decision must not go by an older one.
 * @returns the movement as it is now
 */
export async function correctToNewest(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<Movement> {
  const { amounts, accounts } = await differencesOf(trx, payment, movement, { isWaiting: true });
  const amount_cents = amounts.at(-1) ?? movement.amount_cents;
  const told = accounts.at(-1) ?? movement.account;
  // It may be the known one, with hidden digits.
  const isKnown = told && movement.account && isSameAccount(told, movement.account);
  const account = isKnown ? movement.account : told;
  return correct(trx, payment, movement, { amount_cents, account });
}

async function correct(
  trx: Transaction,
  { kind }: AnyPayment,
  movement: Movement,
  told: Pick<Movement, 'amount_cents' | 'account'>,
): Promise<Movement> {
  const { merchant_id, id, amount_cents, account } = movement;
  if (told.amount_cents === amount_cents && told.account === account) return movement;
  await rows(
    trx,
    `UPDATE movements SET amount_cents = :amount_cents, account = :account
     WHERE merchant_id = :merchant_id AND id = :id`,
    { merchant_id, id, ...told },
  );
  const cents = suspenseCents(kind, told.amount_cents - amount_cents);
  if (cents !== 0) {
    await postMovement(trx, movement, 'corrected', [
      { account: 'gateway_float', amount_cents: -cents },
      { account: 'suspense', amount_cents: cents },
    ]);
  }
  return { ...movement, ...told };
}

/**
 * Reads the amounts, in cents, and the accounts that open findings tell of a booked movement, the newest last. What only
 * people have told counts only where the gateway has told nothing.
 * @param isWaiting is true if the question about the movement counts, too: it waits in suspense
 */
async function differencesOf(
  trx: Transaction,
  payment: AnyPayment,
  { id: movement_id, trans_id }: Movement,
  { isWaiting = false } = {},
): Promise<{ amounts: number[]; accounts: string[] }> {
  const all = await rows<{
    amount_cents: number | null;
    account: string | null;
    told_by: string | null;
  }>(
    trx,
    `SELECT CAST(told->>'amount_cents' AS bigint) AS amount_cents,
       told->'details'->>'account' AS account, told->>'told_by' AS told_by
     FROM discrepancies, jsonb_array_elements(evidence) AS told
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND (kind = ANY (:kinds) AND movement_id IS NULL OR :isWaiting AND movement_id = CAST(:movement_id AS uuid))
       AND resolved_at IS NULL AND coalesce(trans_id = :trans_id, true) AND NOT CAST(told->>'decided' AS boolean)
     ORDER BY told->>'found_at'`,
    { ...refOf(payment), movement_id, trans_id, isWaiting, kinds: ABOUT_DIFFERENCES },
  );
  const sure = all.filter(({ told_by }) => told_by === null || !UNSURE_SOURCES.includes(told_by));
  const found = sure.length > 0 ? sure : all;
  return {
    amounts: distinct(found.map(({ amount_cents }) => amount_cents)),
    accounts: withoutForms(distinct(found.map(({ account }) => account))),
  };
}

/** Returns each value once, where it stands last. */
function distinct<T>(values: (T | null)[]): T[] {
  const known = values.filter((value) => value !== null);
  return known.filter((value, index) => known.lastIndexOf(value) === index);
}

/**
 * Refuses, because a decision about the money would send back an amount that may never have moved.
 * @param waiting is the money that an undo would keep in suspense
 * @throws OperatorRefusal when it is open which amount or account of the money is right
 */
export async function refuseDifference(
  trx: Transaction,
  payment: AnyPayment,
  waiting: Movement[],
): Promise<void> {
  const found = await firstRow<{ kind: DiscrepancyKind }>(
    trx,
    `SELECT kind FROM discrepancies
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND kind = ANY (:kinds) AND movement_id IS NULL AND resolved_at IS NULL
       AND coalesce(trans_id = ANY (:receipts), true)`,
    {
      ...refOf(payment),
      kinds: ABOUT_DIFFERENCES,
      receipts: waiting.map(({ trans_id }) => trans_id),
    },
  );
  if (!found) return;
  throw new OperatorRefusal(
    `The gateway has told of the money in two ways: resolve ${found.kind} first`,
  );
}

/** Posts a new movement to suspense and asks support to decide. The payment's next step waits. */
export async function keepInSuspense(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  kind: DiscrepancyKind,
): Promise<'discrepancy'> {
  await postToSuspense(trx, payment, movement);
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    movement_id: movement.id,
    trans_id: movement.trans_id,
    amount_cents: movement.amount_cents,
    details: { asked_cents: payment.amount_cents, account: movement.account },
  });
  // A failed payout keeps its money until the decision, so its refund waits too. A question does not wait.
  if (isOpen(payment) || payment.next_step === 'refund') {
    await changeStep(trx, refOf(payment), { park: `${FOR_DECISION}${kind}` });
  }
  return 'discrepancy';
}

/** Says whether money that is taken back had moved. Default: it never moved. */
interface TakenBack {
  isBack?: boolean;
  hasMoved?: boolean;
}

/**
 * Takes money out of suspense that has never moved, or has come back. Its receipt is free again. A
 * payout that waited for that is refunded.
 * @param how.isBack is true for money that has moved, and is back
 * @param how.hasMoved is true if a row shows that: the gateway keeps its charge
 */
export async function withdrawMovement(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  how: TakenBack = {},
): Promise<void> {
  if (how.isBack) await nameMoneyBack(trx, payment, movement);
  await undoMovement(trx, payment, movement, how);
  const cents = suspenseCents(payment.kind, movement.amount_cents);
  // A journal `undone` of a movement belongs to a return.
  await postMovement(trx, movement, 'cleared', [
    { account: 'suspense', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
}

/**
 * Records that a movement did not happen, or has come back. Its receipt is free again, and its charge is taken back if it
 * did not happen.
 */
export async function undoMovement(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  { isBack = false, hasMoved = false }: TakenBack = {},
): Promise<void> {
  await rebookMovement(trx, movement, 'undone', isBack);
  await releaseReceipt(trx, payment, movement, isBack);
  if (!hasMoved) await takeChargeBack(trx, movement, payment.gateway);
}

/**
 * Posts a journal of a movement, once per kind. `settled` takes it out of suspense because it is the
 * payment's own. It may be undone later, and then leave suspense for good as `cleared`.
 * @throws Error when it was posted before.
 */
export async function postMovement(
  trx: Transaction,
  { merchant_id, id }: MovementRef,
  kind: 'suspense' | 'corrected' | 'settled' | 'returned' | 'cleared' | 'undone',
  lines: JournalLine[],
): Promise<void> {
  await postNewJournal(trx, { merchant_id, source_kind: 'movement', source_id: id, kind, lines });
}
