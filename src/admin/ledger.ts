import { firstRow } from '../connections/database.ts';
import type { Break } from '../domain/ledger/verification/breaks.ts';
import { type Verification, verifyLedger } from '../domain/ledger/verification/verify-ledger.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { type Answer, flag, optional, reads } from './command.ts';
import { fields } from './output.ts';
import { merchantId } from './readers.ts';

const verify = reads({
  summary: 'Proves the books: journals, wallets, payments, money in flight and in suspense',
  notes: [
    'Payments may go on meanwhile. It begins where the last run that found nothing wrong has',
    'ended; a full run reads everything again and takes minutes for millions of payments.',
    'Exit status 1 when there is a break.',
  ],
  options: {
    merchant: optional(merchantId, 'The books of this merchant only'),
    full: flag('Read everything, also what was right before'),
  },
  run: async ({ database }, { merchant, full }) => {
    if (merchant !== undefined) {
      const sql = 'SELECT id FROM merchants WHERE id = :merchant';
      const found = await firstRow(database, sql, { merchant });
      if (!found) throw new OperatorRefusal(`There is no merchant ${merchant}`);
    }
    return answer(await verifyLedger(database, { merchant_id: merchant, full }));
  },
});

function answer({ checked, counts, breaks }: Verification): Answer {
  const count = Object.values(counts).reduce((sum, each) => sum + each);
  const words = Object.entries(checked).map(([name, number]) => [name, String(number)]);
  return {
    isFailure: count > 0,
    data: { checked, break_count: count, breaks: breaks.map(document) },
    lines: [
      count === 0 ? 'The books are right' : `The books are wrong: ${plural(count)}`,
      ...fields(Object.fromEntries(words)),
      ...breaks.map(lineOf),
      ...(count > breaks.length ? [`… and ${count - breaks.length} more`] : []),
    ],
  };
}

function plural(count: number): string {
  return `${count} break${count === 1 ? '' : 's'}`;
}

function document({ merchant_id, ...rest }: Break) {
  return { merchant_id, ...rest };
}

function lineOf({ kind, merchant_id: merchant, subject, id, expected, found }: Break): string {
  return `${kind}: merchant ${merchant}, ${subject} ${id}: expected ${expected}, found ${found}`;
}

export const ledgerVerbs = { verify };
