import { type Database, firstRow } from '../../connections/database.ts';
import type { Source } from '../scraped-gauges.ts';
import { COUNT_LIMIT, reading, secondsSince } from './reading-transaction.ts';

/** What merchants have not been told yet. */
export function eventsSource(database: Database): Source {
  return {
    name: 'events',
    gauges: [
      {
        name: 'malipo_events_unnumbered',
        help: 'Settlement events without a number, and so without a delivery',
      },
      {
        name: 'malipo_events_oldest_unnumbered_seconds',
        help: 'Age of the oldest of them',
      },
      {
        name: 'malipo_webhook_deliveries',
        help: 'Deliveries not over: admitted; due, without room at their endpoint; for later',
        labels: ['state'],
      },
    ],
    read: async () => {
      const row = await reading(database, (trx) =>
        firstRow<Record<'unnumbered' | 'oldest' | 'due' | 'later' | 'admitted', number>>(trx, SQL, {
          limit: COUNT_LIMIT,
        }),
      );
      const { unnumbered, oldest, ...deliveries } = row!;
      return [
        { name: 'malipo_events_unnumbered', value: unnumbered },
        { name: 'malipo_events_oldest_unnumbered_seconds', value: oldest },
        ...Object.entries(deliveries).map(([state, value]) => ({
          name: 'malipo_webhook_deliveries',
          labels: { state },
          value,
        })),
      ];
    },
  };
}

const SQL = `
  SELECT * FROM (
    SELECT count(*) AS unnumbered, ${secondsSince('min(created_at)')} AS oldest
    FROM (SELECT created_at FROM events WHERE sequence IS NULL ORDER BY created_at, id LIMIT :limit) e
  ) events CROSS JOIN (
    SELECT count(*) FILTER (WHERE next_step_at <= now()) AS due,
      count(*) FILTER (WHERE next_step_at > now()) AS later
    FROM (
      SELECT next_step_at FROM webhook_deliveries
      WHERE next_step IS NOT NULL AND admitted_at IS NULL ORDER BY next_step_at LIMIT :limit
    ) d
  ) waiting CROSS JOIN (
    SELECT count(*) AS admitted
    FROM (
      SELECT 1 FROM webhook_deliveries WHERE next_step IS NOT NULL AND admitted_at IS NOT NULL
      ORDER BY merchant_id, endpoint LIMIT :limit
    ) d
  ) under_way`;
