import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import { lockReceipt } from '../../connections/locks.ts';
import type { AskedLine } from '../discrepancies/asked-line.ts';
import { accountOfQuestion, nameOfRow } from '../discrepancies/row-back.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { IS_SAME_MONEY, isSameMoney, type Movement, type MovementRef } from './movements.ts';
import { sameAccount } from './same-account.ts';

/* The rows of statements that bring the money of movements back. Each row brings the money of one payment back. */

/**
 * Tells whose a row is already: of no other payment, of another one, or of another one to which its account does not fit.
 * It stays so until the end of the transaction: a row that is assigned, and a file that is compared, take turns.
 */
export async function claimRow(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
  { id }: PaymentRef,
): Promise<'free' | 'taken' | 'contradicted'> {
  const row_back = nameOfRow(row);
  // Its question comes first, here as elsewhere.
  await rows(
    trx,
    `SELECT FROM discrepancies WHERE kind = 'money_back' AND gateway = :gateway
       AND trans_id = :row_back FOR NO KEY UPDATE`,
    { gateway, row_back },
  );
  await lockReceipt(trx, row_back, 'exclusive');
  return ownerOfRow(trx, gateway, row, id);
}

/** Tells whether a row brings other money back already, or somebody is asked whether it does. */
export async function isMatched(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
): Promise<boolean> {
  return (await ownerOfRow(trx, gateway, row)) !== 'free';
}

/** Tells whose a row is already, as `claimRow` does. @param except is the id of a payment that may have it */
export async function ownerOfRow(
  trx: Transaction,
  gateway: string,
  row: AskedLine,
  except: string | null = null,
): Promise<'free' | 'taken' | 'contradicted'> {
  const taken = (more: string) =>
    hasRow(
      trx,
      `SELECT FROM movements m WHERE gateway = :gateway AND row_back = :row_back
         AND payment_id IS DISTINCT FROM CAST(:except AS uuid) AND ${HAS_AMOUNT} AND ${more}`,
      { ...row, gateway, row_back: nameOfRow(row), except },
    );
  if (!(await taken('true'))) return 'free';
  const fits = showsAccount('CAST(:account AS text)');
  return (await taken(fits)) ? 'taken' : 'contradicted';
}

/** SQL: the question `q` about the row that brings the movement `m` back fulfils a condition. There may be none. */
function hasRowOf(condition: string): string {
  return `coalesce((SELECT bool_or(${condition}) FROM discrepancies q
    WHERE q.merchant_id = m.merchant_id AND q.payment_kind = m.payment_kind AND q.payment_id = m.payment_id
      AND q.kind = 'failure_after_success' AND q.trans_id = m.row_back), true)`;
}

/** SQL: the row that brings the movement `m` back has the amount of this one. Another amount is another row. */
const HAS_AMOUNT = hasRowOf('q.amount_cents = :amount_cents');

/** SQL: the row that brings the movement `m` back, or the payment of `m`, has an account that may be this one. */
export function showsAccount(account: string): string {
  return hasRowOf(sameAccount(accountOfQuestion('q'), account));
}

/**
 * Records which row of a statement brings money back, or asks whether it does. The money may have been booked anew under
 * its receipt.
 */
export async function nameRowBack(
  trx: Transaction,
  ref: MovementRef,
  row_back: string | null,
): Promise<void> {
  await rows(
    trx,
    `UPDATE movements m SET row_back = :row_back FROM movements own
     WHERE own.merchant_id = :merchant_id AND own.id = :id AND m.merchant_id = own.merchant_id
       AND m.payment_kind = own.payment_kind AND m.payment_id = own.payment_id
       AND ${IS_SAME_MONEY}`,
    { merchant_id: ref.merchant_id, id: ref.id, row_back },
  );
}

/**
 * Gives money that is back, and of which no receipt was told, the receipt of a movement that has repeated it: both are one
 * money, which one row brings back.
 */
export async function nameMoneyBack(
  trx: Transaction,
  { merchant_id, kind, id: payment_id }: PaymentRef,
  { trans_id, amount_cents }: Movement,
): Promise<void> {
  if (trans_id === null) return;
  await rows(
    trx,
    `UPDATE movements SET trans_id = :trans_id
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :payment_id
       AND trans_id IS NULL AND booked = 'undone' AND back_at IS NOT NULL
       AND amount_cents = :amount_cents`,
    { merchant_id, kind, payment_id, trans_id, amount_cents },
  );
}

/** Tells whether a row of a statement brings this money back, whichever movement of the same money it has named. */
export function isListedAsBack(all: readonly Movement[], movement: Movement): boolean {
  return all.some((each) => each.row_back !== null && isSameMoney(each, movement));
}
