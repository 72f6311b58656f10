import { type Database, rows } from '../../connections/database.ts';
import { queueOfRow, STEP_TABLES, type StepKind, type StepName } from '../../jobs/job-types.ts';
import { OF_PAYMENT, type PaymentRef } from '../payments/payment-store.ts';

/** The next step of a payment, of one of its stored callbacks, or of one of its deliveries. */
export interface PaymentStep {
  kind: StepKind;
  row_id: string;
  step: StepName;
  step_no: number;
  /** The time from which it is due. */
  due_at: Date;
  is_due: boolean;
  /** The queue that its job belongs in. */
  queue: string;
  /** Its job waits in the outbox, for the dispatcher. */
  in_outbox: boolean;
  /** The dispatcher has let it have a job. Only deliveries wait for that. */
  is_admitted: boolean;
}

/** A job that waits in the outbox. */
export interface OutboxRow {
  kind: StepKind;
  row_id: string;
  step: StepName;
  queue: string;
  run_at: Date;
  /** A dispatcher takes it to its queue until then. */
  leased_until: Date | null;
}

/** Reads the steps that a payment waits for. */
export function stepsOf(database: Database, payment: PaymentRef): Promise<PaymentStep[]> {
  const { table } = STEP_TABLES[payment.kind];
  return rows<PaymentStep>(
    database,
    `SELECT s.kind, s.row_id, s.step, s.step_no, s.due_at, s.due_at <= now() AS is_due, s.queue,
       s.is_admitted, EXISTS (SELECT FROM outbox o WHERE o.row_id = s.row_id AND o.kind = s.kind
         AND o.step_no = s.step_no) AS in_outbox
     FROM (
       SELECT '${payment.kind}' AS kind, id AS row_id, ${columnsOf(payment.kind)}, true AS is_admitted
       FROM ${table} WHERE merchant_id = :merchant_id AND id = :id
       UNION ALL
       SELECT 'callback', id, ${columnsOf('callback')}, true FROM callbacks WHERE ${OF_PAYMENT}
       UNION ALL
       SELECT 'webhook', d.event_id, ${columnsOf('webhook')}, d.admitted_at IS NOT NULL
       FROM (SELECT id FROM events WHERE ${OF_PAYMENT}) e
       JOIN webhook_deliveries d ON d.merchant_id = :merchant_id AND d.event_id = e.id
     ) AS s WHERE s.step IS NOT NULL ORDER BY s.due_at, s.row_id`,
    payment,
  );
}

function columnsOf(kind: StepKind): string {
  return `next_step AS step, step_no, next_step_at AS due_at, ${queueOfRow(kind)} AS queue`;
}

/** Reads the jobs of a payment, its callbacks and its deliveries that wait in the outbox. */
export function outboxOf(database: Database, payment: PaymentRef): Promise<OutboxRow[]> {
  return rows<OutboxRow>(
    database,
    `SELECT kind, row_id, step, queue, run_at,
       CASE WHEN leased_until > now() THEN leased_until END AS leased_until
     FROM outbox
     WHERE merchant_id = :merchant_id AND row_id IN (
       SELECT CAST(:id AS uuid)
       UNION ALL SELECT id FROM callbacks WHERE ${OF_PAYMENT}
       UNION ALL SELECT id FROM events WHERE ${OF_PAYMENT}
     ) ORDER BY id`,
    payment,
  );
}
