import { type Database, hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { latestMoment } from '../reconciliation/days-alone.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { movedSince } from '../upkeep/restore-mark.ts';
import { ALSO_FOR, IS_BY_HAND, isOurs, merchantByHand, namesOfQuestion } from './booked-by-hand.ts';
import {
  IS_RECEIPT,
  IS_THIS_DIRECTION,
  IS_UNKNOWN,
  KEEPING_DECISION,
  type MoneyOfPayment,
} from './unknown-money.ts';

/** SQL: somebody has dismissed the money, now or before it was a question again. */
const WAS_DISMISSED =
  "(resolution = 'dismissed' OR details->'decided_before'->>'as' = 'dismissed')";

/**
 * SQL: it is this money, and somebody has dismissed it, or booked it by hand. A reference counts where one of the two
 * has no receipt.
 */
const IS_DISMISSED_MONEY = `${IS_UNKNOWN} AND gateway = :gateway
  AND (${IS_RECEIPT} OR details->>'reference' = ANY (:references)
    AND (CAST(:trans_id AS text) IS NULL OR trans_id IS NULL OR trans_id = details->>'reference'))
  AND (resolved_at IS NULL OR resolution = 'dismissed')
  AND (${WAS_DISMISSED} OR ${IS_BY_HAND})
  AND ${IS_THIS_DIRECTION}`;

/** Tells whether somebody has dismissed money, because it was booked by hand, or sent back, or has booked it by hand. */
export function isDismissed(trx: Transaction, money: MoneyOfPayment): Promise<boolean> {
  return hasRow(trx, `SELECT 1 FROM discrepancies WHERE ${IS_DISMISSED_MONEY}`, money);
}

/**
 * Asks about money that somebody has dismissed, or booked by hand, because a payment has it now: it may have been
 * booked twice, or sent back.
 * @param owner is the name of the payment
 */
export async function askAboutDismissed(
  trx: Transaction,
  money: MoneyOfPayment,
  owner: string,
): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET
       opened_at = CASE WHEN resolved_at IS NULL THEN opened_at ELSE now() END,
       details = (${KEEPING_DECISION}) - 'by_likeness' || jsonb_build_object('booked_for', CAST(:owner AS text)),
       resolved_at = NULL, resolution = NULL, resolved_by = NULL, resolved_reason = NULL
     WHERE ${IS_DISMISSED_MONEY}
       -- Somebody has answered for this payment already.
       AND NOT coalesce(resolution = 'dismissed' AND details->>'booked_for' = :owner, false)`,
    { ...money, owner },
  );
}

/** Money that a payment has got, and when it may have moved. */
export interface MovedMoney {
  gateway: string;
  kind: GatewayPaymentKind;
  account: string;
  amount_cents: number;
  /** Null: the gateway has told none. Otherwise money of another receipt is other money. */
  receipt: string | null;
  since: Date;
  until: Date;
  /** When its payment was asked for, perhaps once more after a restore. */
  created_at: Date;
}

/** SQL: the first moment at which it may have moved. */
const SINCE = movedSince('CAST(:since AS timestamptz)', 'CAST(:created_at AS timestamptz)');

/** SQL: the lines of the question have a reference, and no receipt. */
const HAS_NO_RECEIPT = "coalesce(d.trans_id = d.details->>'reference', false)";

/** SQL: the question `d` was open at this moment or later. An index has the same expression. */
const wasOpenSince = (moment: string) => `coalesce(d.resolved_at, 'infinity') > ${moment}`;

/** SQL: people were asked since this moment about as much money without a receipt: it may be any payment's. */
export function isAskedSince(
  moment: string,
  { gateway, amount_cents }: Record<'gateway' | 'amount_cents', string>,
): string {
  return `EXISTS (SELECT FROM discrepancies d WHERE d.kind = 'unknown_movement' AND d.gateway = ${gateway}
    AND ${wasOpenSince(moment)} AND ${HAS_NO_RECEIPT} AND d.resolution IS DISTINCT FROM 'superseded'
    AND EXISTS (SELECT FROM jsonb_array_elements(d.evidence) AS e WHERE CAST(e->>'amount_cents' AS bigint) = ${amount_cents}))`;
}

/**
 * Asks about money that names no payment, and that somebody has dismissed, or booked by hand: a
 * payment of its account, amount and time has completed, and may have got it, as one of the two has no receipt. If
 * another payment is asked about already, the question names both.
 * @param owner is the name of the payment
 */
export async function askAboutDismissedLike(
  trx: Transaction,
  money: MovedMoney,
  owner: string,
): Promise<void> {
  await rows(
    trx,
    `WITH alike AS MATERIALIZED (SELECT id FROM discrepancies d
     WHERE kind = 'unknown_movement' AND gateway = :gateway AND (CAST(:receipt AS text) IS NULL OR ${HAS_NO_RECEIPT})
       -- Nobody has decided before the money moved.
       AND (resolution = 'dismissed' OR resolved_at IS NULL) AND ${wasOpenSince(SINCE)}
       AND EXISTS (SELECT FROM jsonb_array_elements(evidence) AS e WHERE ${IS_LIKE} AND (resolution = 'dismissed'
         -- Another line of the reference is a question.
         OR CAST(e->>'decided' AS boolean) OR details ? 'booked_for'
         OR ${merchantByHand(namesOfQuestion('d'))} IS NOT NULL))
       -- Somebody has answered for this payment already, or it is asked about.
       AND details->>'booked_for' IS DISTINCT FROM :owner AND NOT ${ALSO_FOR} @> to_jsonb(CAST(:owner AS text))
       AND NOT EXISTS (SELECT FROM movements m
         WHERE m.gateway = :gateway AND m.trans_id = d.trans_id AND m.booked <> 'undone')
       -- Payments that complete at once may be like several of the same questions.
       ORDER BY id FOR UPDATE)
     UPDATE discrepancies d SET
       opened_at = CASE WHEN resolved_at IS NULL THEN opened_at ELSE now() END,
       details = CASE WHEN resolved_at IS NULL AND details ? 'booked_for'
         THEN details || jsonb_build_object('also_for', ${ALSO_FOR} || to_jsonb(CAST(:owner AS text)))
         ELSE (${KEEPING_DECISION}) - 'also_for' || jsonb_build_object('booked_for', CAST(:owner AS text), 'by_likeness', true) END,
       resolved_at = NULL, resolution = NULL, resolved_by = NULL, resolved_reason = NULL
     FROM alike WHERE d.id = alike.id`,
    { ...money, owner },
  );
}

/**
 * SQL: the finding `e` is about money as the payment's, and names no payment: customers type references of their own. A
 * file may list a return as a payout. What shows no account would be any payment's of a restore.
 */
export const IS_LIKE = `CAST(e->>'amount_cents' AS bigint) = :amount_cents
  AND (e->'details'->>'kind' = 'collection') = (CAST(:kind AS text) = 'collection')
  AND coalesce(NOT ${isOurs("e->'details'->>'reference'")}, true)
  AND coalesce(${sameAccount("(e->'details'->>'account')", ':account')}, true)
  AND CAST(e->'details'->>'completed_at' AS timestamptz) <= :until
  AND ${latestMoment("CAST(e->'details'->>'completed_at' AS timestamptz)")}
    >= CASE WHEN e->'details'->>'account' IS NULL THEN CAST(:since AS timestamptz) ELSE ${SINCE} END`;

/**
 * Takes a payment out of such questions about money of other receipts: it has got one. A question that names no other
 * payment is set back to what people had decided.
 * @param owner is the name of the payment
 */
export async function endDismissedLike(
  trx: Transaction,
  { gateway }: Pick<MovedMoney, 'gateway'>,
  owner: string,
  receipt: string,
): Promise<void> {
  const isOpen = `kind = 'unknown_movement' AND details ? 'by_likeness' AND gateway = :gateway
    AND resolved_at IS NULL AND trans_id <> :receipt AND NOT ${HAS_NO_RECEIPT}
    AND details->'decided_before'->>'as' = 'dismissed'`;
  const asked = { gateway, owner, receipt };
  await rows(
    trx,
    `UPDATE discrepancies d SET resolved_at = now(), resolution = 'dismissed',
       resolved_by = details->'decided_before'->>'by',
       resolved_reason = 'The payment has another receipt'
     WHERE ${isOpen} AND details->>'booked_for' = :owner AND jsonb_array_length(${ALSO_FOR}) = 0`,
    asked,
  );
  await rows(
    trx,
    `UPDATE discrepancies d SET details = details
       || jsonb_build_object('also_for', (${ALSO_FOR} - CAST(:owner AS text)) - others.first)
       || CASE WHEN details->>'booked_for' = :owner
         THEN jsonb_build_object('booked_for', others.first) ELSE '{}' END
     FROM (SELECT id AS of, CASE WHEN details->>'booked_for' = :owner THEN ${ALSO_FOR}->>0 ELSE '' END AS first
       FROM discrepancies d WHERE ${isOpen}) others
     WHERE id = others.of AND (details->>'booked_for' = :owner
       OR ${ALSO_FOR} @> to_jsonb(CAST(:owner AS text)))`,
    asked,
  );
}

/**
 * Tells whether a payment has completed with money that somebody has dismissed, and nobody has decided about that.
 * @param owner is the name of the payment
 */
export function isAskedAsDismissed(
  database: Database | Transaction,
  gateway: string,
  owner: string,
): Promise<boolean> {
  return hasRow(
    database,
    `SELECT 1 FROM discrepancies
     WHERE ${IS_UNKNOWN} AND resolved_at IS NULL
       AND gateway = :gateway AND details->>'booked_for' = :owner
       -- Money that waits completes nothing.
       AND NOT EXISTS (SELECT FROM movements m WHERE m.gateway = :gateway
         AND m.trans_id = discrepancies.trans_id AND m.booked = 'suspense')`,
    { gateway, owner },
  );
}

/** Names the payment whose money an adopted line was: the adoption is taken back, and the line is nobody else's. */
export async function nameOwner(trx: Transaction, adoption: string, owner: string): Promise<void> {
  await rows(
    trx,
    `UPDATE discrepancies SET details = details || jsonb_build_object('booked_for', CAST(:owner AS text), 'by_likeness', true)
     WHERE id = (SELECT discrepancy_id FROM adoptions WHERE id = :adoption) AND resolved_at IS NULL`,
    { adoption, owner },
  );
}
