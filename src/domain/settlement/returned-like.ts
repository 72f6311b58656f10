import { type Database, rows, type Transaction } from '../../connections/database.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { mayHaveComeAgain } from '../upkeep/restore-mark.ts';
import { sameAccount } from './same-account.ts';
import { HAS_UNSURE_RECEIPT, MOVED_AT } from './sources.ts';

/** The clock of a gateway may be behind by this. */
export const CLOCKS_DIFFER = '5 minutes';

/** Money in the words of a gateway, without the name of a payment here. */
interface UnnamedMoney {
  gateway: string;
  account: string | null;
  amount_cents: number;
  completed_at: Date;
}

/**
 * Finds the failed collections whose late money waits, goes back to the customer, or has gone, and that money which
 * a statement lists only now may be of: nobody has told their receipt, or only people have.
 */
export function returnedLike(
  executor: Database | Transaction,
  money: UnnamedMoney,
): Promise<PaymentRef[]> {
  return rows<PaymentRef>(
    executor,
    `SELECT m.payment_kind AS kind, m.merchant_id, m.payment_id AS id
     FROM movements m JOIN collections c ON c.merchant_id = m.merchant_id AND c.id = m.payment_id
     WHERE m.gateway = :gateway AND m.payment_kind = 'collection'
       AND (m.trans_id IS NULL OR ${HAS_UNSURE_RECEIPT})
       AND m.booked IN ('suspense', 'undoing', 'returning', 'cleared') AND m.amount_cents = :amount_cents
       AND ${MOVED_AT} > CAST(:completed_at AS timestamptz) - interval '${CLOCKS_DIFFER}'
       AND (c.created_at < CAST(:completed_at AS timestamptz) + interval '${CLOCKS_DIFFER}'
         OR ${mayHaveComeAgain('CAST(:completed_at AS timestamptz)', 'c.created_at')})
       AND (CAST(:account AS text) IS NULL OR ${sameAccount('c.payfrom', 'CAST(:account AS text)')})
     ORDER BY m.learned_at LIMIT ${MAX_LIKE}`,
    money,
  );
}

/** More of them are as doubtful as these. */
const MAX_LIKE = 3;
