import type { StepKind, StepName } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';

/**
 * What has become of a job that failed for good.
 * - waiting: its row is parked for it, until somebody replays it or decides otherwise.
 * - replayed: somebody did, and nothing has failed since.
 * - failed_again: somebody did, and a later job of the row has failed since.
 * - moved_on: nobody did, and its row is not parked for it any more: support has decided, the
 *   gateway's news has settled it, or the row is gone.
 */
export const FAILED_JOB_STATES = ['waiting', 'replayed', 'failed_again', 'moved_on'] as const;
export type FailedJobState = (typeof FAILED_JOB_STATES)[number];

/** A job that failed for good, with what its row is like now. */
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
  /** The payment that its row is, or is about; null when the row is gone. */
  payment_kind: GatewayPaymentKind | null;
  payment_id: string | null;
  ref_no: string | null;
  /** Of the row: null when it is gone. */
  row_status: string | null;
  row_next_step: string | null;
  row_next_step_at: Date | null;
  row_parked_reason: string | null;
}
