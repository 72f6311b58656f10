import { firstRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { prefixed, queued, type StepChange, stepSql } from '../../jobs/outbox.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import {
  assertCanMove,
  LostRaceError,
  MACHINES,
  type Payment,
  type PaymentStatus,
} from './payment.ts';
import { paymentColumns } from './payment-summary.ts';

export interface Transition {
  to: PaymentStatus;
  /** Columns that change with the status. */
  set?: Partial<
    Pick<
      Payment,
      | 'result_code'
      | 'result_description'
      | 'trans_id'
      | 'external_ref'
      | 'payment_completed_at'
      | 'last_answer'
      | 'last_asked_at'
    >
  >;
  step: StepChange;
  /** The cause for the history: 'submission', 'poll', 'callback', 'support'. */
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
  change: Transition,
): Promise<P> {
  const { kind, id } = payment;
  const { moved, bindings } = moving(payment, change);
  const after = await firstRow<P>(
    trx,
    `WITH ${moved} SELECT ${paymentColumns(kind, 'moved')} FROM moved`,
    bindings,
  );
  if (!after) throw new LostRaceError(`${kind} ${id}`);
  return after;
}

/**
 * Returns the CTEs of a transition, as a part of a longer statement: `moved` is the payment as it
 * is then, or nothing when it is no longer in the status that was read.
 * @param onlyIf is SQL: a further condition.
 * @throws IllegalTransitionError when the state machine does not have this move.
 */
export function moving(
  { kind, merchant_id, id, status }: Payment,
  { to, set = {}, step, cause }: Transition,
  onlyIf = 'true',
): { moved: string; bindings: object } {
  assertCanMove(MACHINES[kind], status, to);
  const { assignments, queued, bindings } = stepSql(kind, step);
  const columns = Object.keys(set).map((name) => `, ${name} = :set_${name}`);
  // Not `=`: with it the planner might read an index of open payments instead of the key.
  const moved = `moved AS (
        UPDATE ${STEP_TABLES[kind].table}
        SET status = :to_status, ${assignments}${columns.join('')}
        WHERE merchant_id = :merchant_id AND id = :id
          AND status IS NOT DISTINCT FROM :from_status AND ${onlyIf}
        RETURNING *
      )`;
  return {
    moved: [moved, ...queued, remembered(kind, ':from_status', ':cause')].join(', '),
    bindings: {
      merchant_id,
      id,
      from_status: status,
      to_status: to,
      cause,
      ...bindings,
      ...prefixed('set_', set),
    },
  };
}

/**
 * Returns the statement that accepts a payment: it inserts the row, its history and its first
 * job (in `:queue`; null: none yet) at once, so nothing can forget an accepted payment.
 * @param insert is the INSERT without RETURNING.
 * @param more is further CTEs. They read the new row from the CTE `moved`.
 * @param cause is SQL: who asked for the payment.
 */
export function acceptance(
  kind: GatewayPaymentKind,
  insert: string,
  more: readonly string[] = [],
  cause = `'api'`,
): string {
  const parts = [
    `moved AS (${insert} RETURNING *)`,
    queued(kind, 'CAST(:queue AS text)', 'CAST(:queue AS text) IS NOT NULL'),
    remembered(kind, 'NULL', cause),
    ...more,
  ];
  return `WITH ${parts.join(', ')} SELECT ${paymentColumns(kind, 'moved')} FROM moved`;
}

/**
 * Returns the CTE `remembered`, which adds the move of the row of the CTE `moved` to its
 * payment's history. No other SQL writes history.
 * @param from and `cause` are SQL: the status before, and who or what moved it.
 */
function remembered(kind: GatewayPaymentKind, from: string, cause: string): string {
  return `remembered AS (
    INSERT INTO payment_history
      (merchant_id, payment_kind, payment_id, from_status, to_status, cause)
    SELECT merchant_id, '${kind}', id, ${from}, status, ${cause} FROM moved
  )`;
}
