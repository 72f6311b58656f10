import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { IS_GIVEN } from '../reconciliation/statement.ts';
import { isSameAccount, sameAccount } from '../settlement/same-account.ts';
import { type Finding, openDiscrepancy } from './discrepancy.ts';
import type { ToldMovement } from './unknown-money.ts';

/** A line of a statement that no payment explains. */
interface UnknownLine {
  kind: string;
  reference: string | null;
  account: string | null;
  trans_id: string | null;
  amount_cents: number;
  completed_at: Date;
  /** It brings back money that had gone out. */
  has_come_back?: boolean;
}

/** The gateway's own statement lists a line, or a file that somebody has brought. */
type Teller = 'statement' | 'file';

/**
 * Puts the money of a line on the support list. Another statement may list the same money in another form.
 * @param candidates are the names of the payments that it may be of
 */
export async function openUnknown(
  trx: Transaction,
  { gateway, by }: { gateway: string; by: Teller },
  line: UnknownLine,
  candidates: string[] = [],
): Promise<void> {
  const { kind, reference, account, trans_id, amount_cents, completed_at } = line;
  const { has_come_back = false } = line;
  const fits = candidates.length > 0 ? { candidates } : {};
  const isNew = await openDiscrepancy(trx, {
    kind: 'unknown_movement',
    gateway,
    payment: null,
    // Without a receipt, the reference tells it from others.
    trans_id: trans_id ?? reference,
    amount_cents,
    details: {
      kind,
      reference,
      account,
      completed_at: completed_at.toISOString(),
      ...(has_come_back && { has_come_back }),
      ...fits,
    },
    told: { by, at: null },
    isSame: (known) => isSameMoney(known, line),
  });
  if (isNew) return;
  // The same money. Other payments may fit it by now, this statement may show its whole account, and a file may have
  // told it before the gateway did.
  await rows(
    trx,
    `UPDATE discrepancies SET
       details = ${KEEPING_ACCOUNT('details', 'amount_cents')} - 'candidates' || CAST(:fits AS jsonb),
       evidence = (SELECT jsonb_agg(jsonb_set(e, '{details}',
         ${KEEPING_ACCOUNT("e->'details'", "CAST(e->>'amount_cents' AS bigint)")})
         || CASE WHEN :by = 'statement' AND CAST(e->>'amount_cents' AS bigint) = :amount_cents
           THEN jsonb_build_object('told_by', CAST(:by AS text)) ELSE '{}' END ORDER BY place)
         FROM jsonb_array_elements(evidence) WITH ORDINALITY AS found (e, place))
     WHERE kind = 'unknown_movement' AND gateway = :gateway AND trans_id = :name
       AND details->>'kind' = :kind AND resolved_at IS NULL`,
    { ...line, fits: JSON.stringify(fits), gateway, by, name: trans_id ?? reference },
  );
}

/**
 * Tells whether a known finding and a line are about the same money. Statements of one gateway write a line in different
 * forms: with the phone, with some of its digits, or without it, and by another clock. A receipt stands for one
 * transaction. Without one, each time may be another movement.
 */
function isSameMoney({ amount_cents, details }: Finding, line: UnknownLine): boolean {
  const { kind, reference, account, completed_at } = details as unknown as KnownLine;
  const isSameTime = completed_at === line.completed_at.toISOString();
  return (
    amount_cents === line.amount_cents &&
    kind === line.kind &&
    reference === line.reference &&
    (account === null || line.account === null || isSameAccount(account, line.account)) &&
    (line.trans_id !== null || isSameTime)
  );
}

/** The details of a finding about a line. */
interface KnownLine extends Pick<UnknownLine, 'kind' | 'reference' | 'account'> {
  /** ISO 8601. */
  completed_at: string;
}

/** SQL: the details of the same money, with the account of the line if that shows more of it. */
const KEEPING_ACCOUNT = (details: string, amount_cents: string) => {
  const account = `${details}->>'account'`;
  return `CASE WHEN ${amount_cents} = :amount_cents AND position('*' IN :account) = 0
      AND (${account} IS NULL OR ${account} LIKE '%*%' AND ${sameAccount(account, ':account')})
    THEN jsonb_set(${details}, '{account}', to_jsonb(CAST(:account AS text))) ELSE ${details} END`;
};

/**
 * Puts the money of a line without a reference on the support list, because it belongs to no payment any more. Does
 * nothing if no statement has such a line.
 */
export async function openListed(
  trx: Transaction,
  gateway: string,
  kind: GatewayPaymentKind,
  receipt: string,
): Promise<void> {
  const line = await firstRow<UnknownLine & { by: Teller }>(
    trx,
    `SELECT l.*, CASE WHEN ${IS_GIVEN} THEN 'statement' ELSE 'file' END AS by
     FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND l.trans_id = :receipt AND l.kind = :kind
       AND l.reference IS NULL AND NOT l.undecided
     ORDER BY i.id DESC LIMIT 1`,
    { gateway, receipt, kind },
  );
  if (line) await openUnknown(trx, { gateway, by: line.by }, line);
}

/**
 * Tells whether a callback has told of this movement, with its amount, and named its merchant. It names the same
 * reference. A line without one has the same receipt.
 */
export function isOfUnknownPayment(
  trx: Transaction,
  movement: ToldMovement & Pick<UnknownLine, 'kind' | 'account'>,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies, jsonb_array_elements(evidence) AS e
     WHERE kind = 'unknown_payment' AND gateway = :gateway
       AND e->'details'->>'outcome' = 'succeeded'
       AND CAST(e->>'amount_cents' AS bigint) = :amount_cents
       AND (details->>'reference' = :reference
           -- Of a callback without a receipt, each receipt of a statement is a question.
           AND (CAST(:trans_id AS text) IS NULL OR trans_id = :trans_id)
         OR CAST(:reference AS text) IS NULL AND trans_id = :trans_id
           AND (payment_kind = 'collection') = (CAST(:kind AS text) = 'collection')
           AND coalesce(${sameAccount("e->'details'->>'account'", ':account')}, true))`,
    movement,
  );
}
