import type { Knex } from 'knex';
import { buildIndex } from './concurrent-index.ts';

/** Concurrently built indexes allow no transaction. */
export const config = { transaction: false };

/** Finds the callbacks and webhooks that are parked, as those of payments do: there are few or none. */
export async function up(knex: Knex): Promise<void> {
  await buildIndex(
    knex,
    'callbacks_parked',
    'callbacks (received_at) WHERE parked_reason IS NOT NULL',
  );
  await buildIndex(
    knex,
    'webhook_deliveries_parked',
    'webhook_deliveries (event_id) WHERE parked_reason IS NOT NULL',
  );
}
