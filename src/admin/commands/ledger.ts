import { verifyLedger } from '../../domain/ledger/verification/verify-ledger.ts';
import { requireMerchant } from '../../domain/merchants/merchant.ts';
import { flag, optional } from '../../operations/field.ts';
import * as read from '../../operations/readers.ts';
import { render } from '../output/table.ts';
import { type Noun, reads } from '../verb.ts';

const verify = reads({
  role: 'anyone',
  summary: 'Proves the books: journals, wallets, payments, money in flight and in suspense',
  notes:
    'Payments may go on meanwhile. It starts where the last run without a finding ended. A full run reads everything again and takes minutes for millions of payments. Exit status 1 when there is a break.',
  options: {
    merchant_id: optional('merchant', read.merchantId, 'Only the books of this merchant'),
    full: flag('full', 'Read everything, also what was right before'),
  },
  run: async ({ database }, options) => {
    if (options.merchant_id !== undefined) await requireMerchant(database, options.merchant_id);
    const { checked, counts, breaks } = await verifyLedger(database, options);
    const count = Object.values(counts).reduce((sum, each) => sum + each);
    const wrong = `The books are wrong: ${count} break${count === 1 ? '' : 's'}`;
    const more = count - breaks.length;
    return {
      isFailure: count > 0,
      data: { checked, break_count: count, breaks },
      lines: [
        count === 0 ? 'The books are right' : wrong,
        render({ checked, breaks }),
        more > 0 && `… and ${more} more`,
      ],
    };
  },
});

export const ledger: Noun = {
  summary: 'The books: every movement of money, entered twice',
  verbs: { verify },
};
