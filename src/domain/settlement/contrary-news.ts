import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import { openDiscrepancy, TOLD_AGAIN_BY } from '../discrepancies/discrepancy.ts';
import { hasUndecided, supersedeWhere } from '../discrepancies/supersede.ts';
import type { Failed, Succeeded, Verdict } from '../gateway-results.ts';
import { type AnyPayment, type PaymentRef, refOf } from '../payments/payment-store.ts';
import { adoptionOf } from './adoptions.ts';
import { holdRefund } from './after-failure.ts';
import { type Movement, mismatchOf } from './movements.ts';
import { type OwnerOfReceipt, ownerOfReceipt } from './receipts.ts';
import type { News, Settlement } from './settle.ts';

/*
 * News that contradicts the books is not booked. Support is told of it.
 */

/** Reports a verdict about another payment. It moves nothing, and the questions go on. */
export async function reportOtherPayment(
  trx: Transaction,
  payment: AnyPayment,
  news: News<Verdict>,
) {
  await openDiscrepancy(trx, {
    kind: 'other_payment',
    payment: refOf(payment),
    ...(news.outcome === 'succeeded' && { trans_id: news.transId, amount_cents: news.amountCents }),
    details: {
      outcome: news.outcome,
      external_ref: news.externalRef,
      acknowledged_ref: payment.external_ref,
    },
    told: news.told,
  });
  if (news.outcome === 'succeeded') await holdRefund(trx, payment);
  return 'discrepancy' as const;
}

/**
 * Reports a receipt that belongs to another payment, or money that was adopted. It books nothing,
 * and the questions go on. Either payment may be the wrong one, so support is asked about both.
 */
export async function reportReceiptOfAnother(
  trx: Transaction,
  payment: AnyPayment,
  news: News<Succeeded>,
) {
  const owner =
    (await adoptionOf(trx, payment, news)) ?? (await ownerOfReceipt(trx, payment, news.transId!));
  await questionReceipt(trx, { payment, owner, receipt: news.transId, told: news });
  await holdRefund(trx, payment);
  return 'discrepancy' as const;
}

/** A receipt that one payment has, while something says that it is that of another. */
interface ClaimedReceipt {
  payment: PaymentRef & { gateway: string };
  /** The payment that has the receipt, or the adoption of the money. */
  owner: OwnerOfReceipt | undefined;
  /** Null for adopted money of which the gateway gives no receipt. */
  receipt: string | null;
  told: Pick<News<Succeeded>, 'amountCents' | 'account' | 'told'>;
  /** Only account, amount and time join the payment to adopted money. */
  isByLikeness?: boolean;
}

/**
 * Asks support about both payments that a receipt may belong to. The one that has it is asked about
 * only together with the other one, of which support may have decided that the receipt is not its own.
 */
export async function questionReceipt(
  trx: Transaction,
  { payment, owner, receipt, told, isByLikeness = false }: ClaimedReceipt,
): Promise<void> {
  const { kind, merchant_id, id, gateway } = payment;
  const isAdopted = owner?.kind === 'adoption';
  const adopted = isAdopted && { adoption: owner.id, adopted_for: owner.merchant_id };
  const likeness = isByLikeness && { by_likeness: true };
  const about = { kind, merchant_id, id };
  const question = (of: PaymentRef, details: Record<string, unknown>) =>
    openDiscrepancy(trx, {
      kind: 'receipt_of_another',
      gateway,
      payment: of,
      trans_id: receipt,
      amount_cents: told.amountCents,
      details: { account: told.account, ...details },
      told: told.told,
    });
  const isNews = await question(about, {
    booked_for: owner && nameOf(owner),
    ...adopted,
    ...likeness,
  });
  const isOwn = owner && owner.id === payment.id && owner.merchant_id === payment.merchant_id;
  if (!isNews || !owner || isOwn || isAdopted) return;
  await question(owner, { told_for: nameOf(payment) });
}

/** Names a payment, or an adoption, for support. */
export function nameOf({ kind, id, merchant_id }: OwnerOfReceipt): string {
  return `${kind} ${id} of merchant ${merchant_id}`;
}

