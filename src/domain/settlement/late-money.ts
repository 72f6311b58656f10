import { hasRow, type Transaction } from '../../connections/database.ts';
import { isDismissed } from '../discrepancies/dismissed-money.ts';
import { IS_THIS_DIRECTION, IS_TOLD, IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import type { Succeeded } from '../gateway-results.ts';
import type { Collection } from '../payments/kinds.ts';
import type { AnyPayment } from '../payments/payment-store.ts';
import { mayHaveComeAgain } from '../upkeep/restore-mark.ts';
import { nameOf } from './contrary-news.ts';
import { moneyOf } from './explain-unknown.ts';
import { IS_BACK, WAS_LISTED } from './gone-back.ts';
import { type Movement, movementsOf } from './movements.ts';
import { ownerOfReceipt, releaseReceipt } from './receipts.ts';
import { CLOCKS_DIFFER } from './returned-like.ts';
import { sameAccount } from './same-account.ts';
import type { News } from './settle.ts';
import { ARE_UNSURE, BEST_SOURCE, HAS_UNSURE_RECEIPT, hasUnsureReceipt } from './sources.ts';

/** SQL: when the finding `e` says that the money has moved. */
const TOLD_AT = "CAST(e->'details'->>'completed_at' AS timestamptz)";

/**
 * SQL: money `d` that no payment explained when it was listed is not known to be of another payment than the
 * collection `c`, and may be what the gateway tells of for it: its amount, its account and its time fit.
 * @param receipt is SQL: the receipt that the gateway tells, or null
 * @param cents is SQL: the amount that it tells
 */
export function mayBeOf(receipt: string, cents: string): string {
  return `d.${IS_UNKNOWN} AND d.gateway = c.gateway
    AND (d.resolved_at IS NULL OR d.resolution IN ('dismissed', 'adopted'))
    -- A file may have told it otherwise before.
    AND (NOT d.evidence_complete AND d.resolved_at IS NULL OR EXISTS (SELECT FROM jsonb_array_elements(d.evidence) AS e
      WHERE CAST(e->>'amount_cents' AS bigint) = ${cents}
        AND (e->'details'->>'account' IS NULL OR ${sameAccount('c.payfrom', "e->'details'->>'account'")})
        AND (coalesce(${TOLD_AT} > c.created_at - interval '${CLOCKS_DIFFER}', true)
          OR ${mayHaveComeAgain(TOLD_AT, 'c.created_at')})))
    AND (${receipt} IS NULL OR d.trans_id IS NULL OR d.trans_id = ${receipt}
      OR d.trans_id = d.details->>'reference'
      -- The receipt of a file may be wrong, and somebody has booked its money.
      OR d.resolved_at IS NOT NULL AND NOT ${IS_TOLD})
    -- Under the receipt that is told it is this money, and nobody has answered for it yet.
    AND NOT coalesce(d.resolved_at IS NULL AND d.trans_id = ${receipt}, false)
    AND NOT EXISTS (SELECT FROM collections other WHERE other.id <> c.id
      AND d.details->>'reference' IN (CAST(other.reference AS text), other.external_ref))`;
}

/**
 * Tells whether late money of a failed collection may have gone back to the customer already, or was booked by hand or
 * adopted: somebody has dismissed it, or it may be money that was listed before it had a payment.
 */
export async function mayBeBack(
  trx: Transaction,
  collection: Collection,
  news: Pick<Succeeded, 'transId' | 'externalRef'>,
): Promise<boolean> {
  if (await isDismissed(trx, moneyOf(collection, news))) return true;
  if (await wasUndone(trx, collection, news.transId, mayBeThis('CAST(:trans_id AS text)')))
    return true;
  return hasRow(
    trx,
    `SELECT 1 FROM collections c, discrepancies d
     WHERE c.merchant_id = :merchant_id AND c.id = :id
       AND (${mayBeOf('CAST(:trans_id AS text)', 'c.amount_cents')} AND ${IS_THIS_DIRECTION}
         OR d.${IS_UNKNOWN} AND d.gateway = c.gateway
           AND :owner IN (d.details->>'booked_for', d.details->>'was_booked_for')
           AND (CAST(:trans_id AS text) IS NULL OR d.trans_id = :trans_id))`,
    {
      ...collection,
      owner: nameOf(collection),
      trans_id: news.transId,
      payment_kind: collection.kind,
    },
  );
}

/**
 * Tells whether late money is told again about which somebody has decided that it is not here: it had gone back under
 * another receipt, or a statement lists it again that had gone back, or is booked by hand. What a file had told was
 * another word.
 */
export async function isKnownAsBack(
  trx: Transaction,
  payment: AnyPayment,
  { cause, transId, externalRef, importId }: News<Succeeded>,
): Promise<boolean> {
  if (payment.kind !== 'collection' || payment.status !== 'failed') return false;
  if (await hasGoneBackAs(trx, payment, transId)) return true;
  if (cause !== 'statement' || !(await wasUndone(trx, payment, transId, IS_THIS))) return false;
  if (await wasUndone(trx, payment, transId, IS_LISTED_BEFORE, importId)) return true;
  return isDismissed(trx, moneyOf(payment, { transId, externalRef }));
}

/** SQL: the movement `m` has the receipt that is told. */
const HAS_RECEIPT = 'm.trans_id = CAST(:trans_id AS text)';
/** SQL: the gateway has told of the money of `m`, which has gone back, and is the money that is told. */
const IS_THIS = `${IS_BACK} AND ${HAS_RECEIPT} AND ${BEST_SOURCE} NOT IN ${ARE_UNSURE}`;
/** SQL: besides, a statement had listed the money before. */
const IS_LISTED_BEFORE = `${IS_THIS} AND ${WAS_LISTED}`;
/**
 * SQL: the money of `m` may have gone back, and may be the money that is told under a receipt: most answers have none, and
 * a file may have told a wrong one. Of the line of a file nobody knows whether people meant that it was wrong, or that the
 * money has gone back.
 */
const mayBeThis = (receipt: string) => `(coalesce(m.trans_id = ${receipt}, true)
      OR ${HAS_UNSURE_RECEIPT} AND ${BEST_SOURCE} NOT IN ${ARE_UNSURE})
    AND (${IS_BACK} OR EXISTS (SELECT FROM discrepancies called
      WHERE called.merchant_id = m.merchant_id AND called.payment_kind = m.payment_kind
        AND called.payment_id = m.payment_id AND called.kind = 'paid_after_failure'
        AND called.resolution = 'undo'))`;

/** SQL: support may have called the money of the movement `m`, of a collection, gone back when it was told before. */
export const WAS_CALLED_BACK = `EXISTS (
    SELECT FROM (VALUES (m.merchant_id, m.payment_kind, m.payment_id, m.id, m.trans_id))
      AS told (merchant_id, payment_kind, payment_id, id, trans_id)
    JOIN movements m ON m.merchant_id = told.merchant_id AND m.payment_kind = told.payment_kind
      AND m.payment_id = told.payment_id AND m.id <> told.id
    WHERE m.payment_kind = 'collection' AND m.booked = 'undone' AND ${mayBeThis('told.trans_id')})`;

/**
 * Tells whether somebody has said that late money of a collection is not here.
 * @param condition is SQL about its movement `m`
 */
function wasUndone(
  trx: Transaction,
  collection: AnyPayment,
  trans_id: string | null,
  condition: string,
  import_id: string | null = null,
): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT FROM movements m WHERE m.merchant_id = :merchant_id AND m.payment_kind = :kind
       AND m.payment_id = :id AND m.booked = 'undone' AND ${condition}`,
    { ...collection, trans_id, import_id },
  );
}

/**
 * Tells whether somebody has decided that the money of this receipt went back under another receipt. That holds while
 * nobody but people, or its likeness, has told that other receipt, and its money is back.
 */
async function hasGoneBackAs(
  trx: Transaction,
  collection: AnyPayment,
  transId: string | null,
): Promise<boolean> {
  const { counted, back } = await countedAsReturned(trx, collection);
  const known = counted.find(({ trans_id }) => trans_id === transId);
  if (!known) return false;
  if (back.some(({ amount_cents }) => amount_cents === known.amount_cents)) return true;
  // It is other money, so its receipt may be booked.
  await releaseReceipt(trx, collection, known);
  return false;
}

/**
 * Finds the money of a collection that went back to the customer under a receipt which the gateway has not told, and the
 * money that somebody has called the same: out of the books, it keeps its own receipt.
 */
export async function countedAsReturned(
  trx: Transaction,
  collection: AnyPayment,
): Promise<Record<'counted' | 'back', Movement[]>> {
  const all = await movementsOf(trx, collection);
  const booked = all.filter((each) => each.booked !== 'undone');
  const back = booked.filter(
    (each) => (each.booked === 'returning' || each.booked === 'cleared') && hasUnsureReceipt(each),
  );
  const counted: Movement[] = [];
  for (const each of all) {
    const { trans_id } = each;
    if (trans_id === null || each.booked !== 'undone') continue;
    if (booked.some((other) => other.trans_id === trans_id)) continue;
    const owner = await ownerOfReceipt(trx, collection, trans_id);
    if (owner?.id === collection.id) counted.push(each);
  }
  return { counted, back };
}
