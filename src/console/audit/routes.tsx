import { auditCsv } from '../../domain/audit-csv.ts';
import { type AuditFilter, listAudit } from '../../domain/audit-log.ts';
import { recordView } from '../access/record-view.ts';
import { ConsoleError } from '../console-error.ts';
import { listPage } from '../shell/list-page.tsx';
import { daysIn, idIn, numberIn, textIn, wordIn } from '../shell/read-filter.ts';
import type { Answer, Visit } from '../visit.ts';
import { veiled } from './veiled.ts';
import { AuditPage, READS } from './view.tsx';

export const auditHandlers = {
  audit: async (visit: Visit): Promise<Answer> => {
    const filter = filterIn(visit);
    const after = idIn(visit.query, 'after');
    const page = await listPage(
      (limit) => listAudit(visit.service.database, { ...filter, after, limit }),
      ({ id }) => id,
    );
    await recordAuditView(visit, filter, page.rows.length);
    return { page: <AuditPage query={visit.query} page={page} />, title: 'Audit log' };
  },

  /** The same lines as a file, however many. */
  auditCsv: async (visit: Visit): Promise<Answer> => {
    const filter = filterIn(visit);
    await recordAuditView(visit, filter, null);
    return {
      file: auditCsv(visit.service.database, filter, veiled),
      ...{ name: 'audit-log.csv', type: 'text/csv' },
    };
  },
};

const NOUN = /^[a-z][a-z_-]{0,49}$/;

function filterIn({ query }: Visit): AuditFilter {
  const noun = textIn(query, 'noun');
  if (noun !== undefined && !NOUN.test(noun)) {
    throw new ConsoleError(400, 'The field noun must be a noun such as app or webhooks');
  }
  const subject = textIn(query, 'subject');
  return {
    ...daysIn(query),
    actor: textIn(query, 'actor'),
    noun,
    merchant_id: numberIn(query, 'merchant'),
    subjects: subject === undefined ? undefined : [subject],
    reads: wordIn(query, 'show', [READS]) === READS,
  };
}

async function recordAuditView(
  visit: Visit,
  { subjects, ...filter }: AuditFilter,
  rows: number | null,
): Promise<void> {
  await recordView(visit, {
    ...{ action: 'audit.list', subject: 'audit', merchant_id: filter.merchant_id ?? null, rows },
    lookedFor: { ...filter, subject: subjects?.[0] },
  });
}
