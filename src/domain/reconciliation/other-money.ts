import { type Database, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { AskedLine } from '../discrepancies/asked-line.ts';
import { IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { IS_BACK } from '../settlement/gone-back.ts';
import type { OwnerOfReceipt } from '../settlement/receipts.ts';
import { CLOCKS_DIFFER } from '../settlement/returned-like.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { accountIn, COMES_BACK_WITHIN, MAX_LOOKED_AT, OUTGOING } from './comes-back.ts';
import { latestMomentOf } from './days-alone.ts';

/* What a row of a statement may bring back besides the money of payments: money that is not known, or not told. */

/**
 * Names what else the line may bring back: adopted payouts, payouts without money, or else money of forgotten ones. Tells
 * whether more than payouts on their way are among them.
 */
export async function othersLike(
  trx: Database | Transaction,
  gateway: string,
  line: AskedLine,
  known: string[],
): Promise<{ others: string[]; areForgotten: boolean }> {
  const adopted = await adoptedLike(trx, gateway, line);
  const without = await withoutMoneyLike(trx, gateway, line);
  const unknown = without.length > 0 ? [] : await unknownLike(trx, gateway, line, known);
  const collected = await collectedAs(trx, gateway, line);
  const others = [...[...adopted, ...collected, ...without].map(nameOf), ...unknown];
  return { others, areForgotten: others.length > without.filter(({ is_open }) => is_open).length };
}

/** Finds the collection that the line has completed: another form of the statement has called it money in. */
function collectedAs(
  trx: Database | Transaction,
  gateway: string,
  { trans_id, reference, amount_cents }: AskedLine,
): Promise<PaymentRef[]> {
  return rows<PaymentRef>(
    trx,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM movements
     WHERE trans_id IN (:trans_id, :reference) AND gateway = :gateway AND payment_kind = 'collection'
       AND amount_cents = :amount_cents AND booked <> 'undone'`,
    { gateway, trans_id, reference, amount_cents },
  );
}

/** SQL: the payment `p` of a kind was sent, and has not ended. */
function isOnItsWay(kind: string): string {
  return `(p.status IN ('pending', 'processing') AND EXISTS (SELECT FROM attempts a
    WHERE a.merchant_id = p.merchant_id AND a.payment_kind = '${kind}' AND a.payment_id = p.id))`;
}

/**
 * Finds the payments of its account, amount and time of which no money has been told, if they are still on their way, or a
 * line lists such money that no payment explains: a bank tells of a transfer that it gives back by its failure alone.
 */
function withoutMoneyLike(
  trx: Database | Transaction,
  gateway: string,
  line: AskedLine,
): Promise<(PaymentRef & { is_open: boolean })[]> {
  const { account, amount_cents, completed_at } = line;
  return rows<PaymentRef & { is_open: boolean }>(
    trx,
    `${OUTGOING.map((kind) => withoutMoney(kind, line)).join(' UNION ALL ')}
     ORDER BY created_at DESC LIMIT ${MAX_LOOKED_AT}`,
    { gateway, account, amount_cents, completed_at, latest: latestMomentOf(line) },
  );
}

/** SQL: the payments of a kind for `withoutMoneyLike`. */
function withoutMoney(kind: (typeof OUTGOING)[number], line: AskedLine): string {
  const { isOfAccount, within } = accountIn(line, `p.${ACCOUNT_COLUMNS[kind]}`);
  return `SELECT '${kind}' AS kind, p.merchant_id, p.id, ${isOnItsWay(kind)} AS is_open, p.created_at
     FROM merchants JOIN ${STEP_TABLES[kind].table} p ON p.merchant_id = merchants.id
     WHERE ${isOfAccount} AND p.gateway = :gateway AND p.amount_cents = :amount_cents
       AND p.created_at BETWEEN CAST(:completed_at AS timestamptz) - interval '${within}'
         AND CAST(:latest AS timestamptz) + interval '${CLOCKS_DIFFER}'
       AND NOT EXISTS (SELECT FROM movements m WHERE m.merchant_id = p.merchant_id
         AND m.payment_kind = '${kind}' AND m.payment_id = p.id AND (m.booked <> 'undone' OR ${IS_BACK}))
       AND (${isOnItsWay(kind)} OR EXISTS (SELECT FROM discrepancies d WHERE d.${IS_UNKNOWN}
         AND d.gateway = :gateway AND coalesce(d.resolution = 'dismissed', true)
         AND ${hasMoneyOut(`CAST(e->'details'->>'completed_at' AS timestamptz) BETWEEN p.created_at - interval '${CLOCKS_DIFFER}'
           AND CAST(:latest AS timestamptz) + interval '${CLOCKS_DIFFER}'`)}))`;
}

/** SQL: a finding `e` of the question `d` is about money that went out, of the line's amount and account. */
function hasMoneyOut(hasMoved: string): string {
  return `(d.amount_cents = :amount_cents OR jsonb_array_length(d.evidence) > 1)
    AND EXISTS (SELECT FROM jsonb_array_elements(d.evidence) AS e
      WHERE coalesce(d.payment_kind, e->'details'->>'kind') <> 'collection'
        AND CAST(e->>'amount_cents' AS bigint) = :amount_cents
        AND coalesce(${sameAccount("(e->'details'->>'account')", 'CAST(:account AS text)')}, true)
        AND ${hasMoved})`;
}

/** SQL: the money of a question may have moved before the line, and not too long before. Nobody may have told its time. */
function mayHaveMoved(details: string, opened_at: string): string {
  return `coalesce(CAST(${details}->>'completed_at' AS timestamptz)
      BETWEEN CAST(:completed_at AS timestamptz) - interval '${COMES_BACK_WITHIN.whole}'
        AND CAST(:latest AS timestamptz) + interval '${CLOCKS_DIFFER}',
    ${opened_at} > CAST(:completed_at AS timestamptz) - interval '${COMES_BACK_WITHIN.whole}')`;
}

/**
 * Finds the money of its account, amount and time that no payment explains: after a restore it is of payouts that the
 * database has forgotten. Who has dismissed it may have booked it by hand.
 * @param known are the names of the payments that fit: the money may be of one of them
 */
async function unknownLike(
  trx: Database | Transaction,
  gateway: string,
  line: AskedLine,
  known: string[],
): Promise<string[]> {
  const { account, amount_cents, completed_at } = line;
  const found = await rows<{ name: string }>(
    trx,
    `SELECT DISTINCT d.kind || ' ' || d.trans_id AS name FROM discrepancies d
     WHERE d.${IS_UNKNOWN} AND coalesce(d.resolution = 'dismissed', true)
       AND d.gateway = :gateway AND d.trans_id IS NOT NULL
       AND ${hasMoneyOut(mayHaveMoved("(e->'details')", 'd.opened_at'))}
       AND NOT coalesce(d.details->'candidates' ?| CAST(:known AS text[]), false)
     ORDER BY name LIMIT ${MAX_LOOKED_AT}`,
    { gateway, account, amount_cents, completed_at, latest: latestMomentOf(line), known },
  );
  return found.map(({ name }) => name);
}

/** Finds the adopted payouts that the line may bring back: of its account, amount and time. Or it is adopted itself. */
function adoptedLike(
  trx: Database | Transaction,
  gateway: string,
  line: AskedLine,
): Promise<OwnerOfReceipt[]> {
  return rows<OwnerOfReceipt>(
    trx,
    `SELECT 'adoption' AS kind, a.merchant_id, a.id FROM adoptions a
     JOIN discrepancies d ON d.id = a.discrepancy_id
     WHERE a.gateway = :gateway AND a.amount_cents = :amount_cents
       -- Another form of the file may have called the row money in.
       AND (a.kind = 'payout' OR a.receipt IN (:trans_id, :reference))
       AND a.taken_back_at IS NULL
       AND coalesce(${sameAccount("d.details->>'account'", 'CAST(:account AS text)')}, true)
       AND ${mayHaveMoved('d.details', 'd.opened_at')}
     ORDER BY a.adopted_at DESC LIMIT ${MAX_LOOKED_AT}`,
    { ...line, gateway, latest: latestMomentOf(line) },
  );
}
