import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import type { ParserOf } from '../gateway-results.ts';
import { formatAmount, kes } from '../money.ts';
import { type AnyPayment, OF_PAYMENT } from '../payments/payment-store.ts';
import { MAX_PARTS } from '../reconciliation/payouts-in-parts.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { explainRenamed } from '../settlement/explain-unknown.ts';
import {
  insertMovement,
  type Movement,
  movementsOf,
  rebookMovement,
} from '../settlement/movements.ts';
import { ownerOfReceipt } from '../settlement/receipts.ts';
import { hasUnsureReceipt, isUnsure } from '../settlement/sources.ts';
import { postToSuspense } from '../settlement/suspense.ts';
import { isProvenBy } from './compare-receipt.ts';
import { completeFromSuspense } from './complete-from-suspense.ts';
import type { Decision, ResolveOptions } from './resolution.ts';
import { correctReceipt } from './settle-by-hand.ts';
import { isSure, type ToldReceipt, toldOf } from './told-receipts.ts';

/*
 * A gateway may pay one payout as several transactions, because of a limit. Each has a receipt, and
 * is a movement of the payout. Together they are its money.
 */

const MIN_PARTS = 2;

/**
 * Books receipts as the money of one payment, whether they wait in suspense, are unknown so far, or
 * one of them has completed it alone. The payment gets the first one as its own. Questions about the
 * parts are answered by that.
 * @param about is the money that waits for this decision, if any
 * @throws OperatorRefusal unless the amounts that were told come to the payment's amount, if a receipt belongs to
 * another payment, or was decided about otherwise, and if that money is not one of the parts
 */
export async function joinParts(
  trx: Transaction,
  payment: AnyPayment,
  about: Movement | null,
  { transId, actor, reason }: Decision,
  { parserOf, commissionDefaults }: ResolveOptions,
): Promise<void> {
  const told = await readParts(trx, payment, transId, parserOf, null);
  if (about && !told.some(({ receipt }) => receipt === about.trans_id)) {
    throw new OperatorRefusal(
      `This discrepancy is about ${about.trans_id ?? 'money without a receipt'}, which is none of the parts: join them at the discrepancy of one of them`,
    );
  }
  refuseOtherSum(payment, told);
  const parts: Movement[] = [];
  for (const part of told) parts.push(await movementOf(trx, payment, part));
  await answerQuestions(trx, payment, parts, { actor, reason });
  if (payment.status === 'completed') return correctReceipt(trx, payment, parts);
  const [first, ...others] = parts as [Movement, ...Movement[]];
  for (const part of others) await rebookMovement(trx, part, 'settled');
  const whole = { ...first, amount_cents: payment.amount_cents };
  await completeFromSuspense(trx, payment, whole, commissionDefaults);
}

/** Tells whether something besides the person who decides proves each part. */
export async function areProvenParts(
  database: Database,
  payment: AnyPayment,
  { transId, parserOf, decider }: { transId: string; parserOf: ParserOf; decider: string | null },
): Promise<boolean> {
  const parts = await readParts(database, payment, transId, parserOf, decider);
  return parts.every(({ isProven }) => isProven);
}

/** What is known of a part. */
interface Part {
  receipt: string;
  /** The payment's movement with this receipt. */
  own: Movement | undefined;
  /** The first that tells the amount. Undefined: nothing tells it. */
  told: ToldReceipt | undefined;
  isProven: boolean;
}

async function readParts(
  executor: Database | Transaction,
  payment: AnyPayment,
  transId: string | null,
  parserOf: ParserOf,
  decider: string | null,
): Promise<Part[]> {
  const receipts = [...new Set(transId?.split(/[\s,;]+/).filter((each) => each !== ''))];
  if (receipts.length < MIN_PARTS || receipts.length > MAX_PARTS) {
    throw new OperatorRefusal(`Give the receipts of all parts, ${MIN_PARTS} to ${MAX_PARTS}`);
  }
  const known = (await movementsOf(executor, payment)).filter(({ booked }) => booked !== 'undone');
  refuseOtherReceipt(known, receipts);
  const parts: Part[] = [];
  for (const receipt of receipts) {
    const own = known.find(({ trans_id }) => trans_id === receipt);
    const booked = own && isBookedAsPart(own, known) ? [bookedPart(payment, own)] : [];
    const all = [...booked, ...(await toldOf(executor, payment, receipt, parserOf, decider))];
    const amounts = all.filter(({ amount_cents }) => amount_cents !== null);
    const told = amounts.find(isSure) ?? amounts[0];
    const asked = { ...payment, amount_cents: told?.amount_cents ?? payment.amount_cents };
    const isProven = await isProvenBy(executor, asked, receipt, all);
    parts.push({ receipt, own, told, isProven });
  }
  return parts;
}

