import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { lockReceipt } from '../../connections/locks.ts';
import { reopenUnknown } from '../discrepancies/supersede-unknown.ts';
import { openListed } from '../discrepancies/unknown-movement.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import type { AnyPayment, PaymentRef } from '../payments/payment-store.ts';
import type { Movement, MovementRef } from './movements.ts';
import { hasUnsureReceipt, IS_UNSURE, isUnsure } from './sources.ts';

/*
 * A receipt belongs to one payment, or to an adoption. The unique index of `receipts` says so, for all who ask at
 * the same moment: gateway, direction and receipt, in small or capital letters.
 */

/** Returns the direction of a kind's money. A gateway may use a receipt once in each. */
export function directionOf(kind: GatewayPaymentKind): 'in' | 'out' {
  return kind === 'collection' ? 'in' : 'out';
}

/**
 * Returns a condition on the kinds of two movements: both came in, or both went out. A gateway may
 * use a receipt once in each direction.
 */
export function isSameDirection(kind: string, other: string): string {
  return `(${kind} = 'collection') = (${other} = 'collection')`;
}

/** SQL: the gateway has told the receipt for the payment of a question, and nobody has decided about that. */
export const CLAIMS_RECEIPT =
  "kind IN ('receipt_of_another', 'unconfirmed_success') AND resolved_at IS NULL";

/** Finds a payment here for which the gateway has told a receipt, while nobody has decided about that. */
export function claimantOf(
  executor: Database | Transaction,
  money: { kind: GatewayPaymentKind; gateway: string; receipt: string },
): Promise<PaymentRef | undefined> {
  return firstRow<PaymentRef>(
    executor,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM discrepancies
     WHERE ${CLAIMS_RECEIPT} AND gateway = :gateway AND trans_id = :receipt
       AND ${isSameDirection('payment_kind', ':kind')} LIMIT 1`,
    money,
  );
}

/**
 * Returns the CTE `claimed`, which claims `:trans_id` for the payment. It has no row when the
 * receipt is null, or belongs to a payment already.
 * @param from is SQL: the CTE that must have a row first, if any.
 */
export function claimed(from = ''): string {
  return `claimed AS (
    INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
    SELECT :gateway, :direction, :trans_id, :merchant_id, :kind, :id ${from}
    WHERE CAST(:trans_id AS text) IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING receipt
  )`;
}

/**
 * Claims a receipt by `work`, which gives null or false when a payment has it already. That payment keeps it until
 * the commit: a decision that gives the receipt up waits, and finds this claim.
 */
export async function claim<Made>(
  trx: Transaction,
  payment: AnyPayment,
  receipt: string | null,
  work: () => Promise<Made>,
): Promise<Made> {
  const made = await work();
  if (made || receipt === null) return made;
  await lockReceipt(trx, receipt, 'shared');
  return (await ownerOfReceipt(trx, payment, receipt)) ? made : work();
}

/**
 * Adds a receipt that was not known when the movement was recorded, and claims it.
 * @param source is the source of the news: see `sourceOf`
 * @returns false when the receipt belongs to another payment. It changes nothing then.
 */
export async function fillReceipt(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  trans_id: string | null,
  source: string,
): Promise<boolean> {
  if (movement.trans_id !== null || trans_id === null) return true;
  const direction = directionOf(payment.kind);
  const bindings = { ...payment, movement_id: movement.id, trans_id, direction, source };
  return claim(trx, payment, trans_id, () =>
    hasRow(
      trx,
      `WITH ${claimed()}
       UPDATE movements SET trans_id = claimed.receipt, receipt_told_by = :source FROM claimed
       WHERE merchant_id = :merchant_id AND movements.id = :movement_id RETURNING movements.id`,
      bindings,
    ),
  );
}

/** The payment that has a receipt, or the adoption of money whose payment is not here. */
export type OwnerOfReceipt = PaymentRef | (MovementRef & { kind: 'adoption' });

/** Finds what a receipt belongs to. */
export async function ownerOfReceipt(
  trx: Database | Transaction,
  { kind, gateway }: Pick<AnyPayment, 'kind' | 'gateway'>,
  receipt: string,
): Promise<OwnerOfReceipt | undefined> {
  return firstRow<OwnerOfReceipt>(
    trx,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM receipts
     WHERE gateway = :gateway AND direction = :direction AND upper(receipt) = upper(:receipt)`,
    { gateway, direction: directionOf(kind), receipt },
  );
}

/** Returns the times of customers' payments by receipt, as callbacks and answers have told them. */
export async function timesOfReceipts(
  database: Database,
  gateway: string,
  receipts: string[],
): Promise<Map<string, Date>> {
  const found = await rows<{ trans_id: string; completed_at: Date }>(
    database,
    `SELECT trans_id, completed_at FROM movements
     WHERE gateway = :gateway AND trans_id = ANY (:receipts) AND payment_kind = 'collection'
       AND completed_at IS NOT NULL AND told_by IN ('callback', 'poll')`,
    { gateway, receipts },
  );
  return new Map(found.map(({ trans_id, completed_at }) => [trans_id, completed_at]));
}

/**
 * Gives a movement's receipt up. Another payment may have it then. Money that was unknown before is
 * unknown again, unless the gateway itself has told that this payment's money moved and came back. So is money
 * that a statement lists without naming a payment.
 * @param isBack is true if support has called the money back
 */
export async function releaseReceipt(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  isBack = false,
): Promise<void> {
  if (movement.trans_id !== null) await lockReceipt(trx, movement.trans_id, 'exclusive');
  await firstRow(
    trx,
    `DELETE FROM receipts WHERE gateway = :gateway AND direction = :direction
       AND upper(receipt) = upper(:trans_id) AND merchant_id = :merchant_id AND payment_id = :id`,
    { ...payment, direction: directionOf(payment.kind), trans_id: movement.trans_id },
  );
  if (hasComeBack(movement) && !isUnsure(movement) && !hasUnsureReceipt(movement)) return;
  if (await isListedAgain(trx, movement)) return;
  const { gateway, reference, external_ref, kind: payment_kind } = payment;
  const references = [reference, external_ref];
  const { id: payment_id } = payment;
  await reopenUnknown(trx, { ...movement, gateway, references, payment_kind, payment_id });
  if (movement.trans_id === null || !hasUnsureReceipt(movement)) return;
  // The line of a payout has its account, and its money is back.
  if (isBack && payment_kind === 'payout') return;
  await openListed(trx, gateway, payment_kind, movement.trans_id);
}

/** Tells whether the movement is money of the gateway's word that was said to be back before, and was listed again. */
function isListedAgain(trx: Transaction, movement: Movement): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM movements own JOIN movements m ON m.merchant_id = own.merchant_id
       AND m.payment_kind = own.payment_kind AND m.payment_id = own.payment_id AND m.trans_id = own.trans_id
     WHERE own.merchant_id = :merchant_id AND own.id = :id AND m.id <> own.id
       AND m.booked = 'undone' AND NOT ${IS_UNSURE} AND EXISTS (SELECT FROM discrepancies d
         WHERE d.merchant_id = own.merchant_id AND d.payment_kind = own.payment_kind
           AND d.payment_id = own.payment_id AND d.kind = 'undone_money' AND d.movement_id = own.id)`,
    movement,
  );
}

/** Tells whether money that the gateway had moved was said to have come back. */
function hasComeBack({ booked }: Movement): boolean {
  return booked === 'undoing' || booked === 'cleared';
}
