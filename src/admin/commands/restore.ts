import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { markDatabaseRestored } from '../../domain/upkeep/mark-database-restored.ts';
import { restoreProgress } from '../../domain/upkeep/restore-progress.ts';
import { moment, render, table } from '../output/table.ts';
import { changes, type Noun, reads } from '../verb.ts';

const mark = changes({
  summary: 'Treats every open payment of a restored database as possibly sent',
  notes:
    'No open payment is sent before its gateway has been asked about it, and each is asked about at once. What is parked stays parked. Every channel that has a driver is paused, so that no new payment is taken; channel resume opens each again. Event numbers go on a million higher than before, the numbers of new merchants and apps a thousand higher. SUBMISSION_PAUSED must be true. It may be run again until submissions go on. docs/operations.md describes the whole way back from a backup.',
  run: async ({ database, config }, _values, { audited }) => {
    if (!config.submissionPaused) {
      throw new OperatorRefusal(
        'SUBMISSION_PAUSED is not true: set it for every process first, then run this again',
      );
    }
    const data = await markDatabaseRestored(database, audited, config.channels.keys());
    return { data, lines: render(data, 'none') };
  },
});

const status = reads({
  summary: 'Shows how far the open payments of a restored database are',
  notes:
    'Exit status 1 while there is a payment that no gateway was asked about since restore mark. NO ANSWER YET counts those whose gateway was asked and has not said yet whether it has them: it is asked again without you.',
  run: async ({ database }) => {
    const { marked_at, payments, unexplained } = await restoreProgress(database);
    if (!marked_at) {
      throw new OperatorRefusal('No payments were marked yet: restore mark comes first');
    }
    const unasked = payments.reduce((sum, each) => sum + each.unasked, 0);
    return {
      isFailure: unasked > 0,
      data: { marked_at: marked_at.toISOString(), unasked, unexplained, payments },
      lines: [
        `Marked ${moment(marked_at)}; not asked about yet: ${unasked}`,
        table(payments, [
          ...(['kind', 'open'] as const),
          ['NOT ASKED YET', 'unasked'],
          ['NO ANSWER YET', 'unanswered'],
          ['TO BE SENT', 'unsent'],
          'parked',
        ]),
        `Open discrepancies about money that no payment here explains: ${unexplained}`,
      ],
    };
  },
});

export const restore: Noun = { summary: 'The way back from a backup', verbs: { mark, status } };
