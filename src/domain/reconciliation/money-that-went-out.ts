import { validate as isUuid } from 'uuid';
import { type Database, firstRow, rows, type Transaction } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { AskedLine } from '../discrepancies/asked-line.ts';
import { nameOfRow } from '../discrepancies/row-back.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import { ACCOUNT_COLUMNS } from '../payments/payment-summary.ts';
import { nameOf } from '../settlement/contrary-news.ts';
import { IS_BACK } from '../settlement/gone-back.ts';
import { IS_SAME_MONEY } from '../settlement/movements.ts';
import { CLOCKS_DIFFER } from '../settlement/returned-like.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { mayHaveComeAgain } from '../upkeep/restore-mark.ts';
import { accountIn, COMES_BACK_WITHIN, MAX_LOOKED_AT, OUTGOING } from './comes-back.ts';
import { latestMomentOf } from './days-alone.ts';
import { othersLike } from './other-money.ts';
import { IS_NOTED, IS_ROW_OF_MONEY, IS_UNNAMED, WAS_DISMISSED } from './rows-at-payments.ts';

/* The money that a row of a statement may bring back. */

/** The candidates that people are shown. A row that fits more payouts is of nobody knows which. */
const MAX_FITTING = 20;

/** The money that a line may bring back. */
export interface BroughtBack {
  /** The names of the payments, of adopted ones, and of money that no payment explains, that it may be of. */
  candidates: string[];
  /** The money that it is about; null if several may be meant, or none. */
  money: Fitting | null;
  /** All that fits has come back before: each explains one row. */
  isKnown: boolean;
  /** The money that is back, and that the row may have brought back, the newest first; none if other payouts may be meant. */
  back: Fitting[];
  /** The candidates whose money may be out: the row may be the only one that tells of its coming back. */
  mayBeOut: string[];
}

export const NO_MONEY: BroughtBack = {
  ...{ candidates: [], money: null, isKnown: false, back: [], mayBeOut: [] },
};

/** Finds the money of one payment that a line may bring back: its amount, account and time fit. */
export async function moneyIn(
  trx: Transaction,
  gateway: string,
  line: AskedLine,
  { id }: PaymentRef,
): Promise<Fitting | null> {
  const within = COMES_BACK_WITHIN.whole;
  const [found] = await moneyLike(trx, gateway, line, { only: id, within });
  return found ?? null;
}

/** Returns the candidates of all rows of a question, and the ones of them whose money may be out. */
export async function candidatesOfAll(
  trx: Database | Transaction,
  gateway: string,
  lines: readonly AskedLine[],
): Promise<Pick<BroughtBack, 'candidates' | 'mayBeOut'>> {
  const found: BroughtBack[] = [];
  for (const line of lines) found.push(await moneyOf(trx, gateway, line));
  const all = (of: 'candidates' | 'mayBeOut') => [...new Set(found.flatMap((each) => each[of]))];
  return { candidates: all('candidates'), mayBeOut: all('mayBeOut') };
}

/** Finds the money that a line may bring back. */
export async function moneyOf(
  trx: Database | Transaction,
  gateway: string,
  line: AskedLine,
): Promise<BroughtBack> {
  const all = await allLike(trx, gateway, line);
  const free = all.filter(({ is_taken, is_named }) => !is_taken || is_named);
  // If all are taken by rows that name nobody, people say which row is whose.
  const fitting = free.length > 0 ? free : all;
  const allowed = fitting.filter(({ is_denied, is_back }) => is_back || !is_denied);
  const names = allowed.map(nameOf);
  const isNamed = fitting.some(({ is_named }) => is_named);
  const { others, areForgotten } = isNamed
    ? { others: [], areForgotten: false }
    : await othersLike(trx, gateway, line, names);
  // Without an account it may be of anybody: people say of whom, though one payout alone fits.
  const isTold = line.account !== null || fitting.some(({ is_named }) => is_named);
  const isShown = isTold && fitting.length <= MAX_FITTING;
  const [first = null, ...more] = fitting;
  const isKnown = isShown && others.length === 0 && all.every(({ state }) => state === 'back');
  const isOne = isTold && free.length > 0 && (isKnown || more.length + others.length === 0);
  const back = free.filter(({ is_back, is_denied }) => is_back && !is_denied);
  const areBack = allowed.filter(({ state }) => state === 'back').map(nameOf);
  const areOut = allowed.filter(({ state }) => state !== 'back').map(nameOf);
  return {
    candidates: [...[...areBack, ...areOut].slice(0, MAX_FITTING), ...others.slice(0, MAX_FITTING)],
    money: isOne ? first : null,
    isKnown: isOne && isKnown,
    back: areForgotten ? [] : back,
    mayBeOut: [...areOut, ...others],
  };
}

