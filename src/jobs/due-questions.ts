import { type Database, firstRow } from '../connections/database.ts';
import { STEP_TABLES } from './job-types.ts';
import { sendBatch } from './sweeper.ts';

/** The kinds of rows that a gateway is asked about. */
const ASKED_KINDS = ['collection', 'payout', 'reversal', 'return'] as const;

/** SQL: the first question that is due and has no job. A partial index of each table has these. */
const DUE = `t.next_step = 'poll' AND t.step_swept_at IS NULL AND t.next_step_at <= now()
  ORDER BY t.next_step_at`;

/** One read, since most rounds find nothing. Ordered, so that only the index is read. */
const FIND = `SELECT ${ASKED_KINDS.map(
  (kind) => `(SELECT true FROM ${STEP_TABLES[kind].table} t WHERE ${DUE} LIMIT 1) AS "${kind}"`,
).join(', ')}`;

/**
 * Gives a job to every question that has become due. Nearly always the gateway calls back first,
 * so a question that is only planned has no job. The sweeper brings back a job that was lost.
 * @returns how many questions got a job
 */
export async function sendDueQuestions(database: Database): Promise<number> {
  const found = await firstRow<Record<(typeof ASKED_KINDS)[number], true | null>>(database, FIND);
  let sent = 0;
  for (const kind of ASKED_KINDS) if (found![kind]) sent += await sendBatch(database, kind, DUE);
  return sent;
}
