import { type Database, hasRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import { OperatorRefusal } from '../errors.ts';
import type { GatewayPaymentKind, ParserOf } from '../gateway-results.ts';
import { kes } from '../money.ts';
import { type AnyPayment, accountOf } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { whenMoved } from '../reconciliation/candidates.ts';
import { hasRival, isDecided } from '../reconciliation/rivals.ts';
import { LINE_KINDS, PAYMENTS_OF_LINES } from '../reconciliation/statement.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { isSameAccount, sameAccount } from '../settlement/same-account.ts';
import { ARE_LIKENESSES, HAS_UNSURE_RECEIPT } from '../settlement/sources.ts';
import { isSure, TOLD_FOR_ANOTHER, type ToldReceipt, toldOf } from './told-receipts.ts';

/**
 * Compares a receipt that a person gives with the statements and the callbacks that are known here,
 * and with the gateway's answer if it was asked about the receipt.
 * @param decider is the e-mail address of the member who decides: files of this member prove nothing
 * @returns whether one of them proves that it is the payment's
 * @throws OperatorRefusal when one of them says that it is not
 */
export async function compareReceipt(
  database: Database | Transaction,
  payment: AnyPayment,
  receipt: string,
  parserOf: ParserOf,
  decider: string | null = null,
): Promise<boolean> {
  const told = await toldOf(database, payment, receipt, parserOf, decider);
  return isProvenBy(database, payment, receipt, told);
}

/**
 * Tells whether one of these proves that a receipt is the payment's. A phone proves nothing while another
 * payment of the amount may be meant, also by a question about the receipt, or other money fits the payment.
 * @throws OperatorRefusal when one of them says that it is not
 */
export async function isProvenBy(
  database: Database | Transaction,
  payment: AnyPayment,
  receipt: string,
  told: readonly ToldReceipt[],
): Promise<boolean> {
  for (const each of told) {
    refuseOther(payment, receipt, isSure(each) ? each : withoutTold(each, told.filter(isSure)));
  }
  const proofs = told.filter((each) => isProof(payment, each));
  const { gateway, kind } = payment;
  // Its money may have been booked by hand, or sent back.
  if (await isDecided(database, gateway, { kind, trans_id: receipt })) return false;
  for (const { reference, account } of proofs) {
    if (reference !== null) return true;
    if (await isAskedOfAnother(database, payment, receipt)) continue;
    if (await fitsAnother(database, payment, account!)) continue;
    if (!(await fitsOtherMoney(database, payment, receipt))) return true;
  }
  return false;
}

/** Leaves out of a file's line, which may be wrong, the facts that the gateway itself has told. */
function withoutTold(line: ToldReceipt, sure: ToldReceipt[]): ToldReceipt {
  const facts = ['amount_cents', 'account', 'reference', 'is_of_kind'] as const;
  const known = facts.filter((fact) => sure.some((each) => each[fact] !== null));
  return { ...line, ...Object.fromEntries(known.map((fact) => [fact, null])) };
}

/** Other payments may be meant that were asked for this near. */
const NEAR = "interval '1 day'";

/**
 * Tells whether another payment of the amount, without a receipt so far, has a phone that may be this one. It is
 * open, or was asked for near this one. A statement lists a reversal as it lists a return.
 */
async function fitsAnother(
  database: Database | Transaction,
  payment: AnyPayment,
  account: string,
): Promise<boolean> {
  const alike = LINE_KINDS.map((kind) => PAYMENTS_OF_LINES[kind]);
  for (const kind of alike.find((kinds) => kinds.includes(payment.kind)) ?? []) {
    if (await fitsAnotherOf(database, kind, payment, account)) return true;
  }
  return false;
}

function fitsAnotherOf(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
  payment: AnyPayment,
  account: string,
): Promise<boolean> {
  const column = `p.${ACCOUNT_COLUMNS[kind]}`;
  const { table } = STEP_TABLES[kind];
  return hasRow(
    database,
    `SELECT 1 FROM (
         SELECT p.* FROM merchants JOIN ${table} p ON p.merchant_id = merchants.id
           AND p.created_at BETWEEN CAST(:created_at AS timestamptz) - ${NEAR}
             AND CAST(:created_at AS timestamptz) + ${NEAR}
         UNION ALL SELECT p.* FROM ${table} p WHERE p.status IN ('pending', 'processing')) p
     WHERE p.gateway = :gateway AND p.amount_cents = :amount_cents AND p.id <> :id
       AND p.status <> 'failed' AND ${sameAccount(column, 'CAST(:account AS text)')}
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = :kind AND m.payment_id = p.id AND m.trans_id IS NOT NULL
         AND m.booked <> 'undone')
     LIMIT 1`,
    { ...payment, kind, account },
  );
}

/**
 * Tells whether a statement lists the receipt, and an open question names another payment that it may be of. A payment
 * that has got a receipt of its own meanwhile does not count, unless a likeness alone gave it that receipt.
 */
function isAskedOfAnother(
  database: Database | Transaction,
  payment: AnyPayment,
  trans_id: string,
): Promise<boolean> {
  return hasRow(
    database,
    `SELECT 1 FROM discrepancies, jsonb_array_elements_text(details->'candidates') AS name
     WHERE ${IS_UNKNOWN} AND gateway = :gateway AND trans_id = :trans_id AND resolved_at IS NULL
       AND name <> :name AND NOT EXISTS (SELECT FROM movements m
         WHERE m.merchant_id = CAST(split_part(name, ' ', 5) AS bigint)
           AND m.payment_id = CAST(split_part(name, ' ', 2) AS uuid)
           AND m.trans_id IS NOT NULL AND m.booked <> 'undone'
           AND NOT (m.told_by IN ${ARE_LIKENESSES} AND ${HAS_UNSURE_RECEIPT}))`,
    { gateway: payment.gateway, trans_id, name: nameOf(payment) },
  );
}

/** Tells whether money under another receipt, which belongs to nobody, may be the payment's. */
async function fitsOtherMoney(
  database: Database | Transaction,
  payment: AnyPayment,
  trans_id: string,
): Promise<boolean> {
  const { kind, gateway, amount_cents } = payment;
  if (kind !== 'collection' && kind !== 'payout') return false;
  const money = { kind, trans_id, amount_cents };
  return hasRival(database, { gateway, import_id: null }, money, payment);
}

/** Says how a receipt that is told differs from the payment; null: in nothing. */
function differenceOf(
  payment: AnyPayment,
  { amount_cents, account, reference, is_of_kind }: ToldReceipt,
): string | null {
  if (amount_cents !== null && amount_cents !== payment.amount_cents) {
    return `amount (${kes(amount_cents)})`;
  }
  if (account !== null && !isSameAccount(account, accountOf(payment))) return 'phone or account';
  if (reference !== null && !isOwn(payment, reference)) return 'reference';
  return is_of_kind === false ? 'type' : null;
}

/** A row of a file that names a payment and its receipt. */
type GivenRow = Pick<ToldReceipt, 'amount_cents' | 'account'> & { trans_id: string };

/**
 * Tells whether the gateway itself has told a receipt otherwise than a row of a file that names a payment, or for
 * another payment. Where the two agree, the row is a question if it does not fit the payment.
 */
export async function isToldOtherwise(
  trx: Transaction,
  payment: AnyPayment,
  row: GivenRow,
  parserOf: ParserOf,
): Promise<boolean> {
  try {
    const told = await toldOf(trx, payment, row.trans_id, parserOf, null, TOLD_FOR_ANOTHER);
    const known = row.account ?? accountOf(payment);
    return told.filter(isSure).some(({ amount_cents, account, reference, is_of_kind }) => {
      const isOtherAmount = amount_cents !== null && amount_cents !== row.amount_cents;
      const isOtherAccount = account !== null && !isSameAccount(account, known);
      const isNamed = reference !== null && !isOwn(payment, reference);
      return isOtherAmount || isOtherAccount || isNamed || is_of_kind === false;
    });
  } catch (refusal) {
    if (refusal instanceof OperatorRefusal) return true;
    throw refusal;
  }
}

/** @throws OperatorRefusal when a receipt is told with facts of another payment */
function refuseOther(payment: AnyPayment, receipt: string, told: ToldReceipt): void {
  const what = differenceOf(payment, told);
  if (what === null) return;
  throw new OperatorRefusal(
    `The gateway has the receipt ${receipt} with another ${what} than the ${payment.kind}: look for the right one`,
  );
}

/**
 * Tells whether what is told of a receipt proves that it is the payment's. An amount alone proves
 * nothing: many payments have the same. A phone proves nothing more without the kind, since a payout and a
 * return may go to the same phone, or of money that moved at another time than the payment's.
 */
function isProof(payment: AnyPayment, told: ToldReceipt): boolean {
  const { amount_cents, account, reference, is_of_kind, completed_at } = told;
  if (amount_cents === null || differenceOf(payment, told) !== null) return false;
  if (reference !== null) return true;
  return account !== null && is_of_kind === true && isInTime(payment, completed_at);
}

/** Tells whether money that moved at a time may be the payment's. */
function isInTime(payment: AnyPayment, at: Date | null): boolean {
  const { since, until } = whenMoved(payment);
  return at !== null && since < at && at < until;
}

function isOwn({ reference, external_ref }: AnyPayment, told: string): boolean {
  return told === reference || told === external_ref;
}
