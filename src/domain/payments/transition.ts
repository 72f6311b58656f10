import { firstRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { outboxInsert, prefixed, type StepChange, stepAssignments } from '../../jobs/outbox.ts';
import { MACHINES, type Payment, type PaymentStatus } from './payment.ts';
import { paymentColumns } from './payment-summary.ts';
import { assertCanMove, LostRaceError } from './state-machine.ts';

export interface Transition {
  to: PaymentStatus;
  /** Columns that change with the status. */
  set?: Partial<
    Pick<
      Payment,
      'result_code' | 'result_description' | 'trans_id' | 'external_ref' | 'payment_completed_at'
    >
  >;
  step: StepChange;
  /** Who or what moved it, for its history: 'submission', 'poll', 'callback'. */
  cause: string;
}

/**
 * The one door for status: moves a payment, with its next step, its job and its history,
 * in one statement of the caller's transaction. Journal and event belong in the same one.
 * @throws IllegalTransitionError when the state machine does not have this move.
 * @throws LostRaceError when the payment is no longer in the state that was read.
 */
export async function transition<P extends Payment>(
  trx: Transaction,
  payment: P,
  { to, set = {}, step, cause }: Transition,
): Promise<P> {
  assertCanMove(MACHINES[payment.kind], payment.status, to);
  const { table } = STEP_TABLES[payment.kind];
  const assignments = stepAssignments(step);
  const outbox = outboxInsert(payment.kind, step);
  const columns = Object.keys(set).map((name) => `, ${name} = :set_${name}`);
  const moved = await firstRow<P>(
    trx,
    `WITH moved AS (
       UPDATE ${table} SET status = :to_status, ${assignments.sql}${columns.join('')}
       WHERE merchant_id = :merchant_id AND id = :id AND status = :from_status
       RETURNING *
     ), queued AS (${outbox.sql}), remembered AS (
       INSERT INTO payment_history
         (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
       SELECT merchant_id, :payment_kind, id, :from_status, status, :cause FROM moved
     )
     SELECT ${paymentColumns('moved')} FROM moved`,
    {
      merchant_id: payment.merchant_id,
      id: payment.id,
      payment_kind: payment.kind,
      from_status: payment.status,
      to_status: to,
      cause,
      ...assignments.bindings,
      ...outbox.bindings,
      ...prefixed('set_', set),
    },
  );
  if (!moved) throw new LostRaceError(`${payment.kind} ${payment.id}`);
  return { ...moved, kind: payment.kind };
}
