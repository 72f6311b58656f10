import { type Database, inTransaction, rows } from '../connections/database.ts';
import { messageOf } from '../connections/database-errors.ts';
import { JOB_FAILED, type JobData, STEP_TABLES, type StepKind } from './job-types.ts';
import { changeStep } from './outbox.ts';

const MAX_ERROR_LENGTH = 1_000;
const MAX_STACK_LENGTH = 4_000;

/**
 * Ends a job for good, however many tries the queue has left: each try was a job of its own. Keeps
 * the stack of the bug.
 */
export class LastTryError extends Error {
  constructor(bug: unknown) {
    super(messageOf(bug), { cause: bug });
    this.name = 'LastTryError';
    this.stack = (bug as Error).stack ?? '';
  }
}

/**
 * Records a job that has failed for good, and parks its row: the row stands on the support
 * list with the reason until somebody replays it. Leaves a row alone that has moved on.
 */
export async function recordFailedJob(
  database: Database,
  queue: string,
  data: JobData,
  error: unknown,
): Promise<void> {
  const message = storable(messageOf(error), MAX_ERROR_LENGTH);
  const { stack } = error as Error;
  await inTransaction(database, async (trx) => {
    const parked = await changeStep(
      trx,
      { kind: data.kind, merchant_id: data.merchant_id, id: data.row_id },
      { park: `${JOB_FAILED}${message}` },
      {
        onlyIf: { step_no: data.step_no },
        // A parked delivery must not count as admitted: others need its room.
        set: data.kind === 'webhook' ? { admitted_at: null } : {},
      },
    );
    if (!parked) return;
    await rows(
      trx,
      `INSERT INTO failed_jobs
         (queue, kind, step, merchant_id, row_id, step_no, channel, error, stack)
       VALUES (:queue, :kind, :step, :merchant_id, :row_id, :step_no, ${channelOf(data.kind)},
         :error, :stack)
       ON CONFLICT DO NOTHING`,
      {
        ...data,
        queue,
        error: message,
        stack: stack === undefined ? null : storable(stack, MAX_STACK_LENGTH),
      },
    );
  });
}

/** The tables of rows that are about a payment, and are none. */
const MESSAGES: Partial<Record<StepKind, string>> = { callback: 'callbacks', webhook: 'events' };

/** SQL: the channel of the payment of a row. Looked up now, since many jobs are listed by it later. */
function channelOf(kind: StepKind): string {
  const ofRow = (table: string) =>
    `SELECT channel FROM ${table} WHERE merchant_id = :merchant_id AND id = :row_id`;
  const messages = MESSAGES[kind];
  if (!messages) return `(${ofRow(STEP_TABLES[kind].table)})`;
  const payments = (Object.keys(STEP_TABLES) as StepKind[]).filter((each) => !MESSAGES[each]);
  const channels = payments.map(
    (each) => `WHEN '${each}' THEN (SELECT channel FROM ${STEP_TABLES[each].table} p
      WHERE p.merchant_id = m.merchant_id AND p.id = m.payment_id)`,
  );
  return `(SELECT CASE m.payment_kind ${channels.join(' ')} END
    FROM ${messages} m WHERE m.merchant_id = :merchant_id AND m.id = :row_id)`;
}

/** Replaces what PostgreSQL refuses in a text: a row that could not be parked would run for ever. */
function storable(text: string, maxLength: number): string {
  return text.replaceAll('\u0000', '\uFFFD').slice(0, maxLength);
}
