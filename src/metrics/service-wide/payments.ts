import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../../domain/gateway-results.ts';
import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { Reading, Source } from '../scraped-gauges.ts';
import { COUNT_LIMIT, reading, secondsSince } from './reading-transaction.ts';

/** The payments that have not ended. Those that have are never counted: there are too many. */
export function paymentsSource(database: Database): Source {
  return {
    name: 'payments',
    gauges: [
      {
        name: 'malipo_payments_open',
        help: 'Payments that have not ended, by kind and state',
        labels: ['kind', 'state'],
      },
      {
        name: 'malipo_payments_oldest_open_seconds',
        help: 'Age of the oldest payment that has not ended, by kind',
        labels: ['kind'],
      },
      {
        name: 'malipo_payments_overdue',
        help: 'Payments that have not ended by their deadline, by kind',
        labels: ['kind'],
      },
      {
        name: 'malipo_payments_parked',
        help: 'Payments that wait for a person, by kind',
        labels: ['kind'],
      },
    ],
    read: () =>
      reading(database, async (trx) => {
        const readings: Reading[] = [];
        for (const kind of PAYMENT_KINDS) readings.push(...(await readKind(trx, kind)));
        return readings;
      }),
  };
}

interface Row {
  pending: number;
  processing: number;
  overdue: number;
  oldest_seconds: number;
  parked: number;
}

/** Both parts go along an index that holds nothing else; ordered, so that no other is taken. */
async function readKind(trx: Transaction, kind: GatewayPaymentKind): Promise<Reading[]> {
  const { table } = STEP_TABLES[kind];
  const row = await firstRow<Row>(
    trx,
    `SELECT * FROM (
       SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
         count(*) FILTER (WHERE status = 'processing') AS processing,
         count(*) FILTER (WHERE deadline_at < now()) AS overdue,
         ${secondsSince('min(created_at)')} AS oldest_seconds
       FROM (
         SELECT status, deadline_at, created_at FROM ${table}
         WHERE status IN ('pending', 'processing') ORDER BY deadline_at LIMIT :limit
       ) open
     ) opened CROSS JOIN (
       SELECT count(*) AS parked FROM (
         SELECT 1 FROM ${table} WHERE parked_reason IS NOT NULL ORDER BY created_at LIMIT :limit
       ) parked
     ) waiting`,
    { limit: COUNT_LIMIT },
  );
  const { pending, processing, overdue, oldest_seconds, parked } = row!;
  return [
    { name: 'malipo_payments_open', labels: { kind, state: 'pending' }, value: pending },
    { name: 'malipo_payments_open', labels: { kind, state: 'processing' }, value: processing },
    { name: 'malipo_payments_oldest_open_seconds', labels: { kind }, value: oldest_seconds },
    { name: 'malipo_payments_overdue', labels: { kind }, value: overdue },
    { name: 'malipo_payments_parked', labels: { kind }, value: parked },
  ];
}
