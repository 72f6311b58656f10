import { validate as isUuid } from 'uuid';
import { hasRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { openDiscrepancy } from '../discrepancies/discrepancy.ts';
import { supersedeUnknown } from '../discrepancies/unknown-movement.ts';
import type { Succeeded } from '../gateway-results.ts';
import type { Callback } from './callback-store.ts';

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
    },
  });
  if (!isNews || !reference) return;
  const told = { ...movement, gateway, reference, payment_kind: kind };
  await supersedeUnknown(trx, told, ['unknown_movement']);
}

/** Tells whether the money is booked with the payment that has come again, under another id. */
async function isBookedAnyway(
  trx: Transaction,
  { merchant_id, payment_kind }: Callback,
  reference: string | null,
  movement: { trans_id: string | null; amount_cents: number | null },
): Promise<boolean> {
  if (reference === null || !isUuid(reference)) return false;
  return hasRow(
    trx,
    `SELECT 1 FROM ${STEP_TABLES[payment_kind].table} p JOIN movements m
       ON m.merchant_id = p.merchant_id AND m.payment_kind = :payment_kind AND m.payment_id = p.id
     WHERE p.merchant_id = :merchant_id AND p.reference = CAST(:reference AS uuid)
       AND coalesce(m.trans_id = :trans_id, true)
       AND coalesce(m.amount_cents = :amount_cents, true)`,
    { merchant_id, payment_kind, reference, ...movement },
  );
}
