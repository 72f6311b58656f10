import type { Transaction } from '../../connections/database.ts';
import { supersedeDiscrepancies } from '../discrepancies/discrepancy.ts';
import type { Verdict } from '../gateway-results.ts';
import { type AnyPayment, refOf } from '../payments/payment-store.ts';
import { storableText } from '../storable-text.ts';
import { learnedSince } from './movements.ts';
import { COLLECTION_SETTLING } from './settle-collection.ts';
import { PAYOUT_SETTLING } from './settle-payout.ts';
import { RETURN_SETTLING } from './settle-return.ts';
import { REVERSAL_SETTLING } from './settle-reversal.ts';
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
  const settlement = await settleKind(trx, payment, storableVerdict(verdict), cause);
  if (settlement === 'completed' || settlement === 'failed') {
    await supersedeDiscrepancies(trx, refOf(payment), ['overdue', 'never_taken']);
  }
  return settlement;
}

async function settleKind(
  trx: Transaction,
  payment: AnyPayment,
  news: Verdict,
  cause: string,
): Promise<Settlement> {
  switch (payment.kind) {
    case 'collection':
      return applyVerdict(trx, COLLECTION_SETTLING, payment, news, cause);
    case 'payout':
      return applyVerdict(trx, PAYOUT_SETTLING, payment, news, cause);
    case 'reversal':
      return applyVerdict(trx, REVERSAL_SETTLING, payment, news, cause);
    case 'return':
      return applyVerdict(trx, RETURN_SETTLING, payment, news, cause);
  }
}

/** Returns the verdict with texts that PostgreSQL can store, whatever the gateway put there. */
function storableVerdict<V extends Verdict>(verdict: V): V {
  const fields = Object.entries(verdict).map(([name, value]) => [
    name,
    typeof value === 'string' ? storableText(value, MAX_TEXT_LENGTH) : value,
  ]);
  return Object.fromEntries(fields) as V;
}
