import { validate as isUuid } from 'uuid';
import { type Database, firstRow, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import { bookedByHandFor, listedUnder } from '../discrepancies/booked-by-hand.ts';
import { OperatorRefusal } from '../errors.ts';
import { PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { paymentsListedAs } from '../reconciliation/candidates.ts';
import { payoutInParts } from '../reconciliation/payouts-in-parts.ts';
import { HAS_GONE_BACK } from '../settlement/gone-back.ts';
import { CLAIMS_RECEIPT } from '../settlement/receipts.ts';
import { returnedLike } from '../settlement/returned-like.ts';
import { bookedInOtherForm, toldLike } from '../support/same-money.ts';
import { receiptOf, referenceOf } from '../text.ts';
import type { OperatorEntry } from './operator-entries.ts';

/* Money that is in the books already, under a name that an entry by hand has. */

/** A reference may be a receipt, or our reference of a payment. */
export function namesOf({ reference }: Pick<OperatorEntry, 'reference'>): string[] {
  return [reference, receiptOf(reference), referenceOf(reference)];
}

/** SQL: payments that have money, by our reference or the gateway's. */
const OWNERS_BY_REFERENCE = PAYMENT_KINDS.map(
  (kind) => `UNION ALL SELECT '${kind}', p.id, p.merchant_id FROM ${STEP_TABLES[kind].table} p
     WHERE (p.external_ref = ANY (:names) OR p.reference = ANY (CAST(:references AS uuid[])))
       AND EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = '${kind}' AND m.payment_id = p.id AND m.booked <> 'undone')`,
).join(' ');

/**
 * Refuses to correct a wallet under a receipt whose money a payment has booked, or that was adopted or booked by hand:
 * that may have come while this waited for a second person. The same entry again is no correction.
 */
export async function refuseOwnedReceipt(
  database: Database | Transaction,
  entry: Pick<OperatorEntry, 'reference'>,
): Promise<void> {
  const { reference } = entry;
  const owner = await firstRow<{ payment_kind: string; payment_id: string; merchant_id: number }>(
    database,
    `SELECT payment_kind, payment_id, merchant_id FROM movements m
     WHERE trans_id = ANY (:names) AND (booked <> 'undone' OR ${HAS_GONE_BACK})
     -- A row that brings its money back, or asks whether it does. A dismissed row may have been of other money.
     UNION ALL SELECT payment_kind, payment_id, merchant_id FROM movements m
     WHERE row_back = ANY (:names) AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.kind = 'money_back'
       AND d.gateway = m.gateway AND d.trans_id = m.row_back AND d.resolution = 'dismissed')
     UNION ALL SELECT 'adoption', id, merchant_id FROM adoptions
     WHERE (receipt = ANY (:names) OR reference = ANY (:names)) AND taken_back_at IS NULL
     UNION ALL SELECT payment_kind, payment_id, merchant_id FROM receipts
     WHERE gateway IN (SELECT gateway FROM adoptions) AND direction IN ('in', 'out')
       AND upper(receipt) = ANY (:names) AND payment_kind = 'adoption'
     ${OWNERS_BY_REFERENCE} LIMIT 1`,
    { names: namesOf(entry), references: namesOf(entry).filter(isUuid) },
  );
  const what = owner
    ? `names the ${owner.payment_kind} ${owner.payment_id} of merchant ${owner.merchant_id}, which has booked its money`
    : ((await whoClaims(database, namesOf(entry))) ?? (await whoseElse(database, namesOf(entry))));
  if (what === null) return;
  throw new OperatorRefusal(
    `${reference} ${what}. If the wallet must be corrected all the same, give another reference`,
  );
}

/** Says for which payment the gateway has told one of these names, while nobody has decided about that. */
async function whoClaims(
  database: Database | Transaction,
  names: readonly string[],
): Promise<string | null> {
  const claimant = await firstRow<{ payment_kind: string; payment_id: string }>(
    database,
    `SELECT payment_kind, payment_id FROM discrepancies
     WHERE ${CLAIMS_RECEIPT} AND trans_id = ANY (:names) LIMIT 1`,
    { names },
  );
  return claimant
    ? `is named by a question about the ${claimant.payment_kind} ${claimant.payment_id}: resolve that first`
    : null;
}

/** Says who else may have listed money, by its names: a merchant for whom it is booked by hand, or a payment. */
async function whoseElse(
  database: Database | Transaction,
  names: readonly string[],
): Promise<string | null> {
  const by_hand = await bookedByHandFor(database, names);
  if (by_hand !== null) return `is money that was booked by hand for merchant ${by_hand}`;
  const other = await bookedInOtherForm(database, names);
  if (other !== null) return `may be the money of ${other}, which a merchant has already`;
  for (const listed of await listedUnder(database, names)) {
    const owner = await mayBeOf(database, listed);
    if (owner !== null) return owner;
  }
  return null;
}

/** Says which payment listed money may be of: one that is open, or whose money waits, or has a receipt that the line lacks. */
async function mayBeOf(
  database: Database | Transaction,
  listed: Awaited<ReturnType<typeof listedUnder>>[number],
): Promise<string | null> {
  const { gateway, moved, has_receipt, is_told, has_owner } = listed;
  if (has_owner) return 'may be the money of the payment that its question names';
  const [late] = moved === 'collection' ? await returnedLike(database, listed) : [];
  if (late) {
    return `may be the money of the collection ${late.id} of merchant ${late.merchant_id} that waits, or goes back to the customer`;
  }
  const money = { ...listed, kind: moved, trans_id: null };
  const alike = await paymentsListedAs(database, gateway, money, { isTold: is_told });
  const waiting = alike.find(
    (each) => !each.is_over && !each.had_money && !each.has_listed_receipt,
  );
  if (waiting) {
    const { is_completed, kind, id, merchant_id } = waiting;
    const [state, way] = is_completed
      ? ['completed', 'it has no receipt']
      : ['open', 'wait for its end'];
    return `may be the money of the ${state} ${kind} ${id} of merchant ${merchant_id}: ${way}`;
  }
  const whole = moved === 'payout' && (await payoutInParts(database, money));
  if (whole) {
    return `may be a part of the payout ${whole.id} of merchant ${whole.merchant_id}: join the parts there`;
  }
  // Two receipts of the gateway's own are two movements.
  const isSure = has_receipt && is_told;
  const told = isSure ? null : await toldLike(database, listed, { hasReceipt: has_receipt });
  return told === null
    ? null
    : `may be the money of ${told}: the same amount, account and time, and ${has_receipt ? 'only a file has told it' : 'it has no receipt'}`;
}
