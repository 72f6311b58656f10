import type { Transaction } from '../../connections/database.ts';
import { supersedeDiscrepancies } from '../discrepancies/discrepancy.ts';
import type { Verdict } from '../gateway-results.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { storableText } from '../storable-text.ts';
import { learnedSince } from './movements.ts';
import type { Settlement } from './settlement.ts';
import { applyVerdict } from './verdict.ts';

const MAX_TEXT_LENGTH = 500;

/**
 * Applies a gateway's verdict to a payment that this transaction has locked.
 * @param heardAt is the time at which the verdict arrived or was asked for, if that was before
 * now. A failure heard before the gateway told of a success is overtaken, not contrary.
 */
export async function settle(
  trx: Transaction,
  payment: AnyPayment,
  verdict: Verdict,
  cause: string,
  heardAt?: Date,
): Promise<Settlement> {
  if (verdict.outcome === 'failed' && heardAt && (await learnedSince(trx, payment, heardAt))) {
    return 'repeat';
  }
  const settlement = await applyVerdict(trx, payment, storableVerdict(verdict), cause);
  if (settlement === 'completed' || settlement === 'failed') {
    await supersedeDiscrepancies(trx, refOf(payment), ['overdue', 'never_taken']);
  }
  return settlement;
}

/** Returns the verdict with texts that PostgreSQL can store, whatever the gateway put there. */
function storableVerdict<V extends Verdict>(verdict: V): V {
  const fields = Object.entries(verdict).map(([name, value]) => [
    name,
    typeof value === 'string' ? storableText(value, MAX_TEXT_LENGTH) : value,
  ]);
  return Object.fromEntries(fields) as V;
}
