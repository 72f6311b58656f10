import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { PAYMENT_KINDS } from '../../domain/payments/payment-summary.ts';
import type { Reading, Source } from '../scraped-gauges.ts';
import { COUNT_LIMIT, reading, secondsSince } from './reading-transaction.ts';

/** What a person must decide, and the money that waits for it. */
export function openMattersSource(database: Database): Source {
  return {
    name: 'open matters',
    gauges: [
      {
        name: 'malipo_discrepancies_open',
        help: 'Discrepancies that nobody has resolved, by kind',
        labels: ['kind'],
      },
      {
        name: 'malipo_discrepancies_oldest_seconds',
        help: 'Age of the oldest of them, by kind',
        labels: ['kind'],
      },
      {
        name: 'malipo_suspense_cents',
        help: 'Money in suspense in cents, by the kind of payment that it moved for',
        labels: ['kind'],
      },
      {
        name: 'malipo_suspense_oldest_seconds',
        help: 'Since when the oldest of it waits, by kind',
        labels: ['kind'],
      },
    ],
    read: () =>
      reading(database, async (trx) => [
        ...(await readDiscrepancies(trx)),
        ...(await readSuspense(trx)),
      ]),
  };
}

interface Row {
  kind: string;
  amount: number;
  oldest: number;
}

async function readDiscrepancies(trx: Transaction): Promise<Reading[]> {
  const found = await rows<Row>(
    trx,
    `SELECT kind, count(*) AS amount, ${secondsSince('min(opened_at)')} AS oldest
     FROM (
       SELECT kind, opened_at FROM discrepancies
       WHERE resolved_at IS NULL ORDER BY opened_at LIMIT :limit
     ) open
     GROUP BY kind`,
    { limit: COUNT_LIMIT },
  );
  return found.flatMap(({ kind, amount, oldest }) => [
    { name: 'malipo_discrepancies_open', labels: { kind }, value: amount },
    { name: 'malipo_discrepancies_oldest_seconds', labels: { kind }, value: oldest },
  ]);
}

/** What came in and what went out are two sums: together they could look like nothing. */
async function readSuspense(trx: Transaction): Promise<Reading[]> {
  const found = await rows<Row>(
    trx,
    `SELECT payment_kind AS kind, CAST(sum(amount_cents) AS bigint) AS amount,
       ${secondsSince('min(learned_at)')} AS oldest
     FROM (
       SELECT payment_kind, amount_cents, learned_at FROM movements
       WHERE booked = 'suspense' ORDER BY merchant_id LIMIT :limit
     ) waiting
     GROUP BY payment_kind`,
    { limit: COUNT_LIMIT },
  );
  return PAYMENT_KINDS.flatMap((kind) => {
    const row = found.find((each) => each.kind === kind);
    return [
      { name: 'malipo_suspense_cents', labels: { kind }, value: row?.amount ?? 0 },
      { name: 'malipo_suspense_oldest_seconds', labels: { kind }, value: row?.oldest ?? 0 },
    ];
  });
}
