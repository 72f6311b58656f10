import { firstRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { prefixed, type StepChange, stepSql } from '../../jobs/outbox.ts';
import { remembered } from './history.ts';
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
  /** Who or what moved it, for the history: 'submission', 'poll', 'callback', 'support'. */
  cause: string;
}

/**
 * Moves a payment to another status, with its next step, job and history, in one statement of
 * the caller's transaction. No other SQL writes a status. Journal and event belong in the same
 * transaction.
 * @throws IllegalTransitionError when the state machine does not have this move.
 * @throws LostRaceError when the payment is no longer in the status that was read.
 */
export async function transition<P extends Payment>(
  trx: Transaction,
  payment: P,
  { to, set = {}, step, cause }: Transition,
): Promise<P> {
  const { kind, merchant_id, id, status } = payment;
  assertCanMove(MACHINES[kind], status, to);
  const { assignments, queued, bindings } = stepSql(kind, step);
  const columns = Object.keys(set).map((name) => `, ${name} = :set_${name}`);
  const moved = await firstRow<P>(
    trx,
    `WITH moved AS (
       UPDATE ${STEP_TABLES[kind].table}
       SET status = :to_status, ${assignments}${columns.join('')}
       WHERE merchant_id = :merchant_id AND id = :id AND status = :from_status
       RETURNING *
     ), ${queued}, ${remembered(kind, ':from_status', ':cause')}
     SELECT ${paymentColumns(kind, 'moved')} FROM moved`,
    {
      ...{ merchant_id, id, from_status: status, to_status: to, cause },
      ...bindings,
      ...prefixed('set_', set),
    },
  );
  if (!moved) throw new LostRaceError(`${kind} ${id}`);
  return moved;
}