/**
 * Finds all money that a line may bring back. Before people hear nothing of a row, older payments count than they are shown
 * where digits are hidden.
 */
async function allLike(
  trx: Database | Transaction,
  gateway: string,
  line: AskedLine,
): Promise<Fitting[]> {
  const shown = await moneyLike(trx, gateway, line);
  const isSilent = shown.length > 0 && shown.every(({ state }) => state === 'back');
  return isSilent ? moneyLike(trx, gateway, line, { within: COMES_BACK_WITHIN.whole }) : shown;
}

/** SQL: the line names the payment `p`. A bank may write its reference, or the receipt, for a batch of several accounts. */
function isNamed(column: string): string {
  const mayBe = sameAccount(`coalesce(m.account, ${column})`, 'CAST(:account AS text)');
  return `(coalesce(:reference = CAST(p.reference AS text), false)
    OR coalesce(p.id = :owner OR p.external_ref = :reference, false) AND coalesce(${mayBe}, true))`;
}

/** SQL: the money of each payment of a kind that the line may bring back. */
function moneyOfKind(
  kind: (typeof OUTGOING)[number],
  line: AskedLine,
  atMost: string | undefined,
): string {
  const column = `p.${ACCOUNT_COLUMNS[kind]}`;
  const { isOfAccount, within } = accountIn(line, column);
  const is_named = isNamed(column);
  return `(SELECT DISTINCT ON (p.merchant_id, p.id) '${kind}' AS kind, p.merchant_id, p.id, p.created_at, m.id AS movement_id,
     CASE WHEN m.amount_cents <> :amount_cents THEN 'in doubt'
       WHEN NOT ${is_named} AND NOT ${sameAccount('m.account', 'CAST(:account AS text)')} THEN 'in doubt'
       WHEN bool_and(m.booked = 'settled') OVER one THEN 'out'
       WHEN bool_and(${IS_BACK}) OVER one THEN 'back' ELSE 'in doubt' END AS state, ${IS_BACK} AS is_back,
     ${is_named} AS is_named, other_row.is_noted IS NOT NULL AS is_taken
   FROM merchants JOIN ${STEP_TABLES[kind].table} p ON p.merchant_id = merchants.id
     AND (${isOfAccount} OR p.id = :owner OR p.id = ANY (CAST(:elsewhere AS uuid[]))
       OR p.reference = CAST(:uuid AS uuid) OR p.external_ref = :reference)
   -- OFFSET 0: the payment comes first, then its money, and then the rows of that.
   CROSS JOIN LATERAL (SELECT * FROM movements m WHERE m.merchant_id = p.merchant_id
     AND m.payment_kind = '${kind}' AND m.payment_id = p.id
     -- It may have moved in parts.
     AND (m.amount_cents = :amount_cents OR p.amount_cents = :amount_cents AND m.booked = 'settled')
     AND (m.booked <> 'undone' OR ${IS_BACK}) OFFSET 0) m
   -- Another row brings it back. It may have been booked twice under its receipt.
   CROSS JOIN LATERAL (SELECT bool_and(coalesce(${IS_NOTED} AND ${IS_UNNAMED}, false)) AS is_noted,
       bool_or(coalesce(${WAS_DISMISSED}, false)) AS was_dismissed
     FROM movements own LEFT JOIN discrepancies d ON ${IS_ROW_OF_MONEY}
     WHERE own.merchant_id = p.merchant_id AND own.payment_kind = '${kind}' AND own.payment_id = p.id
       AND own.row_back <> :name AND ${IS_SAME_MONEY} OFFSET 0) other_row
   WHERE p.gateway = :gateway
     AND (coalesce(m.completed_at, p.created_at) <= CAST(:latest AS timestamptz) + interval '${CLOCKS_DIFFER}'
       OR m.completed_at IS NULL AND ${mayHaveComeAgain('CAST(:completed_at AS timestamptz)', 'p.created_at')})
     -- A name counts more than that somebody has dismissed the other row.
     AND coalesce(other_row.is_noted AND (NOT other_row.was_dismissed OR ${is_named}), true)
     AND (p.created_at > CAST(:completed_at AS timestamptz) - interval '${atMost ?? within}' OR p.id = :owner)
     AND p.id = coalesce(CAST(:only AS uuid), p.id)
   WINDOW one AS (PARTITION BY p.merchant_id, p.id)
   ORDER BY p.merchant_id, p.id, m.booked = 'settled', m.booked = 'suspense', m.id)`;
}

