import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** What every late success and every line that nothing explains looks up; most often empty. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'audit_log_restore_marks',
    `audit_log (happened_at) WHERE action = 'restore.mark'`,
  );
  await buildIndex(
    knex,
    'discrepancies_of_unknown_payments',
    `discrepancies (payment_id) WHERE kind = 'unknown_payment'`,
  );
}
