import type { Database } from '../../connections/database.ts';
import { BREAK_KINDS } from '../../domain/ledger/verification/breaks.ts';
import { lastVerification } from '../../domain/ledger/verification/last-verification.ts';
import type { Source } from '../scraped-gauges.ts';

/** What the last scheduled proof of the books has found. */
export function ledgerSource(database: Database): Source {
  return {
    name: 'ledger',
    gauges: [
      {
        name: 'malipo_ledger_breaks',
        help: 'Breaks that the last scheduled verification of the ledger has found, by kind',
        labels: ['kind'],
      },
      {
        name: 'malipo_ledger_verified_timestamp_seconds',
        help: 'When the ledger was last verified on schedule, in seconds since 1970; 0 is never',
      },
    ],
    read: async () => {
      const last = await lastVerification(database);
      const verifiedAt = last ? last.verifiedAt.getTime() / 1_000 : 0;
      return [
        { name: 'malipo_ledger_verified_timestamp_seconds', value: verifiedAt },
        ...(last ? BREAK_KINDS : []).map((kind) => ({
          name: 'malipo_ledger_breaks',
          labels: { kind },
          value: last?.counts[kind] ?? 0,
        })),
      ];
    },
  };
}