/** Returns what a booked movement tells. Money of a file proves nothing: the decider may have brought the file. */
function bookedPart({ reference }: AnyPayment, own: Movement): ToldReceipt {
  const proves = isUnsure(own)
    ? { reference: null, is_of_kind: null }
    : { reference, is_of_kind: true };
  return { ...own, ...proves };
}

/** Tells whether a movement was booked with its own amount. One that has completed the payout alone may not be. */
function isBookedAsPart({ booked }: Movement, known: Movement[]): boolean {
  const settled = known.filter((each) => each.booked === 'settled');
  return booked === 'suspense' || (booked === 'settled' && settled.length > 1);
}

/**
 * The gateway's own word about another receipt is about money that went out as well. A file may be wrong, and money
 * without a receipt may be the sum of the parts.
 */
function refuseOtherReceipt(known: Movement[], receipts: string[]): void {
  const other = known.find(
    (each) =>
      each.booked === 'settled' &&
      each.trans_id !== null &&
      !hasUnsureReceipt(each) &&
      !receipts.includes(`${each.trans_id}`),
  );
  if (!other) return;
  throw new OperatorRefusal(
    `The gateway has told of ${other.trans_id} too, which is none of the parts`,
  );
}

function refuseOtherSum({ kind, amount_cents }: AnyPayment, parts: Part[]): void {
  const amounts = parts.map(({ receipt, told }) => {
    if (told) return told.amount_cents!;
    throw new OperatorRefusal(
      `Nothing tells how much moved under the receipt ${receipt}: compare a statement that has it, or ask the gateway about it`,
    );
  });
  const sumCents = amounts.reduce((sum, cents) => sum + cents, 0);
  if (sumCents === amount_cents) return;
  throw new OperatorRefusal(
    `${amounts.map(formatAmount).join(' + ')} come to ${kes(sumCents)}, and the ${kind} is of ${kes(amount_cents)}: name all its parts, and nothing else`,
  );
}

/** Returns the movement of a part. Money that is not booked comes to suspense first. */
async function movementOf(
  trx: Transaction,
  payment: AnyPayment,
  { receipt, own, told, isProven }: Part,
): Promise<Movement> {
  const { amount_cents: amountCents, account, told_by, completed_at } = told!;
  if (own?.booked === 'settled') return asTold(trx, payment, own, amountCents!);
  if (own?.booked === 'suspense') return own;
  if (own) throw new OperatorRefusal(`Somebody has decided otherwise about the receipt ${receipt}`);
  const news = { outcome: 'succeeded', transId: receipt, externalRef: null, amountCents } as const;
  // An amount alone is not the gateway's word about this payment.
  const cause = isProven ? told_by : 'support';
  const source = { cause, heardAt: null, description: 'A part', completedAt: completed_at };
  const added = await insertMovement(trx, payment, { ...news, ...source, account }, 'suspense');
  if (!added) {
    const owner = await ownerOfReceipt(trx, payment, receipt);
    throw new OperatorRefusal(`Receipt ${receipt} belongs to ${owner && nameOf(owner)}`);
  }
  await postToSuspense(trx, payment, added);
  await explainRenamed(trx, payment, added);
  return added;
}

/** Gives a movement that was booked as the whole the amount that a finding has told of it. */
async function asTold(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  amount_cents: number,
): Promise<Movement> {
  if (movement.amount_cents === amount_cents) return movement;
  const isTold = await hasRow(
    trx,
    `UPDATE movements m SET amount_cents = :amount_cents FROM (
       SELECT trans_id FROM discrepancies WHERE ${OF_PAYMENT} AND kind = 'other_amount'
         AND movement_id IS NULL AND amount_cents = :amount_cents) d
     WHERE m.merchant_id = :merchant_id AND m.id = :movement_id AND d.trans_id = m.trans_id
     RETURNING m.id`,
    { ...payment, amount_cents, movement_id: movement.id },
  );
  if (isTold) return { ...movement, amount_cents };
  throw new OperatorRefusal(`Compare a statement that has the receipt ${movement.trans_id} first`);
}

/** Resolves what is open about the parts, and about a receipt that gives way to them. */
async function answerQuestions(
  trx: Transaction,
  payment: AnyPayment,
  parts: Movement[],
  by: { actor: string; reason: string },
): Promise<void> {
  const ids = parts.map(({ id }) => id);
  const receipts = parts.map(({ trans_id }) => trans_id);
  await rows(
    trx,
    `UPDATE discrepancies SET resolved_at = now(), resolution = 'parts', resolved_by = :actor,
       resolved_reason = :reason
     WHERE ${OF_PAYMENT} AND resolved_at IS NULL AND (movement_id = ANY (CAST(:ids AS uuid[]))
       OR kind = 'other_amount' AND movement_id IS NULL AND trans_id = ANY (:receipts)
       OR kind = 'missing_at_gateway' AND NOT coalesce(trans_id = ANY (:receipts), false))`,
    { ...payment, ...by, ids, receipts },
  );
}
