import { firstRow, hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { IS_GIVEN } from '../reconciliation/statement.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { type AskedLine, askAboutLine, type Teller } from './asked-line.ts';
import type { ToldMovement } from './unknown-money.ts';

/** A line of a statement that no payment explains. */
interface UnknownLine extends AskedLine {
  kind: string;
}

/**
 * Puts the money of a line on the support list.
 * @param candidates are the names of the payments that it may be of
 * @param hasTwin is true if a line beside it is known under its name
 */
export function openUnknown(
  trx: Transaction,
  teller: Teller,
  line: UnknownLine,
  candidates: string[] = [],
  hasTwin = false,
): Promise<void> {
  // Without a receipt, the reference tells it from others.
  const name = line.trans_id ?? line.reference;
  const question = { kind: 'unknown_movement', name, line, candidates } as const;
  return askAboutLine(trx, teller, { ...question, hasTwin, more: { kind: line.kind } });
}

/**
 * Puts the money of a line without a reference on the support list, because it belongs to no payment any more. Does
 * nothing if no statement that was compared has such a line. The gateway's own one comes first.
 */
export async function openListed(
  trx: Transaction,
  gateway: string,
  kind: GatewayPaymentKind,
  receipt: string,
): Promise<void> {
  const line = await firstRow<UnknownLine & Pick<Teller, 'by'>>(
    trx,
    `SELECT l.*, CASE WHEN ${IS_GIVEN} THEN 'statement' ELSE 'file' END AS by
     FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND l.trans_id = :receipt
       AND l.kind = :kind AND l.reference IS NULL AND NOT l.undecided
     ORDER BY ${IS_GIVEN} DESC, i.id DESC LIMIT 1`,
    { gateway, receipt, kind },
  );
  if (line) await openUnknown(trx, { gateway, by: line.by }, line);
}

/** A question asks about lines of this time before it. It no longer knows what was decided about older lines. */
const REST_OF = "interval '90 days'";

/**
 * Asks about the lines of a reference that no payment explains and that its question has not shown, because it had too
 * many: somebody has decided about the ones that it has shown, and maybe nobody compares their statement again.
 */
export async function openRest(
  trx: Transaction,
  gateway: string,
  { trans_id: reference, opened_at }: { trans_id: string | null; opened_at: Date },
): Promise<void> {
  const lines = await rows<UnknownLine & Pick<Teller, 'by'> & { has_twin: boolean }>(
    trx,
    `SELECT l.*, CASE WHEN ${IS_GIVEN} THEN 'statement' ELSE 'file' END AS by, EXISTS (SELECT FROM statement_lines other
       WHERE other.import_id = l.import_id AND other.line_no < l.line_no AND other.kind = l.kind
         AND other.reference = l.reference AND other.trans_id IS NULL AND other.amount_cents = l.amount_cents
         AND other.completed_at = l.completed_at AND NOT ${sameAccount('other.account', 'l.account')}) AS has_twin
     FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE l.reference = :reference AND l.trans_id IS NULL AND i.gateway = :gateway
       AND i.started_at > CAST(:opened_at AS timestamptz) - ${REST_OF}
       AND l.result IN ('unknown', 'contradicts') AND NOT l.undecided
     ORDER BY i.id, l.line_no`,
    { gateway, reference, opened_at },
  );
  for (const { by, has_twin, ...line } of lines)
    await openUnknown(trx, { gateway, by }, line, [], has_twin);
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
