import { type Database, rows } from '../../connections/database.ts';
import type { Source } from '../scraped-gauges.ts';
import { reading } from './reading-transaction.ts';

/** Whether the tables by month are ready for the months to come. */
export function partitionsSource(database: Database): Source {
  return {
    name: 'partitions',
    gauges: [
      {
        name: 'malipo_month_partitions_ahead',
        help: 'Months after this one for which a table has its partition, by table',
        labels: ['table'],
      },
    ],
    read: async () => {
      const found = await reading(database, (trx) =>
        rows<{ table: string; ahead: number }>(trx, SQL),
      );
      return found.map(({ table, ahead }) => ({
        name: 'malipo_month_partitions_ahead',
        labels: { table },
        value: ahead,
      }));
    },
  };
}

const SQL = `
  SELECT parent.relname AS table,
    count(*) FILTER (WHERE child.relname >
      parent.relname || to_char(now() AT TIME ZONE 'UTC', '"_"YYYY_MM')) AS ahead
  FROM pg_inherits
  JOIN pg_class parent ON parent.oid = inhparent AND parent.relkind = 'p'
  JOIN pg_class child ON child.oid = inhrelid
  WHERE child.relname ~ '_[0-9]{4}_[0-9]{2}$' AND pg_table_is_visible(parent.oid)
  GROUP BY parent.relname`;
