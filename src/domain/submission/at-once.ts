import { type Database, firstRow, hasRow } from '../../connections/database.ts';
import type { SubmitResult } from '../gateway-results.ts';
import { type AnyPayment, lockedByKey, type PaymentRef } from '../payments/payment-store.ts';
import { paymentColumns } from '../payments/payment-summary.ts';
import { pollStep } from '../payments/schedule.ts';
import { moving } from '../payments/transition.ts';
import { brakeOnRow } from './call-limits.ts';

/*
 * The common case of a submission: nothing holds the payment, and its first attempt is taken. Each
 * of these is one statement, which does all or nothing. Every other case is decided step by step,
 * in a transaction that locks the payment.
 */

/**
 * Claims the first attempt of a payment.
 * @param gateways are those that this process can call.
 * @returns the claimed payment, or null: then nothing has changed, and the case may be another one.
 */
export async function claimAtOnce(
  database: Database,
  ref: PaymentRef,
  stepNo: number,
  gateways: readonly string[],
): Promise<AnyPayment | null> {
  const { kind } = ref;
  const hasReceipt = kind === 'reversal' ? 'AND original_trans_id IS NOT NULL' : '';
  const claimed = await firstRow<AnyPayment>(
    database,
    `WITH ${lockedByKey(kind)}, due AS (
       SELECT * FROM locked
       WHERE step_no = :step_no AND next_step = 'submit' AND status = 'pending'
         AND deadline_at > now() AND gateway = ANY(:gateways) ${hasReceipt}
         AND ${brakeOnRow(kind, 'locked')} IS NULL
     ), claimed AS (
       INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, started_at)
       SELECT merchant_id, '${kind}', id, 1, clock_timestamp() FROM due
       ON CONFLICT DO NOTHING RETURNING attempt_no
     )
     SELECT ${paymentColumns(kind, 'due')} FROM due, claimed`,
    { ...ref, step_no: stepNo, gateways },
  );
  return claimed ?? null;
}

/**
 * Records that the gateway has acknowledged the first attempt of a payment that has not moved on
 * since its claim.
 * @returns false when it may have: then nothing has changed.
 */
export async function acknowledgeAtOnce(
  database: Database,
  payment: AnyPayment,
  { externalRef }: Extract<SubmitResult, { outcome: 'acknowledged' }>,
  pollFirstMs: number,
): Promise<boolean> {
  const { moved, bindings } = moving(
    payment,
    {
      to: 'processing',
      set: { external_ref: externalRef },
      step: pollStep(payment, pollFirstMs),
      cause: 'submission',
    },
    'EXISTS (SELECT FROM answered)',
  );
  return hasRow(
    database,
    `WITH ${lockedByKey(payment.kind)}, unmoved AS (
       SELECT * FROM locked
       WHERE step_no = :step_no_before AND status = :from_status AND parked_reason IS NULL
         AND external_ref IS NULL
     ), answered AS (
       UPDATE attempts a SET result = 'acknowledged', answered_at = now(),
         external_ref = :set_external_ref
       FROM unmoved
       WHERE a.merchant_id = unmoved.merchant_id AND a.payment_kind = '${payment.kind}'
         AND a.payment_id = unmoved.id AND a.attempt_no = 1 AND a.result IS NULL
       RETURNING a.attempt_no
     ), ${moved}
     SELECT FROM moved`,
    { ...bindings, step_no_before: payment.step_no },
  );
}
