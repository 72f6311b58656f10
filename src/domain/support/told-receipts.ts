import { type Database, rows, type Transaction } from '../../connections/database.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../errors.ts';
import type { CallbackNews, ParserOf } from '../gateway-results.ts';
import type { AnyPayment, PaymentRef } from '../payments/payment-store.ts';
import { IS_GIVEN, LINE_KINDS, PAYMENTS_OF_LINES } from '../reconciliation/statement.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { HAS_GONE_BACK } from '../settlement/gone-back.ts';
import { isSameDirection } from '../settlement/receipts.ts';
import { UNSURE_SOURCES } from '../settlement/sources.ts';

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

/** Tells whether the gateway itself says it. */
export function isSure({ told_by }: ToldReceipt): boolean {
  return !UNSURE_SOURCES.includes(told_by);
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

/** The gateway has told the receipt for another payment than the one that is asked about. */
export const TOLD_FOR_ANOTHER: readonly DiscrepancyKind[] = [
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
