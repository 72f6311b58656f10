import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { endMissing } from '../discrepancies/supersede.ts';
import { OperatorRefusal } from '../errors.ts';
import type { ParserOf, Succeeded } from '../gateway-results.ts';
import { type AnyPayment, accountOf, type PaymentRef, refOf } from '../payments/payment-store.ts';
import {
  insertMovement,
  type Movement,
  movementsOf,
  rebookMovement,
} from '../settlement/movements.ts';
import { ownerOfReceipt } from '../settlement/receipts.ts';
import { nameRowBack } from '../settlement/rows-of-movements.ts';
import { settle } from '../settlement/settle.ts';
import { hasUnsureReceipt, isUnsure, sourceOfMoney } from '../settlement/sources.ts';
import { postMovement, suspenseCents, undoMovement } from '../settlement/suspense.ts';
import { isUnderWay, MAY_HAVE_ARRIVED } from '../submission/attempts.ts';
import { failIfUndecided } from './clear-movement.ts';
import { compareReceipt } from './compare-receipt.ts';
import { casesOf } from './discrepancy-cases.ts';
import { CORRECTED, failUnsentReversal } from './fail-unsent-reversal.ts';
import { failedHere, type Resolution } from './resolution.ts';
import { isReversed } from './write-off.ts';

/**
 * Applies the gateway's word, which support has got in another way, to an open payment, or to a completed one without a
 * receipt, which gets it.
 * @throws OperatorRefusal when other money of the payment is undecided, or the receipt is that
 * of another payment or of other money
 */
export async function settleByHand(
  trx: Transaction,
  payment: AnyPayment,
  { as, transId }: { as: Resolution; transId: string | null },
  parserOf: ParserOf,
): Promise<void> {
  if (transId !== null) {
    await refuseReceiptOfAnother(trx, payment, transId);
    await compareReceipt(trx, payment, transId, parserOf);
  }
  if (as === 'failed') {
    await refuseWhileUnderWay(trx, payment);
    await refuseWhileReceiptIsAsked(trx, payment);
    if (await isWithoutItsMoney(trx, payment)) {
      return failIfUndecided(trx, payment, failedHere('Not carried out').description);
    }
  }
  const settlement = await settle(
    trx,
    payment,
    as === 'failed' ? failedHere('Not carried out') : succeededByWord(transId),
    { cause: 'support', parserOf },
  );
  if (settlement === 'completed' || settlement === 'failed') return;
  if (settlement === 'repeat' && payment.status === 'completed') return;
  throw new OperatorRefusal(`The ${payment.kind} has another open discrepancy: resolve that one`);
}

/** Tells whether people have decided about all money of an open payment: it went back, or is lost. */
async function isWithoutItsMoney(trx: Transaction, payment: AnyPayment): Promise<boolean> {
  const moved = await movementsOf(trx, payment);
  const isDecided = ({ booked }: Movement) => ['returning', 'cleared', 'undone'].includes(booked);
  return moved.some(({ booked }) => booked !== 'undone') && moved.every(isDecided);
}

/** Returns the verdict that a payment succeeded with this receipt, if one is known. */
export function succeededByWord(transId: string | null): Succeeded {
  return {
    outcome: 'succeeded',
    transId,
    externalRef: null,
    amountCents: null,
    account: null,
    description: 'Confirmed by the gateway',
    completedAt: null,
  };
}

/** A call that is going on may still be answered with "taken". */
async function refuseWhileUnderWay(trx: Transaction, payment: AnyPayment): Promise<void> {
  if (!(await isUnderWay(trx, payment))) return;
  throw new OperatorRefusal(
    `The ${payment.kind} is being sent at this moment: try again in a minute`,
  );
}

/** The gateway has said that the payment moved money. Only the receipt is in doubt. */
async function refuseWhileReceiptIsAsked(trx: Transaction, payment: AnyPayment): Promise<void> {
  const open = await casesOf(trx, refOf(payment));
  const isAsked = open.some((each) => each.kind === RECEIPT && each.resolved_at === null);
  if (!isAsked) return;
  throw new OperatorRefusal(
    `A receipt of the ${payment.kind} is in doubt: resolve ${RECEIPT} first`,
  );
}

const RECEIPT = 'receipt_of_another';

