import { v7 as uuidv7 } from 'uuid';
import { type Database, hasRow } from '../../connections/database.ts';
import { isAskedSince } from '../discrepancies/dismissed-money.ts';
import { mayBeUnexplained } from '../discrepancies/unknown-money.ts';
import type { ParserOf, Succeeded } from '../gateway-results.ts';
import { journalOfMoved, linesBinding } from '../ledger/post-journal.ts';
import { collectedLines, paidOutLines } from '../payments/journals.ts';
import type { Collection, Payout } from '../payments/kinds.ts';
import { isOpen } from '../payments/payment.ts';
import {
  type AnyPayment,
  findPayment,
  lockedByKey,
  withPaymentLocked,
} from '../payments/payment-store.ts';
import { moving } from '../payments/transition.ts';
import { PAID_WITHIN } from '../reconciliation/candidates.ts';
import { movedSince } from '../upkeep/restore-mark.ts';
import { eventBindings, firstEvent } from '../webhooks/create-event.ts';
import type { Callback } from './callback-store.ts';
import { applyStored, type CallbackResult, contentOf } from './drain-callbacks.ts';
import { completion } from './end-payment.ts';
import { INSERT_MOVEMENT, mismatchOf, movementBindings } from './movements.ts';
import { claimed } from './receipts.ts';
import type { News } from './settle.ts';

/**
 * Applies a stored callback to its payment, once, together with every other one of the payment
 * that is stored: a queue may hand out a failure and the success after it in any order.
 * @returns the effect of this callback. 'ignored' when another job has just applied it.
 */
export async function processCallback(
  database: Database,
  callback: Callback,
  parserOf: ParserOf,
): Promise<CallbackResult> {
  if (await completeAtOnce(database, callback, parserOf)) return 'completed';
  const { id, payment_kind: kind, merchant_id, payment_id } = callback;
  const ref = { kind, merchant_id, id: payment_id };
  // The payment's lock comes first, so two jobs of one payment take turns.
  const applied = await withPaymentLocked(database, ref, (trx) => applyStored(trx, ref, parserOf));
  const own = applied.get(id) ?? { result: 'ignored' as const };
  if ('error' in own) throw own.error;
  return own.result;
}

/**
 * Completes a payment by its callback in one statement, if it is the common case: the payment is
 * open and in time, no money of it is known, and the callback tells of just what was asked for,
 * under a receipt that is nobody else's. A stored failure of the payment does not matter: it was
 * not applied, and after a success it is overtaken.
 * @returns false in any other case. Then nothing has changed.
 */
export async function completeAtOnce(
  database: Database,
  callback: Callback,
  parserOf: ParserOf,
): Promise<boolean> {
  const { payment_kind: kind, merchant_id, payment_id: id } = callback;
  const payment = await findPayment(database, { kind, merchant_id, id });
  if (payment?.kind !== 'collection' && payment?.kind !== 'payout') return false;
  const news = successIn(callback, payment, parserOf);
  return news !== null && complete(database, callback, payment, news);
}

/** Returns what a callback tells, if it is the success that is expected. */
function successIn(
  callback: Callback,
  payment: Collection | Payout,
  parserOf: ParserOf,
): News<Succeeded> | null {
  const { content } = contentOf(callback, parserOf);
  if (content?.verdict.outcome !== 'succeeded') return null;
  const { reference, verdict } = content;
  const isExpected =
    isOpen(payment) &&
    (reference === null || reference === payment.reference) &&
    verdict.transId !== null &&
    !verdict.mustConfirm &&
    verdict.chargeCents === undefined &&
    (verdict.externalRef === null || verdict.externalRef === payment.external_ref) &&
    mismatchOf(payment, verdict) === null;
  return isExpected ? { ...verdict, cause: 'callback', heardAt: callback.received_at } : null;
}

function complete(
  database: Database,
  callback: Callback,
  payment: Collection | Payout,
  news: News<Succeeded>,
): Promise<boolean> {
  const { kind } = payment;
  const change = completion(payment, news);
  const { moved, bindings } = moving(payment, change, 'EXISTS (SELECT FROM movement)');
  const completed = { ...payment, ...change.set, status: change.to };
  const lines =
    completed.kind === 'collection' ? collectedLines(completed) : paidOutLines(completed);
  return hasRow(
    database,
    `WITH ${lockedByKey(kind)}, ${STORED}, ${EXPECTED}, ${claimed('FROM expected')}, movement AS (
       ${INSERT_MOVEMENT} FROM claimed RETURNING movements.id
     ), ${moved}, ${FINISHED}, ${firstEvent(kind)}, ${journalOfMoved(kind, 'completed')}
     SELECT FROM moved`,
    {
      ...movementBindings(payment, news, 'settled'),
      ...eventBindings(completed),
      ...bindings,
      ...seen(payment),
      callback_id: callback.id,
      journal_id: uuidv7(),
      lines: linesBinding(lines),
    },
  );
}

/** Values that were read. The statement compares them with the locked row. */
function seen({ step_no, external_ref }: AnyPayment) {
  return { seen_step_no: step_no, seen_external_ref: external_ref };
}

/** Locks the callback. Only the update at the end would lock it after the wallet. */
const STORED = `stored AS (
    SELECT FROM callbacks
    WHERE merchant_id = :merchant_id AND id = :callback_id AND status = 'stored'
    FOR UPDATE SKIP LOCKED
  )`;

/** Clocks may differ by as much. */
const FIRST_MOMENT = `locked.created_at - interval '${PAID_WITHIN.after_minutes} minutes'`;

/**
 * The conditions of the common case. Another transaction that books money of an open payment also
 * ends or parks the payment. The locked row shows that, even where the movements do not yet. Money
 * that nobody could explain may be this money, so then the careful way decides. It also closes a
 * discrepancy of the payment that the success settles.
 */
const EXPECTED = `expected AS (
    SELECT FROM locked
    WHERE status = :from_status AND step_no = :seen_step_no AND parked_reason IS NULL
      AND deadline_at > now()
      AND external_ref IS NOT DISTINCT FROM :seen_external_ref
      AND EXISTS (SELECT FROM stored)
      AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = :merchant_id
        AND m.payment_kind = :kind AND m.payment_id = :id)
      AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = :merchant_id
        AND d.payment_kind = :kind AND d.payment_id = :id)
      AND NOT EXISTS (SELECT FROM discrepancies WHERE ${mayBeUnexplained(':reference, :seen_external_ref')})
      AND NOT ${isAskedSince(movedSince(FIRST_MOMENT, 'locked.created_at'), { gateway: 'locked.gateway', amount_cents: 'locked.amount_cents' })}
  )`;

const FINISHED = `finished AS (
    UPDATE callbacks c SET status = 'processed', outcome = 'succeeded', next_step = NULL, next_step_at = NULL,
      step_no = c.step_no + 1, step_swept_at = NULL, parked_reason = NULL
    FROM moved WHERE c.merchant_id = :merchant_id AND c.id = :callback_id
  )`;
