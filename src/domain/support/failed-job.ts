import type { StepKind, StepName } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';

/**
 * The states of a job that failed for good.
 * - waiting: its row is parked for it until somebody replays it or decides otherwise.
 * - replayed: somebody replayed it, and nothing has failed since.
 * - failed_again: somebody replayed it, and a later job of the row has failed.
 * - moved_on: nobody replayed it, and its row is no longer parked for it: support has decided,
 *   the gateway's news has settled the payment, or the row is gone.
 */
export const FAILED_JOB_STATES = ['waiting', 'replayed', 'failed_again', 'moved_on'] as const;
export type FailedJobState = (typeof FAILED_JOB_STATES)[number];

/** A job that failed for good, with the state of its row now. */
export interface FailedJob {
  id: number;
  queue: string;
  kind: StepKind;
  step: StepName;
  merchant_id: number;
  row_id: string;
  step_no: number;
  error: string;
  failed_at: Date;
  replayed_at: Date | null;
  replayed_by: string | null;
  replayed_step: StepName | null;
  state: FailedJobState;
  /** The payment of its row. Null when the row is gone. */
  payment_kind: GatewayPaymentKind | null;
  payment_id: string | null;
  ref_no: string | null;
  /** The row's status. Null when the row is gone. */
  row_status: string | null;
  row_next_step: string | null;
  row_next_step_at: Date | null;
  row_parked_reason: string | null;
}
