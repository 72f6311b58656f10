import { hasRow, type Transaction } from '../../connections/database.ts';
import { isDismissed } from '../discrepancies/unknown-movement.ts';
import type { Succeeded } from '../gateway-results.ts';
import type { Collection } from '../payments/kinds.ts';
import { moneyOf, nameOf } from './contrary-news.ts';
import { sameAccount } from './same-account.ts';

/** The clock of a gateway may be behind by this. */
const CLOCKS_DIFFER = '5 minutes';

/**
 * Tells whether late money of a failed collection may have gone back to the customer already, or was booked by hand:
 * somebody has dismissed it, or it may be money that names nobody.
 */
export async function mayBeBack(
  trx: Transaction,
  collection: Collection,
  news: Succeeded,
): Promise<boolean> {
  if (await isDismissed(trx, moneyOf(collection, news))) return true;
  if (news.transId !== null) return false;
  return hasRow(
    trx,
    `SELECT 1 FROM discrepancies
     WHERE kind = 'unknown_movement' AND details->>'reference' IS NULL AND gateway = :gateway
       AND amount_cents = :amount_cents AND details->>'kind' = 'collection'
       AND (resolved_at IS NULL OR resolution = 'dismissed')
       AND (details->>'account' IS NULL OR ${sameAccount(':payfrom', "details->>'account'")})
       AND CAST(details->>'completed_at' AS timestamptz)
         > CAST(:created_at AS timestamptz) - interval '${CLOCKS_DIFFER}'
     UNION ALL SELECT 1 FROM discrepancies
     WHERE kind IN ('unknown_movement', 'unknown_payment') AND gateway = :gateway
       AND details->>'booked_for' = :owner`,
    { ...collection, owner: nameOf(collection) },
  );
}
