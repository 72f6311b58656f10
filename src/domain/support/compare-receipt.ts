import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import { HAS_COME_BACK, IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import { OperatorRefusal } from '../errors.ts';
import type { CallbackNews, GatewayPaymentKind, ParserOf } from '../gateway-results.ts';
import { kes } from '../money.ts';
import { type AnyPayment, accountOf, type PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { whenMoved } from '../reconciliation/candidates.ts';
import { hasRival, isDecided } from '../reconciliation/rivals.ts';
import { IS_GIVEN, LINE_KINDS, PAYMENTS_OF_LINES } from '../reconciliation/statement.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { HAS_GONE_BACK } from '../settlement/gone-back.ts';
import { isSameDirection } from '../settlement/receipts.ts';
import { isSameAccount, sameAccount } from '../settlement/same-account.ts';
import { ARE_LIKENESSES, HAS_UNSURE_RECEIPT, UNSURE_SOURCES } from '../settlement/sources.ts';

/** What something other than the person says of a receipt. What it does not say is null. */
export interface ToldReceipt {
  amount_cents: number | null;
  account: string | null;
  /** Our reference, or the gateway's. */
  reference: string | null;
  /** Whether it is about a payment of this kind. */
  is_of_kind: boolean | null;
  completed_at: Date | null;
  /** As a movement keeps it: `poll` for the gateway's answer. */
  told_by: string;
}

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

/** Tells whether the gateway itself says it. */
export function isSure({ told_by }: ToldReceipt): boolean {
  return !UNSURE_SOURCES.includes(told_by);
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
     WHERE ${IS_UNKNOWN} AND NOT ${HAS_COME_BACK} AND gateway = :gateway AND trans_id = :trans_id AND resolved_at IS NULL
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

/**
 * Reads what statements and the gateway's answer tell of a receipt, but no file of the decider.
 * @throws OperatorRefusal when the gateway has named it for another payment, or does not know it
 */
export async function toldOf(
  database: Database | Transaction,
  payment: AnyPayment,
  receipt: string,
  parserOf: ParserOf,
  decider: string | null,
  kinds: readonly DiscrepancyKind[] = [...TOLD_FOR_ANOTHER, 'other_payment'],
): Promise<ToldReceipt[]> {
  await refuseToldOfAnother(database, payment, receipt, kinds);
  const line_kinds = LINE_KINDS.filter((each) => PAYMENTS_OF_LINES[each].includes(payment.kind));
  const lines = await rows<ToldReceipt>(
    database,
    // A file may list a return as a payout. Such a line refuses nothing, and proves nothing.
    `SELECT l.amount_cents, l.account, l.reference, l.completed_at,
       CASE WHEN l.kind = ANY (:line_kinds) THEN true END AS is_of_kind,
       CASE WHEN ${IS_GIVEN} THEN 'statement' ELSE 'file' END AS told_by
     FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND l.trans_id = :receipt
       AND NOT l.undecided AND ${isSameDirection('l.kind', ':kind')}
       AND coalesce(i.brought_by <> :decider, true)
     ORDER BY told_by DESC LIMIT ${MAX_LINES}`,
    { gateway: payment.gateway, kind: payment.kind, receipt, decider, line_kinds },
  );
  return [...lines, ...(await answersAbout(database, payment, receipt, parserOf))];
}

/**
 * Reads what the gateway has answered to the newest question about a receipt that it has answered, whichever payment
 * of the kind somebody has meant it for. A
 * later question without an answer, or with one that says nothing, hides no earlier answer.
 * @throws OperatorRefusal when the gateway does not know the receipt
 */
async function answersAbout(
  database: Database | Transaction,
  payment: AnyPayment,
  receipt: string,
  parserOf: ParserOf,
): Promise<ToldReceipt[]> {
  const { external_ref } = payment;
  const stored = await rows<{ body: string; asked_at: Date | null }>(
    database,
    `SELECT body, asked_at FROM callbacks
     WHERE receipt = :receipt AND gateway = :gateway AND payment_kind = :kind
       AND status <> 'rejected' ORDER BY asked_at DESC`,
    { ...payment, receipt },
  );
  const answers = stored.flatMap(({ body, asked_at }) => {
    const news = newsAbout(payment, receipt, body, parserOf);
    return news ? [{ ...news, asked_at }] : [];
  });
  const newest = answers[0]?.asked_at?.getTime();
  const latest = answers.filter(({ asked_at }) => asked_at?.getTime() === newest);
  return latest.map((news): ToldReceipt => {
    if (!news.told) {
      throw new OperatorRefusal(
        `The gateway has no completed transaction with the receipt ${receipt}: look for the right one`,
      );
    }
    const { amountCents: amount_cents, account, reference, externalRef } = news.told;
    const { isOfKind: is_of_kind, completedAt: completed_at } = news.told;
    // Without our acknowledgement nobody knows whether the gateway's reference is the payment's.
    const theirs = external_ref === null ? null : externalRef;
    const told = { amount_cents, account, reference: reference ?? theirs, is_of_kind };
    return { ...told, completed_at, told_by: 'poll' };
  });
}

/** Reads an answer about a receipt. Null: it says nothing about it, or cannot be read. */
function newsAbout(
  { gateway, kind }: AnyPayment,
  receipt: string,
  body: string,
  parserOf: ParserOf,
): Extract<CallbackNews, { outcome: 'receipt' }> | null {
  const parse = parserOf(gateway);
  try {
    const news = parse(body, { address: 'receipt', kind })?.verdict;
    const isAbout =
      news?.outcome === 'receipt' &&
      (news.transId ?? receipt).toUpperCase() === receipt.toUpperCase();
    return isAbout ? news : null;
  } catch {
    return null;
  }
}

/** Statements of several days may list a receipt. */
const MAX_LINES = 20;

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

/** The gateway has told the receipt for another payment than the one that is asked about. */
const TOLD_FOR_ANOTHER: readonly DiscrepancyKind[] = [
  'receipt_of_another',
  'unconfirmed_success',
  'unknown_payment',
];

/**
 * The gateway has named the receipt for another payment, and nobody has decided about that, or its money has gone back. A payment that a restored
 * database did not have may have come again under the same reference.
 */
async function refuseToldOfAnother(
  database: Database | Transaction,
  { kind, gateway, id, reference, external_ref }: AnyPayment,
  receipt: string,
  kinds: readonly DiscrepancyKind[],
): Promise<void> {
  const [other] = await rows<PaymentRef>(
    database,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM discrepancies
     WHERE resolved_at IS NULL AND gateway = :gateway AND trans_id = :receipt
       AND payment_id <> :id AND ${isSameDirection('payment_kind', ':kind')}
       AND kind = ANY (:kinds) AND NOT (kind = 'unknown_payment'
         AND coalesce(details->>'reference' = ANY (:references), false))
     UNION ALL SELECT payment_kind, merchant_id, payment_id FROM movements m
     WHERE gateway = :gateway AND trans_id = :receipt AND payment_id <> :id
       AND ${isSameDirection('payment_kind', ':kind')} AND ${HAS_GONE_BACK}
     LIMIT 1`,
    { gateway, receipt, kind, id, kinds, references: [reference, external_ref] },
  );
  if (!other) return;
  throw new OperatorRefusal(`The gateway has named the receipt ${receipt} for ${nameOf(other)}`);
}