/** Reports news that states another amount or account than was booked. It changes no books. */
export async function reportContradiction(
  trx: Transaction,
  payment: AnyPayment,
  known: Movement,
  news: News<Succeeded>,
): Promise<Settlement> {
  const kind = mismatchOf(payment, news, known);
  if (!kind) return 'repeat';
  await openDiscrepancy(trx, {
    kind,
    payment: refOf(payment),
    trans_id: news.transId,
    amount_cents: news.amountCents,
    details: { booked_cents: known.amount_cents, account: news.account },
    told: news.told,
  });
  return 'discrepancy';
}

/**
 * Doubts the word of people that money which a file had told of has come back, or is lost: the gateway itself tells
 * of that money now. A refund waits.
 */
export async function doubtCleared(
  trx: Transaction,
  payment: AnyPayment,
  { cause, transId, amountCents, account, told }: News<Succeeded>,
): Promise<Settlement> {
  await openDiscrepancy(trx, {
    kind: 'doubted',
    payment: refOf(payment),
    trans_id: transId,
    amount_cents: amountCents,
    details: { status: payment.status, [TOLD_AGAIN_BY]: cause, account },
    told,
  });
  await holdRefund(trx, payment);
  return 'discrepancy';
}

/** A failure in the gateway's words. */
type ToldFailure = { code: number | null; description: string | null } & Pick<News<Failed>, 'told'>;

/**
 * Reports a failure of a payment whose success is booked. A reversal that was accepted before blocks
 * the undoing of its collection, so support is asked about the reversal too.
 */
export async function reportFailureAfterSuccess(
  trx: Transaction,
  payment: AnyPayment,
  { code, description, told }: ToldFailure,
): Promise<void> {
  const reversal = payment.kind === 'collection' && (await reversalOf(trx, payment));
  for (const about of [refOf(payment), ...(reversal ? [reversal] : [])]) {
    await openDiscrepancy(trx, {
      kind: 'failure_after_success',
      payment: about,
      details: { code, description, ...(about === reversal && { of: nameOf(payment) }) },
      told,
    });
  }
}

/** Ends the question about a collection's failure at its reversal, because somebody has answered that at the collection. */
export async function answerAtReversal(trx: Transaction, collection: PaymentRef): Promise<void> {
  const reversals = await rows<PaymentRef>(
    trx,
    `SELECT 'reversal' AS kind, merchant_id, id FROM reversals
     WHERE merchant_id = :merchant_id AND collection_id = :id`,
    collection,
  );
  // The gateway may have failed the reversal itself, too.
  const isOfCollection = `NOT ${hasUndecided("NOT e->'details' ? 'of'")}`;
  for (const reversal of reversals) {
    await supersedeWhere(trx, reversal, `d.kind = 'failure_after_success' AND ${isOfCollection}`);
  }
}

/** Finds the reversal of a collection that is open or done. */
function reversalOf(trx: Transaction, collection: PaymentRef): Promise<PaymentRef | undefined> {
  return firstRow<PaymentRef>(
    trx,
    `SELECT 'reversal' AS kind, merchant_id, id FROM reversals
     WHERE merchant_id = :merchant_id AND collection_id = :id AND status <> 'failed'`,
    collection,
  );
}

/**
 * Reports that the gateway tells again of money that support has undone, and whether it tells another
 * amount or account. A refund waits for that.
 */
export async function reportUndoneMoney(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  news: News<Succeeded>,
): Promise<Settlement> {
  const { cause, heardAt } = news;
  if (heardAt !== null && heardAt <= payment.undone_at!) return 'repeat';
  await reportContradiction(trx, payment, movement, news);
  const { id: movement_id, amount_cents } = movement;
  // The question may be older than the receipt.
  const known = await firstRow<{ trans_id: string | null }>(
    trx,
    `SELECT trans_id FROM discrepancies WHERE merchant_id = :merchant_id AND payment_id = :id
       AND kind = 'undone_money' AND movement_id = :movement_id ORDER BY opened_at LIMIT 1`,
    { ...refOf(payment), movement_id },
  );
  const isNews = await openDiscrepancy(trx, {
    kind: 'undone_money',
    payment: refOf(payment),
    movement_id,
    trans_id: known ? known.trans_id : movement.trans_id,
    amount_cents,
    details: { [TOLD_AGAIN_BY]: cause },
  });
  await holdRefund(trx, payment);
  return isNews ? 'discrepancy' : 'repeat';
}
