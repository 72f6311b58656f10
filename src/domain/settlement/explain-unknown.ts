import type { Transaction } from '../../connections/database.ts';
import type { Told } from '../discrepancies/discrepancy.ts';
import {
  askAboutDismissed,
  askAboutDismissedLike,
  endDismissedLike,
  type MovedMoney,
} from '../discrepancies/dismissed-money.ts';
import { supersedeUnknown } from '../discrepancies/supersede-unknown.ts';
import type { Succeeded } from '../gateway-results.ts';
import { type AnyPayment, accountOf } from '../payments/payment-store.ts';
import { whenMoved } from '../reconciliation/candidates.ts';
import { adoptionOf, adoptionsLike } from './adoptions.ts';
import { holdRefund } from './after-failure.ts';
import { nameOf, questionReceipt } from './contrary-news.ts';
import type { Movement } from './movements.ts';

/*
 * A statement may list money before its payment is known here, or under another name: its receipt, our
 * reference, or the gateway's own. Somebody may have adopted it meanwhile, or booked it by hand, or had it
 * sent back. So whenever a payment gets money, or its money gets another name, that money is looked for.
 */

/** Money of a payment, as its news names it. */
interface NamedMoney extends Pick<Movement, 'trans_id' | 'amount_cents'> {
  /** The account that the gateway has told, which may be another one than was asked for. */
  account?: string | null;
  /** The gateway's own reference in the news. The payment may not have it yet. */
  external_ref?: string | null;
  /** False: the gateway has not told that reference for the payment, and other money may have it. */
  isOwn?: boolean;
  /** Our reference, if the payment has had its money under it before. */
  known_as?: string;
}

/** Returns money as its news names it, with the references of its payment. */
export function moneyOf(
  { gateway, kind: payment_kind, reference, external_ref }: AnyPayment,
  { transId: trans_id, externalRef }: Pick<Succeeded, 'transId' | 'externalRef'>,
) {
  return { gateway, payment_kind, trans_id, references: [reference, externalRef ?? external_ref] };
}

/**
 * Takes money off the support list, because a payment has it now. What somebody has dismissed, adopted, or booked by
 * hand, is asked about, also if it is only like that money and one of the two has no receipt. Call `adoptionOf` before: it waits for a decision that is being made.
 */
export async function explainUnknown(
  trx: Transaction,
  payment: AnyPayment,
  { trans_id, amount_cents, account = null, external_ref = null, known_as }: NamedMoney,
): Promise<void> {
  const money = moneyOf(payment, { transId: trans_id, externalRef: external_ref });
  await askAboutDismissed(trx, money, nameOf(payment));
  if (known_as === undefined) await askAboutLike(trx, payment, { trans_id, amount_cents, account });
  await supersedeUnknown(trx, { ...money, amount_cents, known_as: known_as ?? null });
}

/** Asks about money about which people have decided, and that may be this money of a payment, though nothing names both. */
export async function askAboutLike(
  trx: Transaction,
  payment: AnyPayment,
  { trans_id, amount_cents, account }: Pick<NamedMoney, 'trans_id' | 'amount_cents' | 'account'>,
): Promise<void> {
  const own = whoseMoney(payment);
  const moved = { ...own, account: account ?? own.account, amount_cents, receipt: trans_id };
  await askAboutDismissedLike(trx, moved, nameOf(payment));
  // Each of them has a question of its own.
  for (const { receipt, ...owner } of await adoptionsLike(trx, moved)) {
    const told = { amountCents: amount_cents, account: null, told: undefined };
    await questionReceipt(trx, { payment, owner, receipt, told, isByLikeness: true });
  }
}

function whoseMoney(payment: AnyPayment): Omit<MovedMoney, 'amount_cents' | 'receipt'> {
  const { gateway, kind, created_at } = payment;
  return { gateway, kind, account: accountOf(payment), created_at, ...whenMoved(payment) };
}

/**
 * Does the same for money that a payment has already, and that has another name now. Adopted money is asked about, too.
 * @returns whether it was adopted
 */
export async function explainRenamed(
  trx: Transaction,
  payment: AnyPayment,
  named: NamedMoney,
  told?: Told,
): Promise<boolean> {
  const { trans_id: receipt, external_ref: externalRef = null, amount_cents, isOwn } = named;
  const owner = await adoptionOf(trx, payment, { transId: receipt, externalRef }, { isOwn });
  await explainUnknown(trx, payment, { ...named, known_as: payment.reference });
  if (receipt !== null) await endDismissedLike(trx, payment, nameOf(payment), receipt);
  if (!owner) return false;
  const news = { amountCents: amount_cents, account: null, told };
  await questionReceipt(trx, { payment, owner, receipt, told: news });
  await holdRefund(trx, payment);
  return true;
}
