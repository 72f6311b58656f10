import { type Database, rows, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { HAS_UNSURE_RECEIPT } from '../settlement/sources.ts';
import { LONGEST, latestOf, PAID_WITHIN } from './candidates.ts';
import { latestMomentOf } from './days-alone.ts';

/** A gateway may pay a payout in several parts, each with its own receipt. Nobody joins more of them than this. */
export const MAX_PARTS = 5;
/** Bounds what is added up. */
const MAX_OTHERS = 10;

/** Money that went out and names no payment. */
interface Part {
  gateway: string;
  account: string | null;
  amount_cents: number;
  discrepancy_id: string;
  completed_at: Date;
}

/** SQL: this time is around the line's. */
const isNear = (
  moment: string,
) => `${moment} BETWEEN CAST(:completed_at AS timestamptz) - :before_minutes * interval '1 minute'
  AND CAST(:latest AS timestamptz) + :before_minutes * interval '1 minute'`;

/** SQL: the amounts of the other lines of the account and time, in cents, whatever was decided about them. */
const OTHERS = `SELECT DISTINCT ON (d.trans_id) d.amount_cents FROM discrepancies d
  WHERE d.kind = 'unknown_movement' AND d.gateway = :gateway AND d.details->>'kind' = 'payout'
    AND d.id <> CAST(:discrepancy_id AS uuid) AND d.amount_cents < p.amount_cents
    AND ${sameAccount("(d.details->>'account')", 'p.payto')} AND ${isNear("CAST(d.details->>'completed_at' AS timestamptz)")}
  LIMIT :others`;

/**
 * Finds a payout without a sure receipt that a line may be a part of: the line and others of its account and time come to
 * the amount of the payout.
 */
export async function payoutInParts(
  database: Database | Transaction,
  { amount_cents, completed_at, ...part }: Part,
): Promise<PaymentRef | null> {
  const alike = await rows<PaymentRef & { amount_cents: number; others: number[] }>(
    database,
    `SELECT 'payout' AS kind, p.merchant_id, p.id, p.amount_cents, ARRAY(${OTHERS}) AS others
     FROM merchants JOIN payouts p ON p.merchant_id = merchants.id
       AND ${sameAccount('p.payto', 'CAST(:account AS text)')}
       AND ${latestOf('payout')} > CAST(:completed_at AS timestamptz) - :before_minutes * interval '1 minute'
       AND p.created_at BETWEEN CAST(:completed_at AS timestamptz) - interval '${LONGEST}'
         AND CAST(:latest AS timestamptz) + :after_minutes * interval '1 minute'
     WHERE p.gateway = :gateway AND p.amount_cents > :amount_cents
       AND NOT (p.status = 'failed' AND p.refund_posted_at IS NOT NULL)
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id AND m.payment_kind = 'payout'
         AND m.payment_id = p.id AND m.booked <> 'undone' AND m.trans_id IS NOT NULL AND NOT ${HAS_UNSURE_RECEIPT})
     ORDER BY p.created_at DESC LIMIT :others`,
    {
      ...{ ...PAID_WITHIN, ...part, amount_cents, completed_at, others: MAX_OTHERS },
      latest: latestMomentOf({ completed_at }),
    },
  );
  const whole = alike.find((payout) =>
    addUpTo(payout.amount_cents - amount_cents, payout.others.map(Number), MAX_PARTS - 1),
  );
  return whole ? { kind: 'payout', merchant_id: whole.merchant_id, id: whole.id } : null;
}

/** Tells whether some of these amounts come to a sum. @param most is the greatest number of them */
function addUpTo(sumCents: number, [first, ...others]: number[], most: number): boolean {
  if (sumCents === 0) return true;
  if (sumCents < 0 || most === 0 || first === undefined) return false;
  return addUpTo(sumCents - first, others, most - 1) || addUpTo(sumCents, others, most);
}
