import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { OperatorRefusal } from '../errors.ts';
import { kes } from '../money.ts';
import { type AnyPayment, accountOf, type PaymentRef } from '../payments/payment-store.ts';
import { isSameDirection } from '../reconciliation/match-line.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { isSameAccount } from '../settlement/same-account.ts';

/** What something other than the person says of a receipt. What it does not say is null. */
export interface ToldReceipt {
  amount_cents: number | null;
  account: string | null;
  /** Our reference, or the gateway's. */
  reference: string | null;
}

/**
 * Compares a receipt that a person gives with the statements and the callbacks that are known here.
 * @param decider is the e-mail address of the member who decides: files of this member prove nothing
 * @returns whether one of them proves that it is the payment's
 * @throws OperatorRefusal when one of them says that it is not
 */
export async function compareReceipt(
  database: Database | Transaction,
  payment: AnyPayment,
  receipt: string,
  decider: string | null = null,
): Promise<boolean> {
  await refuseToldOfAnother(database, payment, receipt);
  const lines = await rows<ToldReceipt>(
    database,
    `SELECT l.amount_cents, l.account, l.reference
     FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND l.trans_id = :receipt
       AND NOT l.undecided AND ${isSameDirection('l.kind', ':kind')}
       AND coalesce(i.brought_by <> :decider, true)
     LIMIT ${MAX_LINES}`,
    { gateway: payment.gateway, kind: payment.kind, receipt, decider },
  );
  return lines.map((line) => isProof(payment, receipt, line)).includes(true);
}

/** Statements of several days may list a receipt. */
const MAX_LINES = 20;

/**
 * Tells whether what is told of a receipt proves that it is the payment's. An amount alone proves
 * nothing: many payments have the same.
 * @throws OperatorRefusal when it is that of another payment
 */
export function isProof(payment: AnyPayment, receipt: string, told: ToldReceipt): boolean {
  const { amount_cents, account, reference } = told;
  const refuse = (what: string): never => {
    throw new OperatorRefusal(
      `The gateway has the receipt ${receipt} with another ${what} than the ${payment.kind}: look for the right one`,
    );
  };
  if (amount_cents !== null && amount_cents !== payment.amount_cents) {
    refuse(`amount (${kes(amount_cents)})`);
  }
  if (account !== null && !isSameAccount(account, accountOf(payment))) refuse('phone or account');
  if (reference !== null && !isOwn(payment, reference)) refuse('reference');
  return amount_cents !== null && (account !== null || reference !== null);
}

function isOwn({ reference, external_ref }: AnyPayment, told: string): boolean {
  return told === reference || told === external_ref;
}

/** The gateway has named the receipt for another payment, and nobody has decided about that. */
async function refuseToldOfAnother(
  database: Database | Transaction,
  { kind, gateway, id }: AnyPayment,
  receipt: string,
): Promise<void> {
  const [other] = await rows<PaymentRef>(
    database,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM discrepancies
     WHERE resolved_at IS NULL AND gateway = :gateway AND trans_id = :receipt
       AND payment_id <> :id AND ${isSameDirection('payment_kind', ':kind')}
       AND kind IN ('receipt_of_another', 'other_payment', 'unconfirmed_success', 'unknown_payment')
     LIMIT 1`,
    { gateway, receipt, kind, id },
  );
  if (!other) return;
  throw new OperatorRefusal(`The gateway has named the receipt ${receipt} for ${nameOf(other)}`);
}
