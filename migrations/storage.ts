/**
 * Storage settings of tables. With PostgreSQL's defaults a table is vacuumed once a fifth of it
 * has changed: with a hundred million rows, that is twenty million dead rows in the way of every
 * query.
 */

/** For tables whose rows change several times, or are deleted within days. */
export const UPDATED_OFTEN =
  'autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02';

/** For tables that only grow. Vacuumed early, so that an index alone can answer a query. */
export const APPENDED = 'autovacuum_vacuum_insert_scale_factor = 0.05';

/**
 * For tables with few rows, each changed by every payment of its merchant. The free half of a
 * page lets a changed row stay in its page, where the next query can remove the dead versions.
 */
export const HOT_ROWS = `autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
      autovacuum_vacuum_cost_delay = 0, fillfactor = 50`;
