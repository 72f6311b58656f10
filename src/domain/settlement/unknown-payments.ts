import { validate as isUuid } from 'uuid';
import { firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { supersedeUnknown } from '../discrepancies/supersede-unknown.ts';
import { IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import type { Failed, Succeeded } from '../gateway-results.ts';
import { findAdoption } from './adoptions.ts';
import type { Callback } from './callback-store.ts';
import { nameOf } from './contrary-news.ts';
import { HAS_UNSURE_RECEIPT } from './sources.ts';

/* Callbacks about payments that are not here, as after a restore. */

/**
 * Reports money of a payment that is not here. After a restore this may be all that is left of it.
 * @param reference is our reference at the gateway, if the callback has it
 */
export async function reportUnknownPayment(
  trx: Transaction,
  callback: Callback,
  reference: string | null,
  news: Succeeded,
): Promise<void> {
  const { gateway, merchant_id, payment_kind: kind, payment_id: id } = callback;
  const movement = { trans_id: news.transId, amount_cents: news.amountCents };
  if (await isBookedAnyway(trx, callback, reference, movement)) return;
  const adoption = await findAdoption(trx, { gateway, kind, reference, ...movement });
  if (adoption?.merchant_id === merchant_id) return;
  const isNews = await openDiscrepancy(trx, {
    kind: 'unknown_payment',
    gateway,
    payment: { kind, merchant_id, id },
    ...movement,
    details: {
      callback_id: callback.id,
      reference,
      outcome: news.outcome,
      account: news.account,
      completed_at: news.completedAt?.toISOString() ?? null,
      // Adopted for another merchant.
      ...(adoption && { booked_for: nameOf({ ...adoption, kind: 'adoption' }) }),
    },
  });
  // Without an amount it answers no question about one.
  if (!isNews || movement.amount_cents === null) return;
  const references = reference === null ? [] : [reference];
  const told = { ...movement, gateway, references, payment_kind: kind };
  await supersedeUnknown(trx, told, ['unknown_movement']);
}

/**
 * Reports that the gateway calls a payment failed that is not here, if its money may be adopted, or is a question. Other
 * failures of such payments ask nothing.
 */
export async function reportUnknownFailure(
  trx: Transaction,
  { gateway, merchant_id, payment_kind: kind, payment_id: id, ...callback }: Callback,
  reference: string | null,
  { code, description }: Failed,
): Promise<void> {
  const money = await firstRow<{ name: string }>(
    trx,
    `SELECT 'adoption ' || id AS name FROM adoptions
     WHERE gateway = :gateway AND merchant_id = :merchant_id AND kind = :kind AND taken_back_at IS NULL
       AND coalesce(reference = :reference, true)
     UNION ALL SELECT kind || ' ' || trans_id FROM discrepancies
     WHERE ${IS_UNKNOWN} AND resolved_at IS NULL AND gateway = :gateway AND trans_id IS NOT NULL
       AND (merchant_id = :merchant_id AND payment_id = :id OR details->>'reference' = :reference)
     LIMIT 1`,
    { gateway, merchant_id, kind, id, reference },
  );
  if (!money) return;
  await openDiscrepancy(trx, {
    kind: 'unknown_payment',
    gateway,
    payment: { kind, merchant_id, id },
    details: {
      callback_id: callback.id,
      reference,
      outcome: 'failed',
      code,
      description,
      money: money.name,
    },
  });
}

/** Tells whether the merchant has the money by the payment that has come again, under another id. */
async function isBookedAnyway(
  trx: Transaction,
  { gateway, merchant_id, payment_kind }: Callback,
  reference: string | null,
  movement: { trans_id: string | null; amount_cents: number | null },
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT 1 FROM (
       SELECT m.amount_cents FROM movements m JOIN ${STEP_TABLES[payment_kind].table} p
         ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
         AND coalesce(p.reference = CAST(:uuid AS uuid), true)
       WHERE m.gateway = :gateway AND m.trans_id = :trans_id AND m.merchant_id = :merchant_id
         AND m.payment_kind = :payment_kind AND m.booked <> 'undone'
         -- People may have given another payment this receipt.
         AND NOT ${HAS_UNSURE_RECEIPT}
       UNION ALL
       SELECT m.amount_cents FROM ${STEP_TABLES[payment_kind].table} p JOIN movements m
         ON m.merchant_id = p.merchant_id AND m.payment_kind = :payment_kind AND m.payment_id = p.id
       WHERE p.merchant_id = :merchant_id AND p.reference = CAST(:uuid AS uuid)
         AND m.booked <> 'undone' AND coalesce(m.trans_id = :trans_id, true)) booked
     WHERE coalesce(amount_cents = :amount_cents, true)`,
    { gateway, merchant_id, payment_kind, ...movement, uuid: uuidIn(reference) },
  );
}

function uuidIn(reference: string | null): string | null {
  return reference !== null && isUuid(reference) ? reference : null;
}
