import { firstRow, rows, type Transaction } from '../../../connections/database.ts';
import { formatAmount } from '../../money.ts';
import type { Finding } from './breaks.ts';

/** Checks what is in flight against the payouts that it belongs to. */
export async function checkInFlight(
  trx: Transaction,
  merchantId: number,
  report: (finding: Finding) => void,
): Promise<void> {
  const sums = await firstRow<Sums>(
    trx,
    `SELECT
       (SELECT CAST(coalesce(sum(amount_cents + fee_cents), 0) AS bigint) FROM payouts
        WHERE merchant_id = :merchant_id AND status <> 'completed' AND refund_posted_at IS NULL)
         AS expected_cents,
       (SELECT CAST(coalesce(sum(amount_cents), 0) AS bigint) FROM entries
        WHERE merchant_id = :merchant_id AND account = 'payouts_in_flight') AS found_cents`,
    { merchant_id: merchantId },
  );
  compareSums('in_flight_sum', 'payouts_in_flight', sums!, report);
}

/** Checks what is in suspense against the movements that wait there. */
export async function checkSuspense(
  trx: Transaction,
  merchantId: number,
  report: (finding: Finding) => void,
): Promise<void> {
  const sums = await firstRow<Sums>(
    trx,
    `SELECT
       (SELECT CAST(coalesce(sum(
          CASE payment_kind WHEN 'collection' THEN amount_cents ELSE -amount_cents END), 0) AS bigint)
        FROM (${WAITING}) waiting) AS expected_cents,
       (SELECT CAST(coalesce(sum(amount_cents), 0) AS bigint) FROM entries
        WHERE merchant_id = :merchant_id AND account = 'suspense') AS found_cents`,
    { merchant_id: merchantId },
  );
  compareSums('suspense_sum', 'suspense', sums!, report);
  for (const movement of await unattended(trx, merchantId)) {
    report({
      kind: 'suspense_unattended',
      subject: 'movement',
      id: movement.id,
      expected: 'an open discrepancy, or a return under way',
      found: `${formatAmount(movement.amount_cents)} of ${movement.payment_kind} ${movement.payment_id}`,
    });
  }
}

/** Money that went back is still noted as having been in suspense: its return says where it is. */
const WAITING = `
  SELECT m.id, m.payment_kind, m.payment_id, m.amount_cents,
    r.id AS return_id, r.status AS return_status
  FROM movements m LEFT JOIN returns r ON r.merchant_id = m.merchant_id AND r.movement_id = m.id
  WHERE m.merchant_id = :merchant_id AND m.booked = 'suspense'
    AND r.status IS DISTINCT FROM 'completed'`;

/** More is a catastrophe that needs no longer list. */
const MAX_UNATTENDED = 1_000;

interface Waiting {
  id: string;
  payment_kind: string;
  payment_id: string;
  amount_cents: number;
}

function unattended(trx: Transaction, merchantId: number): Promise<Waiting[]> {
  return rows<Waiting>(
    trx,
    `WITH attended AS MATERIALIZED (
       SELECT movement_id, payment_kind, payment_id FROM discrepancies
       WHERE merchant_id = :merchant_id AND resolved_at IS NULL
     )
     SELECT id, payment_kind, payment_id, amount_cents FROM (${WAITING}) waiting
     -- A return that failed has left the decision to support.
     WHERE coalesce(return_status NOT IN ('pending', 'processing'), true)
       AND NOT EXISTS (SELECT FROM attended a WHERE a.movement_id = waiting.id)
       AND NOT EXISTS (SELECT FROM attended a
         WHERE a.payment_kind = 'return' AND a.payment_id = waiting.return_id)
       AND NOT EXISTS (SELECT FROM attended a
         WHERE a.payment_kind = waiting.payment_kind AND a.payment_id = waiting.payment_id)
     ORDER BY id LIMIT ${MAX_UNATTENDED}`,
    { merchant_id: merchantId },
  );
}

interface Sums {
  expected_cents: number;
  found_cents: number;
}

function compareSums(
  kind: 'in_flight_sum' | 'suspense_sum',
  account: string,
  { expected_cents, found_cents }: Sums,
  report: (finding: Finding) => void,
): void {
  if (expected_cents === found_cents) return;
  const [expected, found] = [formatAmount(expected_cents), formatAmount(found_cents)];
  report({ kind, subject: 'account', id: account, expected, found });
}
