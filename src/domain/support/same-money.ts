import { type Database, firstRow, hasRow, type Transaction } from '../../connections/database.ts';
import { merchantByHand, namesOfQuestion } from '../discrepancies/booked-by-hand.ts';
import { IS_TOLD, IS_UNKNOWN } from '../discrepancies/unknown-money.ts';
import { plainName, plainNameOf } from '../plain-name.ts';
import { latestMoment } from '../reconciliation/days-alone.ts';
import { IS_GIVEN } from '../reconciliation/statement.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { ARE_UNSURE, BEST_SOURCE, MOVED_AT } from '../settlement/sources.ts';
import type { Found } from './refuse-adoption.ts';

/* Money that may be the same as money which is to be adopted, under another receipt, or that may have given it back. */

/** SQL: the gateway's own statement lists the adopted receipt `a`. */
const IS_LISTED_SINCE = `EXISTS (SELECT FROM statement_imports i JOIN statement_lines l ON l.import_id = i.id
  WHERE i.gateway = a.gateway AND ${IS_GIVEN} AND l.trans_id = a.receipt)`;

/** A line without a receipt may be by another clock. */
const SAME_HALF_HOUR_S = 1_800;
const SAME_MINUTE_S = 60;
const SAME_MINUTE = `interval '${SAME_MINUTE_S} seconds'`;
const TIME_OF = (question: string) => `CAST(${question}.details->>'completed_at' AS timestamptz)`;

/**
 * Finds adopted money that may be this money under another receipt: a file may have a wrong row. If the gateway itself has
 * told both receipts, or files alone, they are two movements. Money that shows no account may be anybody's.
 */
export async function adoptedLike(
  executor: Database | Transaction,
  { gateway, moved, account, amount_cents, completed_at, is_told }: Found,
): Promise<string | null> {
  const twin = await firstRow<{ receipt: string }>(
    executor,
    `SELECT a.receipt FROM adoptions a JOIN discrepancies d ON d.id = a.discrepancy_id
     WHERE a.gateway = :gateway AND a.kind = :moved AND a.amount_cents = :amount_cents
       AND a.taken_back_at IS NULL AND (${IS_TOLD} OR ${IS_LISTED_SINCE}) <> :is_told
       AND ${sameAccount("d.details->>'account'", ':account')}
       AND abs(extract(epoch FROM CAST(d.details->>'completed_at' AS timestamptz)
         - CAST(:completed_at AS timestamptz))) < ${SAME_MINUTE_S}
     LIMIT 1`,
    { gateway, moved, account, amount_cents, completed_at, is_told },
  );
  return twin?.receipt ?? null;
}

/**
 * Finds money that the gateway itself has told, and that a file may list under a wrong receipt: money of a payment, or
 * of a question. One that was dismissed may be booked by hand.
 */
export async function toldLike(
  executor: Database | Transaction,
  found: Pick<
    Found,
    'discrepancy_id' | 'gateway' | 'moved' | 'account' | 'amount_cents' | 'completed_at'
  >,
  { hasReceipt }: { hasReceipt: boolean },
): Promise<string | null> {
  const told = await firstRow<{ trans_id: string }>(
    executor,
    `SELECT m.trans_id FROM movements m LEFT JOIN collections c ON c.merchant_id = m.merchant_id AND c.id = m.payment_id
       LEFT JOIN payouts p ON p.merchant_id = m.merchant_id AND p.id = m.payment_id
     WHERE m.gateway = :gateway AND (m.payment_kind = 'collection') = (:moved = 'collection')
       AND m.amount_cents = :amount_cents AND m.trans_id IS NOT NULL AND m.booked <> 'undone'
       AND ${BEST_SOURCE} NOT IN ${ARE_UNSURE}
       -- What shows neither a receipt nor an account may be anybody's.
       AND coalesce(${sameAccount('coalesce(m.account, c.payfrom, p.payto)', 'CAST(:account AS text)')}, NOT :hasReceipt)
       AND ${MOVED_AT} BETWEEN CAST(:completed_at AS timestamptz) - :apart * interval '1 second'
         AND ${latestMoment('CAST(:completed_at AS timestamptz)')} + :apart * interval '1 second'
     UNION ALL SELECT trans_id FROM discrepancies d
     WHERE ${IS_UNKNOWN} AND (resolved_at IS NULL
         -- It may be booked by hand. The other form of this line, without a receipt, is dismissed first.
         OR resolution = 'dismissed' AND trans_id IS DISTINCT FROM details->>'reference')
       AND id <> :discrepancy_id AND gateway = :gateway
       AND amount_cents = :amount_cents AND trans_id IS NOT NULL
       AND coalesce(payment_kind, details->>'kind') = :moved AND ${IS_TOLD}
       AND ${sameAccount("details->>'account'", ':account')}
       AND abs(extract(epoch FROM CAST(details->>'completed_at' AS timestamptz)
         - CAST(:completed_at AS timestamptz))) < ${SAME_MINUTE_S}
     LIMIT 1`,
    { ...found, hasReceipt, apart: hasReceipt ? SAME_MINUTE_S : SAME_HALF_HOUR_S },
  );
  return told?.trans_id ?? null;
}

