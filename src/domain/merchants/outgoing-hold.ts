import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { AnyPayment } from '../payments/payment-store.ts';

/** Why the payouts and reversals of a merchant are not sent. */
export type OutgoingHold = 'its merchant is suspended' | 'the payouts of its merchant are held';

/** The brakes on a merchant's payouts and reversals. */
export interface OutgoingBrakes {
  active: boolean;
  payouts_held: boolean;
}

/** Returns why the payouts and reversals of a merchant may not be sent, or null. */
export function holdOf({ active, payouts_held }: OutgoingBrakes): OutgoingHold | null {
  if (!active) return 'its merchant is suspended';
  return payouts_held ? 'the payouts of its merchant are held' : null;
}

/** Returns why a payment may not be sent because of its merchant, or null. */
export async function outgoingHoldOf(
  database: Database | Transaction,
  { kind, merchant_id }: AnyPayment,
): Promise<OutgoingHold | null> {
  if (kind !== 'payout' && kind !== 'reversal') return null;
  const merchant = await firstRow<OutgoingBrakes>(
    database,
    'SELECT active, payouts_held FROM merchants WHERE id = :merchant_id',
    { merchant_id },
  );
  return holdOf(merchant!);
}

/**
 * Waits until no payout or reversal of the merchant is being claimed and nobody is logging in, and holds
 * up all of these to the end of the transaction. They share this lock: see `merchant_brake()` in the migrations. The lock
 * is a queue, so a brake does not wait for claims that come later, as it would for locks of
 * the merchant's row.
 */
export async function holdUpClaims(trx: Transaction, merchant_id: number): Promise<void> {
  await rows(trx, 'SELECT pg_advisory_xact_lock(claims_lock(:merchant_id))', { merchant_id });
}

/**
 * Lets a log-in wait for a brake that is being committed, and holds up later ones to the end of the
 * transaction. A log-in that is under way when a merchant or an app is suspended has ended, or finds
 * the suspension.
 */
export async function shareBrakes(trx: Transaction, merchant_id: number): Promise<void> {
  await rows(trx, 'SELECT pg_advisory_xact_lock_shared(claims_lock(:merchant_id))', {
    merchant_id,
  });
}

/** The open payouts and reversals of a merchant. */
export interface OpenOutgoing {
  /** Payments that no gateway has. A hold keeps them. */
  waiting: number;
  /** Payments that a gateway may have. The service still asks about them and settles them. */
  maybe_sent: number;
}

/**
 * Counts the payouts and reversals that a hold keeps, and those for which it comes too late.
 * @param limit is how many are looked at; null looks at all
 */
export async function countOpenOutgoing(
  database: Database | Transaction,
  merchant_id: number,
  limit: number | null = null,
): Promise<OpenOutgoing> {
  const counts = await firstRow<OpenOutgoing>(
    database,
    `SELECT count(*) FILTER (WHERE NOT is_maybe_sent) AS waiting,
       count(*) FILTER (WHERE is_maybe_sent) AS maybe_sent
     FROM (
       SELECT 'payout' AS kind, merchant_id, id FROM payouts
       WHERE merchant_id = :merchant_id AND status IN ('pending', 'processing')
       UNION ALL SELECT 'reversal', merchant_id, id FROM reversals
       WHERE merchant_id = :merchant_id AND status IN ('pending', 'processing')
       LIMIT CAST(:limit AS bigint)
     ) AS p, LATERAL (SELECT EXISTS (
       SELECT FROM attempts a WHERE a.merchant_id = p.merchant_id AND a.payment_kind = p.kind
         AND a.payment_id = p.id AND (a.result IS NULL OR a.result NOT IN ('not_taken', 'ruled_out'))
     ) AS is_maybe_sent) AS seen`,
    { merchant_id, limit },
  );
  return counts!;
}
