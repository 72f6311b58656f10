import { OperatorRefusal } from '../../domain/errors.ts';
import { otherDatabase, resumeHere, whyPaused } from '../../domain/upkeep/other-database.ts';
import { markDatabaseRestored } from '../../domain/upkeep/restore.ts';
import { requireLookedInto, restoreProgress } from '../../domain/upkeep/restore-progress.ts';
import { flag } from '../../operations/field.ts';
import { accountsOf } from '../../service/reconciliation.ts';
import { ALREADY } from '../output/answers.ts';
import { moment, render, table } from '../output/table.ts';
import { changes, type Noun, reads } from '../verb.ts';

const mark = changes({
  role: 'anyone',
  summary: 'Treats every open payment of a restored database as possibly sent',
  notes:
    'No open payment is sent before its gateway has been asked about it, and each is asked about at once. What is parked stays parked, except a collection that was never_taken. Every channel that has a driver is paused, so that no new payment is taken; channel resume opens each again. Event numbers go on a million higher than before, the numbers of new merchants and apps a thousand higher. Submissions must be paused, by SUBMISSION_PAUSED or because the service has noticed another database. It may be run again until submissions go on. docs/operations.md describes the whole way back from a backup.',
  run: async ({ database, config }, _values, { audited }) => {
    if (!config.submissionPaused && !(await otherDatabase(database))) {
      throw new OperatorRefusal(
        'SUBMISSION_PAUSED is not true: set it for every process first, then run this again',
      );
    }
    const data = await markDatabaseRestored(database, audited, config.channels.keys());
    return { data, lines: render(data, 'none') };
  },
});

const status = reads({
  role: 'anyone',
  summary: 'Shows how far the open payments of a restored database are',
  notes:
    'Exit status 1 while there is a payment that no gateway was asked about since restore mark. NO ANSWER YET counts those whose gateway was asked and has not said yet whether it has them: it is asked again without you.',
  run: async ({ database }) => {
    const other = await otherDatabase(database);
    const why = other && whyPaused(other);
    const { marked_at, payments, unexplained } = await restoreProgress(database);
    if (!marked_at || other?.is_marked === false) {
      const pause = why ? `${why}. ` : '';
      throw new OperatorRefusal(`${pause}No payments were marked yet: restore mark comes first`);
    }
    const unasked = payments.reduce((sum, each) => sum + each.unasked, 0);
    return {
      isFailure: unasked > 0,
      data: {
        marked_at: marked_at.toISOString(),
        submissions_paused: other,
        unasked,
        unexplained,
        payments,
      },
      lines: [
        why ? [why, ''] : [],
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

const resume = changes({
  role: 'admin',
  isBesideService: true,
  summary: 'Lets payments go out again on a database that was restored, failed over or moved',
  notes:
    'The service notices such a database by its server, timeline and number, and sends nothing on it. This command makes it the right one. It demands restore mark before, an answer about every payment, and for each account and channel a statement that was compared since, has all movements of a kind and includes the day of the mark. Without them, --nothing-lost is your word that the database has forgotten nothing: a planned move, or a standby that PostgreSQL waited for. docs/operations.md says what else comes before. While SUBMISSION_PAUSED is true, still nothing is sent.',
  options: {
    nothing_lost: flag('nothing-lost', 'The database has forgotten nothing, so it needs no mark'),
  },
  run: async (service, { nothing_lost }, { audited }) => {
    const other = await audited(async (trx) => {
      const isMarked = (await otherDatabase(trx))?.is_marked === true;
      if (isMarked && !nothing_lost) await requireLookedInto(trx, accountsOf(service));
      const value = await resumeHere(trx, nothing_lost);
      const details = { ...value, nothing_lost };
      const audit = { merchant_id: null, subject: 'submissions', details };
      return { value, audit: value ? audit : null };
    });
    return {
      data: { changed: other !== null, ...other },
      lines: [other ? `Payments go out on ${other.now}` : `Payments go out here ${ALREADY}`],
    };
  },
});

export const restore: Noun = {
  summary: 'The way back from a backup',
  verbs: { mark, status, resume },
};