/** Names the payment that has the receipt. The receipt's key is what prevents a second booking. */
async function refuseReceiptOfAnother(trx: Transaction, payment: AnyPayment, transId: string) {
  const other = await ownerOfReceipt(trx, payment, transId);
  if (!other || (other.id === payment.id && other.merchant_id === payment.merchant_id)) return;
  throw new OperatorRefusal(
    `Receipt ${transId} belongs to ${other.kind} ${other.id} of merchant ${other.merchant_id}`,
  );
}

/**
 * Puts movements in the place of those that completed the payment: its money has moved once, and
 * support had given another receipt for it. The other receipt is free again.
 * @param own are the right ones, in suspense if they are new. The payment gets the first receipt.
 * @throws OperatorRefusal when a reversal has named the other receipt: it took the money of that one back
 */
export async function correctReceipt(
  trx: Transaction,
  payment: AnyPayment,
  own: Movement[],
): Promise<void> {
  const [first] = own as [Movement, ...Movement[]];
  if (payment.kind === 'collection') await refuseReversedReceipt(trx, payment, first.trans_id);
  const ids = own.map(({ id }) => id);
  for (const wrong of await movementsOf(trx, payment)) {
    if (wrong.booked !== 'settled' || ids.includes(wrong.id)) continue;
    await undoMovement(trx, payment, wrong);
    if (wrong.row_back !== null) {
      for (const each of own) await nameRowBack(trx, each, wrong.row_back);
      await nameRowBack(trx, wrong, null);
    }
    await endMissing(trx, payment, wrong.trans_id);
    // A reversal that was not sent would pay the other phone.
    const isOther = (wrong.account ?? accountOf(payment)) !== (first.account ?? accountOf(payment));
    if (payment.kind === 'collection' && isOther) await failUnsentReversal(trx, payment, CORRECTED);
  }
  for (const movement of own.filter(({ booked }) => booked === 'suspense')) {
    await rebookMovement(trx, movement, 'settled');
    const cents = suspenseCents(payment.kind, movement.amount_cents);
    await postMovement(trx, movement, 'settled', [
      { account: 'suspense', amount_cents: -cents },
      { account: 'gateway_float', amount_cents: cents },
    ]);
  }
  await rows(
    trx,
    `UPDATE ${STEP_TABLES[payment.kind].table}
     SET trans_id = :trans_id, payment_completed_at = :completed_at
     WHERE merchant_id = :merchant_id AND id = :id`,
    {
      ...refOf(payment),
      trans_id: first.trans_id,
      completed_at: first.completed_at ?? payment.payment_completed_at,
    },
  );
}

/**
 * Gives a receipt up that only people have told, if the gateway itself has told of the money: the payment is
 * completed, and its receipt is not known yet.
 * @returns false when the money is in doubt with the receipt, or a reversal has sent that money back
 */
export async function giveReceiptUp(
  trx: Transaction,
  payment: AnyPayment,
  receipt: string | null,
): Promise<boolean> {
  const settled = (await movementsOf(trx, payment)).filter(({ booked }) => booked === 'settled');
  const [wrong] = settled;
  if (wrong?.trans_id !== receipt || settled.length > 1) return false;
  if (!hasUnsureReceipt(wrong) || isUnsure(wrong)) return false;
  const isOfCollection = payment.kind === 'collection';
  if (isOfCollection && (await isReversed(trx, payment, ['processing', 'completed']))) return false;
  const { amount_cents: amountCents, account, completed_at: completedAt } = wrong;
  const money = { ...succeededByWord(null), amountCents, account, completedAt };
  const heardAt = wrong.confirmed_at ?? wrong.heard_at;
  const news = { ...money, cause: sourceOfMoney(wrong), heardAt };
  await correctReceipt(trx, payment, [(await insertMovement(trx, payment, news, 'settled'))!]);
  return true;
}

async function refuseReversedReceipt(
  trx: Transaction,
  collection: PaymentRef,
  receipt: string | null,
): Promise<void> {
  const named = await firstRow<{ original_trans_id: string }>(
    trx,
    `SELECT original_trans_id FROM reversals r
     WHERE merchant_id = :merchant_id AND collection_id = :id AND status <> 'failed'
       AND original_trans_id IS DISTINCT FROM :receipt AND EXISTS (
         SELECT FROM attempts a WHERE a.merchant_id = r.merchant_id
           AND a.payment_kind = 'reversal' AND a.payment_id = r.id AND ${MAY_HAVE_ARRIVED})`,
    { ...collection, receipt },
  );
  if (!named) return;
  throw new OperatorRefusal(
    `A reversal has named the receipt ${named.original_trans_id}: the customer has not got this money back yet`,
  );
}