/** SQL: the payments whose money went to the account of the line, and not to their own one. */
const WENT_ELSEWHERE = `SELECT m.payment_id FROM discrepancies d JOIN movements m ON m.merchant_id = d.merchant_id
    AND m.payment_kind = d.payment_kind AND m.payment_id = d.payment_id
  WHERE d.gateway = :gateway AND d.kind = 'other_account' AND m.payment_kind <> 'collection'
    AND ${sameAccount('m.account', 'CAST(:account AS text)')}`;

/** Money that a line may bring back, with its payout. */
export type Fitting = PaymentRef & {
  movement_id: string;
  /** When the payment was asked for. */
  created_at: Date;
  /** All of the payment's money of this amount is out, all of it is back, or a part of it, or its account, is in doubt. */
  state: 'out' | 'back' | 'in doubt';
  /** This money of the payout is back, and no other row has brought it back. */
  is_back: boolean;
  /** The line names the payout. */
  is_named: boolean;
  /** Another row, which names nobody, brings it back. */
  is_taken: boolean;
  /** Support has said that the line is not this payout's. */
  is_denied: boolean;
};

/**
 * Finds the money that the line may bring back. If the line names a payout, a reversal or a return, perhaps by the receipt
 * of its money, that payment's money is found; otherwise the money of each payment with the line's account, amount and
 * time. Money that has come back already is found, too: the line may list it. Other money of the same payment is in doubt,
 * and so are money in suspense and money that was called lost.
 * @param only is the id of the only payment that is looked at
 * @param within is how long before the line a payment was asked for. Default: what people are shown
 */
async function moneyLike(
  trx: Database | Transaction,
  gateway: string,
  line: AskedLine,
  { only = null, within }: { only?: string | null; within?: string } = {},
): Promise<Fitting[]> {
  const { reference, account, amount_cents, completed_at, trans_id } = line;
  const owner = await firstRow<{ payment_id: string }>(
    trx,
    `SELECT payment_id FROM movements m WHERE trans_id = :trans_id AND gateway = :gateway
       AND payment_kind <> 'collection' AND (booked <> 'undone' OR ${IS_BACK}) LIMIT 1`,
    { trans_id, gateway },
  );
  const elsewhere = await rows<{ payment_id: string }>(trx, WENT_ELSEWHERE, { gateway, account });
  const found = await rows<Fitting>(
    trx,
    `SELECT kind, merchant_id, id, movement_id, created_at, state, is_back, is_named, is_taken,
       EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = fitting.merchant_id AND d.payment_kind = fitting.kind
         AND d.payment_id = fitting.id AND d.kind = 'failure_after_success' AND d.trans_id = :name
         AND d.resolution = 'dismissed' AND d.resolved_by IS NOT NULL) AS is_denied
     FROM (${OUTGOING.map((kind) => moneyOfKind(kind, line, within)).join(' UNION ALL ')}) fitting
     ORDER BY is_named DESC, is_taken, state = 'back', created_at DESC, id LIMIT ${MAX_LOOKED_AT}`,
    {
      gateway,
      reference,
      account,
      amount_cents,
      completed_at,
      latest: latestMomentOf(line),
      name: nameOfRow(line),
      owner: owner?.payment_id ?? null,
      elsewhere: elsewhere.map(({ payment_id }) => payment_id),
      only,
      uuid: reference !== null && isUuid(reference) ? reference : null,
    },
  );
  const named = found.filter(({ is_named }) => is_named);
  return named.length > 0 ? named : found;
}
