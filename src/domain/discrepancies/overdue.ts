import { v7 as uuidv7 } from 'uuid';
import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { isOverdue, PAYMENT_KINDS } from '../payments/payment-summary.ts';

/** Payments of one kind that one round puts on the support list. */
const OVERDUE_BATCH = 500;

/**
 * Puts open payments that are past their deadline on the support list, whether or not a job runs
 * for them. Each comes there once, and again if it is still open and later news had settled the question. It does not
 * come there while another question about it is open. Several dispatchers may do this at once.
 * @returns how many it put there.
 */
export async function openOverdue(database: Database, batch = OVERDUE_BATCH): Promise<number> {
  let opened = 0;
  for (const kind of PAYMENT_KINDS) opened += await openBatch(database, kind, batch);
  return opened;
}

async function openBatch(
  database: Database,
  kind: GatewayPaymentKind,
  batch: number,
): Promise<number> {
  const found = await rows(
    database,
    // Locks the payments, so that none of them ends before its discrepancy is there to supersede.
    `WITH late AS (
       SELECT t.merchant_id, t.id, t.gateway, t.amount_cents,
         jsonb_build_object('deadline_at', t.deadline_at) AS details
       FROM ${STEP_TABLES[kind].table} t
       WHERE ${isOverdue('t')}
         AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = t.merchant_id
           AND d.payment_kind = :kind AND d.payment_id = t.id
           AND (d.kind = 'overdue' AND d.resolution IS DISTINCT FROM 'superseded'
             OR d.resolved_at IS NULL))
       ORDER BY t.deadline_at LIMIT :batch FOR UPDATE SKIP LOCKED
     )
     INSERT INTO discrepancies (id, kind, gateway, merchant_id, payment_kind, payment_id,
       amount_cents, details, evidence)
     SELECT (CAST(:ids AS uuid[]))[row_number() OVER ()], 'overdue', gateway, merchant_id, :kind, id,
       amount_cents, details, jsonb_build_array(jsonb_build_object('movement_id', NULL,
         'amount_cents', amount_cents, 'details', details, 'decided', false, 'found_at', now()))
     FROM late ON CONFLICT (gateway, merchant_id, payment_kind, payment_id, kind, trans_id)
       DO UPDATE SET opened_at = now(), resolved_at = NULL, resolution = NULL
       WHERE discrepancies.resolution = 'superseded'
     RETURNING id`,
    { kind, batch, ids: Array.from({ length: batch }, () => uuidv7()) },
  );
  return found.length;
}
