import { Readable } from 'node:stream';
import { expect } from 'chai';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { StatementFileError } from '../../../src/domain/reconciliation/statement-cells.ts';
import { readStatement } from '../../../src/domain/reconciliation/statement-file.ts';

/** A row of some source's file. */
interface SourceRow {
  receipt: string;
  isIn: boolean;
  cents: number;
  words: string;
  reason: string;
  kind: string;
}

const FILES = 2_000;
const row: fc.Arbitrary<SourceRow> = fc.record({
  // An own file may have our reference in place of it.
  receipt: fc.constantFrom('A', 'B', 'C', ''),
  isIn: fc.boolean(),
  cents: fc.oneof(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 1, max: 10_000_000 })),
  words: fc.constantFrom(
    ...['Pay Bill from 254712345678 - JANE', 'Business Payment to 254712345678 - JANE'],
    ...['EFT RETURNED', 'SCHOOL FEES', 'Transfer charge', 'Reversal of payment', 'RENT', ''],
  ),
  reason: fc.constantFrom('', 'Returned', 'Business Payment', 'Payment Charge', 'Reversal'),
  kind: fc.constantFrom('', 'collection', 'payout', 'reversal', 'charge', 'own'),
});

const clock = (index: number) => `2026-11-20 10:${String(index).padStart(2, '0')}:00`;
const shillings = (cents: number) => (cents / 100).toFixed(2);
const sides = ({ isIn, cents }: SourceRow) =>
  isIn ? [shillings(cents), ''] : ['', shillings(cents)];

/** The kind says the direction, unless the reason says that a payout has come back. */
function kindAndReason({ isIn, kind, cents, reason }: SourceRow): string[] {
  const amount = shillings(cents);
  if (isIn) return reason === 'Returned' ? ['payout', amount, reason] : ['collection', amount, ''];
  return [kind === 'reversal' || kind === 'charge' ? kind : 'payout', amount, 'Business Payment'];
}

/** The forms, each with its header and how it writes a row. */
const FORMS: Record<string, [header: string, write: (row: SourceRow, at: string) => string[]]> = {
  'of the M-PESA portal': [
    'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Reason Type',
    (each, at) => [each.receipt || 'D', at, each.words, 'Completed', ...sides(each), each.reason],
  ],
  'of a bank': [
    'Transaction Reference,Transaction Date,Narrative,Credit,Debit',
    (each, at) => [each.receipt || 'D', at, each.words, ...sides(each)],
  ],
  'of our own, with two sides': [
    'trans_id,reference,completed_at,kind,paid_in,withdrawn,reason,details',
    (each, at) => [
      ...[each.receipt, each.receipt ? '' : 'OURS', at, each.kind, ...sides(each)],
      ...[each.reason, each.words],
    ],
  ],
  'of our own, with one column of amounts': [
    'trans_id,reference,completed_at,kind,amount,reason',
    (each, at) => [...[each.receipt, each.receipt ? '' : 'OURS', at, ...kindAndReason(each)]],
  ],
};

describe('The money of a statement’s file', () => {
  for (const [name, [header, write]] of Object.entries(FORMS)) {
    for (const isMobileMoney of [true, false]) {
      it(`${name} is in its lines, charges and own rows, or the file is refused (mobile money: ${isMobileMoney})`, () =>
        fc.assert(
          fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), async (rows) => {
            const cells = rows.map((each, index) => write(each, clock(index)));
            const text = stringify([header.split(','), ...cells]);
            const form = { columns: {}, kind: undefined, utcOffset: '+03:00', isMobileMoney };
            const file = await readStatement(Readable.from([text]), form, FILES).catch(
              (error: Error) => {
                if (error instanceof StatementFileError) return null;
                throw error;
              },
            );
            if (!file) return;
            const moved = file.lines.reduce(
              (sum, { kind, hasComeBack = false, amountCents }) =>
                sum + (kind === 'collection' || hasComeBack ? amountCents : -amountCents),
              0,
            );
            const charges = new Map(
              file.lines.map(({ transId, chargeCents = 0 }) => [transId, chargeCents]),
            );
            const charged = [...charges.values()].reduce((sum, cents) => sum + cents, 0);
            const own = file.own.reduce((sum, { amountCents }) => sum + amountCents, 0);
            const told = rows.reduce((sum, { isIn, cents }) => sum + (isIn ? cents : -cents), 0);
            expect(moved - charged + own).to.equal(told);
          }),
          { numRuns: FILES },
        )).timeout(60_000);
    }
  }
});
