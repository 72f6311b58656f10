import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { OF_PAYMENT, type PaymentRef } from '../payments/payment-store.ts';

/** A journal with its lines in cents. Positive is the merchant's gain. */
export interface JournalRow {
  id: string;
  source_kind: string;
  kind: string;
  created_at: Date;
  entries: { account: string; amount_cents: number }[];
}

/**
 * Reads the journals of a payment, oldest first: its own, those of its movements, and those of
 * the movements that its discrepancies are about.
 */
export function journalsOf(
  database: Database | Transaction,
  payment: PaymentRef,
): Promise<JournalRow[]> {
  return rows<JournalRow>(
    database,
    `WITH source AS (
       SELECT CAST(:kind AS text) AS kind, CAST(:id AS uuid) AS id
       UNION SELECT 'movement', id FROM movements WHERE ${OF_PAYMENT}
       UNION SELECT 'movement', movement_id FROM discrepancies
         WHERE ${OF_PAYMENT} AND movement_id IS NOT NULL
     )
     SELECT j.id, j.source_kind, j.kind, j.created_at,
       jsonb_agg(jsonb_build_object('account', e.account, 'amount_cents', e.amount_cents)
         ORDER BY e.line) AS entries
     FROM source s
     JOIN journals j ON j.merchant_id = :merchant_id AND j.source_kind = s.kind
       AND j.source_id = s.id
     JOIN entries e ON e.merchant_id = j.merchant_id AND e.journal_id = j.id
     GROUP BY j.merchant_id, j.id ORDER BY j.created_at, j.id`,
    payment,
  );
}

/** Reads the journals of several payments, oldest first. Two may share one, of a movement of both. */
export async function journalsOfAll(
  database: Database,
  payments: PaymentRef[],
): Promise<JournalRow[]> {
  const read = await Promise.all(payments.map((payment) => journalsOf(database, payment)));
  const byId = new Map(read.flat().map((journal) => [journal.id, journal]));
  return [...byId.values()].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ created_at, id }: JournalRow): string {
  return `${created_at.toISOString()} ${id}`;
}
