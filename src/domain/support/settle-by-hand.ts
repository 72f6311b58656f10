import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { OperatorRefusal } from '../operator-refusal.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { settle } from '../settlement/settle.ts';
import { isUnderWay } from '../submission/attempts.ts';
import { failedHere, type Resolution } from './resolution.ts';

/**
 * Applies the gateway's word, which support has got in another way, to an open payment.
 * @throws OperatorRefusal when other money of the payment is undecided, or the receipt is that
 * of another payment
 */
export async function settleByHand(
  trx: Transaction,
  payment: AnyPayment,
  { as, transId }: { as: Resolution; transId: string | null },
): Promise<void> {
  if (transId !== null) await refuseReceiptOfAnother(trx, payment, transId);
  if (as === 'failed') await refuseWhileUnderWay(trx, payment);
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
    'support',
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

/** A receipt belongs to one movement. A slip of the hand must not book it twice. */
async function refuseReceiptOfAnother(trx: Transaction, payment: AnyPayment, transId: string) {
  // Without the lock two decisions at once could both find it free.
  await rows(trx, 'SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))', {
    name: `receipt ${payment.gateway} ${transId}`,
  });
  const other = await firstRow<{ kind: GatewayPaymentKind; merchant_id: number; id: string }>(
    trx,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM movements
     WHERE trans_id = :trans_id AND gateway = :gateway
       AND (merchant_id, payment_id) <> (:merchant_id, :id) LIMIT 1`,
    { ...payment, trans_id: transId },
  );
  if (!other) return;
  throw new OperatorRefusal(
    `Receipt ${transId} is that of ${other.kind} ${other.id} of merchant ${other.merchant_id}`,
  );
}
