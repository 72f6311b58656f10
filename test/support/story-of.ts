import { type Database, firstRow } from '../../src/connections/database.ts';
import { OF_PAYMENT, type PaymentRef } from '../../src/domain/payments/payment-store.ts';

/** SQL: the rows of a payment in another table, as JSON. */
const rowsOf = (table: string, columns: string, where = OF_PAYMENT) =>
  `(SELECT json_agg(to_jsonb(r)) FROM (SELECT ${columns} FROM ${table} WHERE ${where}) r) AS ${table}`;

/** Returns all that the service knows of a payment, for the message of a test that fails. */
export async function storyOf(database: Database, ref: PaymentRef): Promise<string> {
  const story = await firstRow(
    database,
    `SELECT to_jsonb(p) AS payment, now(),
       ${rowsOf('payment_history', 'to_status, cause, happened_at')},
       ${rowsOf('attempts', '*')},
       ${rowsOf('callbacks', 'address, status, problem, outcome, next_step, next_step_at, received_at')},
       ${rowsOf('movements', '*')},
       ${rowsOf('discrepancies', 'kind, trans_id, details, opened_at, resolved_at, resolution')},
       ${rowsOf('outbox', '*', 'row_id = :id')}
     FROM ${ref.kind}s p WHERE merchant_id = :merchant_id AND id = :id`,
    { ...ref },
  );
  return JSON.stringify(story, null, 2);
}