const hasNoReceipt = (question: string) =>
  `coalesce(${question}.trans_id = ${question}.details->>'reference', false)`;

/**
 * SQL: the questions `d` and `n` may be about the same money, once with its receipt and once with its reference alone, or
 * twice with its reference in other letters: two forms of a file have the same amount, account and minute, or one of them
 * shows no account, or the day alone.
 */
const IS_OTHER_FORM = `n.${IS_UNKNOWN} AND n.id <> d.id AND n.gateway = d.gateway AND n.amount_cents = d.amount_cents
  AND coalesce(n.payment_kind, n.details->>'kind') = coalesce(d.payment_kind, d.details->>'kind')
  AND (${hasNoReceipt('n')} <> ${hasNoReceipt('d')} OR ${hasNoReceipt('n')} AND upper(n.trans_id) = upper(d.trans_id))
  AND coalesce(${sameAccount("n.details->>'account'", "d.details->>'account'")}, true)
  AND ${TIME_OF('n')} < ${latestMoment(TIME_OF('d'))} + ${SAME_MINUTE}
  AND ${TIME_OF('d')} < ${latestMoment(TIME_OF('n'))} + ${SAME_MINUTE}`;

/** SQL: the question `n` is about money that is in the books of a merchant. */
const IS_BOOKED = `(n.resolution = 'adopted'
  OR n.resolution = 'dismissed' AND ${merchantByHand(namesOfQuestion('n'))} IS NOT NULL)`;

/** Tells whether another form of a file lists money that is a question, too, or in the books of a merchant. */
export function isListedTwice(
  executor: Database | Transaction,
  { discrepancy_id }: Pick<Found, 'discrepancy_id'>,
): Promise<boolean> {
  return hasRow(
    executor,
    `SELECT 1 FROM discrepancies d JOIN discrepancies n ON ${IS_OTHER_FORM}
     WHERE d.id = :discrepancy_id AND (n.resolved_at IS NULL OR ${IS_BOOKED})`,
    { discrepancy_id },
  );
}

/** Finds money in the books of a merchant that another form of a file lists under one of these names. */
export async function bookedInOtherForm(
  executor: Database | Transaction,
  names: readonly string[],
): Promise<string | null> {
  const found = await firstRow<{ trans_id: string }>(
    executor,
    `SELECT n.trans_id FROM discrepancies d JOIN discrepancies n ON ${IS_OTHER_FORM}
     WHERE d.${IS_UNKNOWN} AND ${plainNameOf('d.trans_id')} = ANY (:names) AND ${IS_BOOKED} LIMIT 1`,
    { names: names.map(plainName).filter((name) => name !== '') },
  );
  return found?.trans_id ?? null;
}

/** Finds an open question about a row that reverses this money: of the same amount and account, and later. */
export async function givenBackAs(
  executor: Database | Transaction,
  { gateway, account, amount_cents, completed_at, moved }: Found,
): Promise<string | null> {
  const back = await firstRow<{ trans_id: string }>(
    executor,
    `SELECT trans_id FROM discrepancies
     WHERE resolved_at IS NULL AND gateway = :gateway AND amount_cents = :amount_cents
       AND CASE WHEN :moved <> 'collection'
         THEN kind = 'money_back' OR kind = 'failure_after_success' AND details ? 'has_come_back'
         ELSE ${IS_UNKNOWN} AND details->>'kind' = 'reversal' END
       AND coalesce(${sameAccount("details->>'account'", ':account')}, true)
       AND coalesce(CAST(details->>'completed_at' AS timestamptz)
         >= CAST(:completed_at AS timestamptz), true)
     ORDER BY id LIMIT 1`,
    { gateway, account, amount_cents, completed_at, moved },
  );
  return back?.trans_id ?? null;
}
