import { rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { OperatorRefusal } from '../errors.ts';
import type { ParserOf } from '../gateway-results.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import {
  type Movement,
  movementsOf,
  ownerOfReceipt,
  rebookMovement,
  releaseReceipt,
} from '../settlement/movements.ts';
import { settle } from '../settlement/settle.ts';
import { postMovement, suspenseCents } from '../settlement/suspense.ts';
import { isUnderWay } from '../submission/attempts.ts';
import { compareReceipt } from './compare-receipt.ts';
import { casesOf } from './discrepancy-cases.ts';
import { failedHere, type Resolution } from './resolution.ts';

/**
 * Applies the gateway's word, which support has got in another way, to an open payment.
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
  }
  const settlement = await settle(
    trx,
    payment,
    as === 'failed'
      ? failedHere('Not carried out')
      : {
          outcome: 'succeeded',
          transId,
          externalRef: null,
          amountCents: null,
          account: null,
          description: 'Confirmed by the gateway',
          completedAt: null,
        },
    { cause: 'support', parserOf },
  );
  if (settlement === 'completed' || settlement === 'failed') return;
  throw new OperatorRefusal(`The ${payment.kind} has another open discrepancy: resolve that one`);
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
 * Puts a movement from suspense in the place of the one that completed the payment: money has moved
 * once, and support had given another receipt for it. The other receipt is free again.
 */
export async function correctReceipt(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<void> {
  const wrong = (await movementsOf(trx, payment)).find(({ booked }) => booked === 'settled')!;
  await rebookMovement(trx, wrong, 'undone');
  await releaseReceipt(trx, payment, wrong);
  await rebookMovement(trx, movement, 'settled');
  const cents = suspenseCents(payment.kind, movement.amount_cents);
  await postMovement(trx, movement, 'settled', [
    { account: 'suspense', amount_cents: -cents },
    { account: 'gateway_float', amount_cents: cents },
  ]);
  await rows(
    trx,
    `UPDATE ${STEP_TABLES[payment.kind].table}
     SET trans_id = :trans_id, payment_completed_at = :completed_at
     WHERE merchant_id = :merchant_id AND id = :id`,
    {
      ...refOf(payment),
      trans_id: movement.trans_id,
      completed_at: movement.completed_at ?? payment.payment_completed_at,
    },
  );
}
