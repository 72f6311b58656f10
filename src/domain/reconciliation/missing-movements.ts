import {
  type Database,
  firstRow,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { LACKED_BY_FILE } from '../discrepancies/supersede.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { type AnyPayment, findPayment, type PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { questionReceipt } from '../settlement/contrary-news.ts';
import { isSameDirection } from '../settlement/receipts.ts';
import { ARE_UNSURE, MOVED_AT } from '../settlement/sources.ts';
import { PAID_WITHIN } from './candidates.ts';
import { mayBeAccount } from './rule-out.ts';
import {
  IS_GIVEN,
  IS_OF_TWO,
  isGiven,
  LINE_KINDS,
  LISTED_UNTIL,
  PAYMENTS_OF_LINES,
  type StatementScope,
} from './statement.ts';

/** A movement that is booked here and missing in the statement. */
export interface MissingMovement {
  kind: GatewayPaymentKind;
  merchant_id: number;
  payment_id: string;
  reference: string;
  trans_id: string | null;
  amount_cents: number;
}

/** Opens a discrepancy for each movement that the statement should list and does not. */
export async function reportMissing(
  database: Database,
  scope: StatementScope,
): Promise<MissingMovement[]> {
  const missing: MissingMovement[] = [];
  const is_given = await isGiven(database, scope);
  for (const kind of scope.kinds) {
    for (const movement of await findUnlisted(database, kind, scope)) {
      if (await wasListed(database, { ...scope, is_given }, movement)) continue;
      await inTransaction(database, (trx) => report(trx, scope, movement));
      missing.push(movement);
    }
  }
  return missing;
}

/**
 * Opens at once the question that the comparison of a stored statement would open about a payment
 * without a receipt, because somebody has decided that a receipt is not the payment's. The gateway's
 * own statement counts before a file, and a later one before an earlier one. Lock the payment first.
 */
export async function reportWithoutReceipt(trx: Transaction, payment: AnyPayment): Promise<void> {
  const { kind, merchant_id, id: payment_id } = payment;
  const line_kind = LINE_KINDS.find((each) => PAYMENTS_OF_LINES[each].includes(kind));
  const bindings = { ...payment, line_kind };
  const statement = await firstRow<Omit<StatementScope, 'kinds'>>(trx, COMPARED, bindings);
  if (!statement) return;
  const scope = { ...statement, kinds: [kind] };
  const only = { payment: { merchant_id, payment_id } };
  const [movement] = await findUnlisted(trx, kind, scope, only);
  if (movement) await report(trx, scope, movement);
}

/** SQL: the compared statement that should list the payment's own movement, if that has no receipt. */
const COMPARED = `
  SELECT i.id AS import_id, i.gateway, i.channel, listed.start, listed.until AS end
  FROM movements m JOIN statement_imports i ON i.gateway = m.gateway
    AND i.started_at IS NOT NULL AND i.channel = :channel AND :line_kind = ANY (i.covers)
  CROSS JOIN LATERAL (
    SELECT CAST(i.period_from AS timestamp) AT TIME ZONE 'UTC' AS start, ${LISTED_UNTIL} AS until) listed
  WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind AND m.payment_id = :id
    AND m.booked = 'settled' AND m.trans_id IS NULL
    AND ${MOVED_AT} >= listed.start AND ${MOVED_AT} < listed.until
  ORDER BY ${IS_GIVEN} DESC, i.started_at DESC LIMIT 1`;

/** Opens the question about a missing movement. */
async function report(
  trx: Transaction,
  scope: StatementScope,
  movement: MissingMovement,
): Promise<void> {
  const rival = await rivalOf(trx, scope, movement);
  if (rival) return questionRival(trx, scope, movement, rival);
  const { kind, merchant_id, payment_id, trans_id, amount_cents } = movement;
  const is_given = await isGiven(trx, scope);
  await openDiscrepancy(trx, {
    kind: 'missing_at_gateway',
    payment: { kind, merchant_id, id: payment_id },
    trans_id,
    amount_cents,
    // Without the period, so that the same finding in another statement opens no second discrepancy.
    details: is_given ? {} : LACKED_BY_FILE,
    isSame: ({ details }) => !is_given || !isLackedByFile(details),
  });
}

function isLackedByFile({ lacked_by }: Record<string, unknown>): boolean {
  return lacked_by === LACKED_BY_FILE.lacked_by;
}

/** A payment that may have the receipt of another one. */
type Rival = PaymentRef & { receipt: string; account: string | null };

/**
 * Finds a payment that support, or a file, has given a receipt whose line may be that of a movement
 * without a receipt. Then the other payment may be the one that was never made. A line that names a
 * payment leaves no such doubt about a file's word: the file names it too.
 */
function rivalOf(
  trx: Transaction,
  { gateway, import_id }: StatementScope,
  { kind, merchant_id, payment_id, trans_id, amount_cents }: MissingMovement,
): Promise<Rival | undefined> {
  return firstRow<Rival>(
    trx,
    `SELECT o.payment_kind AS kind, o.merchant_id, o.payment_id AS id, o.trans_id AS receipt,
       l.account
     FROM statement_lines l JOIN movements o ON o.trans_id = l.trans_id AND o.gateway = :gateway
       AND o.payment_kind = :kind AND o.booked = 'settled'
         AND o.told_by IN ${ARE_UNSURE} AND (o.told_by = 'support' OR l.reference IS NULL)
     JOIN ${STEP_TABLES[kind].table} p ON p.merchant_id = :merchant_id AND p.id = :payment_id
     WHERE l.import_id = :import_id AND NOT l.undecided AND l.amount_cents = :amount_cents
       AND CAST(:trans_id AS text) IS NULL
       AND ${isSameDirection('l.kind', ':kind')}
       AND ${mayBeAccount('l.account', `p.${ACCOUNT_COLUMNS[kind]}`)}
       AND NOT ${isDecided('p.merchant_id', 'p.id', 'o.trans_id')}
     ORDER BY o.id LIMIT 1`,
    { gateway, import_id, kind, merchant_id, payment_id, trans_id, amount_cents },
  );
}

function questionRival(
  trx: Transaction,
  { gateway }: StatementScope,
  { kind, merchant_id, payment_id: id, amount_cents: amountCents }: MissingMovement,
  { receipt, account, ...owner }: Rival,
): Promise<void> {
  const payment = { kind, merchant_id, id, gateway };
  return questionReceipt(trx, { payment, owner, receipt, told: { amountCents, account } });
}

/** SQL: somebody has decided that a receipt is not the payment's. */
function isDecided(merchantId: string, paymentId: string, receipt: string): string {
  return `EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = ${merchantId}
    AND d.payment_kind = :kind AND d.payment_id = ${paymentId} AND d.trans_id = ${receipt}
    AND d.kind = 'receipt_of_another' AND d.resolution = 'dismissed')`;
}

/** SQL: a collection was given back, and its row is not called completed any more. */
const IS_CALLED_REVERSED = `(EXISTS (SELECT FROM reversals r WHERE r.merchant_id = m.merchant_id
    AND r.collection_id = m.payment_id AND r.status = 'completed')
  AND EXISTS (SELECT FROM statement_lines l WHERE l.import_id = :import_id AND l.undecided
    AND l.trans_id = m.trans_id AND ${isSameDirection('l.kind', 'm.payment_kind')}))`;

/** Finds the movements of a kind, or of one payment, that the statement should list and does not. */
export async function findUnlisted(
  database: Database | Transaction,
  kind: GatewayPaymentKind,
  scope: StatementScope,
  {
    limit = null,
    payment,
  }: { limit?: number | null; payment?: Pick<MissingMovement, 'merchant_id' | 'payment_id'> } = {},
): Promise<MissingMovement[]> {
  return rows<MissingMovement>(
    database,
    `SELECT m.payment_kind AS kind, m.merchant_id, m.payment_id, p.reference,
       m.trans_id, m.amount_cents
     FROM movements m JOIN ${STEP_TABLES[kind].table} p
       ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
     WHERE m.payment_kind = :kind AND m.gateway = :gateway AND p.channel = :channel
       ${payment ? 'AND m.merchant_id = :merchant_id AND m.payment_id = :payment_id' : ''}
       -- Support has found already that it did not happen.
       AND m.booked NOT IN ('undoing', 'undone')
       AND ${MOVED_AT} >= :start AND ${MOVED_AT} < :end
       AND NOT EXISTS (
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND NOT l.undecided AND l.trans_id = m.trans_id
           AND ${isSameDirection('l.kind', 'm.payment_kind')}
         UNION ALL
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND NOT l.undecided
           AND l.reference IN (CAST(p.reference AS text), p.external_ref)
           AND (m.trans_id IS NULL OR l.trans_id IS NULL)
         -- A file may call a bank's receipts references, and a bank may write small letters.
         UNION ALL
         SELECT FROM statement_lines l
         WHERE l.import_id = :import_id AND NOT l.undecided AND l.trans_id IS NULL
           AND l.reference IN (m.trans_id, lower(m.trans_id)) AND l.amount_cents = m.amount_cents
           AND ${isSameDirection('l.kind', 'm.payment_kind')}
           AND ${mayBeAccount('l.account', `coalesce(m.account, p.${ACCOUNT_COLUMNS[kind]})`)})
       ${kind === 'collection' ? `AND NOT ${IS_CALLED_REVERSED}` : ''}
       -- Somebody must say first whose receipt a line has. Then every other payment is without one.
       AND NOT (m.trans_id IS NULL AND EXISTS (
         SELECT FROM discrepancies d WHERE d.merchant_id = m.merchant_id
           AND d.payment_kind = :kind AND d.payment_id = m.payment_id
           AND d.kind = 'receipt_of_another' AND d.resolved_at IS NULL
         UNION ALL
         SELECT FROM statement_lines l WHERE l.import_id = :import_id
           AND l.result = 'contradicts' AND l.amount_cents = m.amount_cents
           AND l.completed_at > p.created_at - :after_minutes * interval '1 minute'
           AND l.completed_at < m.learned_at + :before_minutes * interval '1 minute'
           AND ${isSameDirection('l.kind', 'm.payment_kind')}
           AND ${mayBeAccount('l.account', `p.${ACCOUNT_COLUMNS[kind]}`)}
           AND NOT ${isDecided('m.merchant_id', 'm.payment_id', 'l.trans_id')}
           AND EXISTS (SELECT FROM discrepancies d WHERE d.gateway = :gateway
             AND d.trans_id = coalesce(l.trans_id, l.reference) AND d.resolved_at IS NULL)))
     LIMIT CAST(:limit AS bigint)`,
    { ...scope, ...PAID_WITHIN, ...payment, kind, limit },
  );
}

/**
 * Looks for the receipt in other statements of this gateway, or for a reference where neither side has a receipt: clocks
 * differ around midnight. No file answers what a statement lacks that the gateway has given, nor does the file of one
 * person. No other one answers where this statement has the receipt and does not call it completed.
 */
async function wasListed(
  database: Database,
  { import_id, gateway, is_given }: StatementScope & { is_given: boolean },
  { kind, merchant_id, payment_id, trans_id }: MissingMovement,
): Promise<boolean> {
  const payment = await findPayment(database, { kind, merchant_id, id: payment_id });
  const { reference, external_ref } = payment!;
  return hasRow(
    database,
    `SELECT 1 FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
     WHERE i.gateway = :gateway AND i.started_at IS NOT NULL AND ${IS_OF_TWO}
       AND (:trans_id IN (l.trans_id, CASE WHEN l.trans_id IS NULL AND l.result = 'matched' THEN upper(l.reference) END)
         OR CAST(:trans_id AS text) IS NULL AND l.trans_id IS NULL
         AND l.import_id <> :import_id AND l.result IN ('matched', 'settled')
         AND l.reference IN (CAST(:reference AS text), :external_ref))
       AND NOT l.undecided AND ${isSameDirection('l.kind', ':kind')}
       AND (${IS_GIVEN} OR NOT :is_given)
       AND NOT EXISTS (SELECT FROM statement_lines l WHERE l.import_id = :import_id
         AND l.trans_id = :trans_id AND ${isSameDirection('l.kind', ':kind')})
     LIMIT 1`,
    { import_id, gateway, trans_id, kind, is_given, reference, external_ref },
  );
}
