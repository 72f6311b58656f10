import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { lockUntilCommit } from '../../connections/locks.ts';
import { MINUTE_MS } from '../../time.ts';
import type { Succeeded } from '../gateway-results.ts';
import { OPERATOR, postNewJournal } from '../ledger/post-journal.ts';
import type { PaymentRef } from '../payments/payment-store.ts';
import type { Spend } from '../reconciliation/match-line.ts';
import { isGiven, lastLineOf, type StatementRef } from '../reconciliation/statement.ts';
import type { MovementRef } from '../settlement/movements.ts';
import { CHARGED_MONEY } from './charged-money.ts';
import type { Tariff } from './tariffs.ts';

/*
 * A gateway charges the operator for payments. The dispatcher books the charges of the tariff some
 * time after the payments, so a payment has no statement more. The gateway's answers and statements correct them.
 */

/** A transaction that records a movement ends within this time. */
const LATE_MS = 10 * MINUTE_MS;
/** The first run books the charges of this time. Earlier ones are in the first balance. */
const FIRST_RUN_MS = 10 * MINUTE_MS;

/** One transaction books the charges of this number of movements or lines. */
const BATCH_SIZE = 10_000;

/** Books the charges that answers have told, and those for what gateways have moved since the last run, each once. */
export async function bookCharges(
  database: Database,
  tariffs: readonly Tariff[],
  batch = BATCH_SIZE,
): Promise<void> {
  const limits = { late_ms: LATE_MS, first_ms: FIRST_RUN_MS, batch };
  const heard = await rows<{ gateway: string }>(database, HEARD_GATEWAYS);
  for (const { gateway } of heard) {
    const run = { gateway, batch };
    await inTransaction(database, (trx) => bookRun(trx, HEARD, run));
  }
  for (const { gateway, kind, bands } of tariffs) {
    const run = { ...limits, gateway, kind, bands: JSON.stringify(bands) };
    for (let count = batch; count === batch; ) {
      ({ count } = await inTransaction(database, (trx) => bookRun(trx, BOOK, run)));
    }
  }
}

/** SQL: the moments of the movements that the tariff has charged. */
const BY_TARIFF = `learned_at) FROM charges
  WHERE gateway = :gateway AND kind = :kind AND booked_cents IS NOT NULL`;

/**
 * The charge up to the amount, or the last one. Support's word alone moves no money, and costs none, until the gateway
 * has confirmed it, or a file has listed it.
 */
const BOOK = `added AS (
  INSERT INTO charges (merchant_id, movement_id, gateway, kind, learned_at, booked_cents)
  SELECT m.merchant_id, m.id, m.gateway, m.payment_kind, m.learned_at, coalesce(
    (SELECT charge_cents FROM jsonb_to_recordset(CAST(:bands AS jsonb))
       AS b (up_to_cents bigint, charge_cents bigint)
     ORDER BY up_to_cents < m.amount_cents,
       CASE WHEN up_to_cents < m.amount_cents THEN -up_to_cents ELSE up_to_cents END LIMIT 1), 0)
  FROM (
    SELECT * FROM ${CHARGED_MONEY} moved WHERE told_by <> 'support' AND learned_at >= coalesce(
      (SELECT max(${BY_TARIFF}) - :late_ms * interval '1 millisecond',
      now() - :first_ms * interval '1 millisecond')
    UNION ALL
    SELECT merchant_id, id, gateway, payment_kind, trans_id, amount_cents, learned_at, booked, told_by
    FROM movements WHERE told_by = 'support' AND confirmed_by <> 'support'
      AND gateway = :gateway AND learned_at >= coalesce((SELECT min(${BY_TARIFF}), now())
        - :first_ms * interval '1 millisecond') m
  WHERE m.gateway = :gateway AND m.payment_kind = :kind AND m.booked <> 'undone' AND NOT EXISTS (
    SELECT FROM charges c WHERE c.merchant_id = m.merchant_id AND c.movement_id = m.id)
    -- It is charged under this receipt, while that belonged to another payment.
    AND NOT EXISTS (SELECT FROM ${CHARGED_MONEY} was JOIN charges c
        ON c.merchant_id = was.merchant_id AND c.movement_id = was.id
      WHERE was.gateway = m.gateway AND was.trans_id = m.trans_id AND was.booked = 'undone'
        AND coalesce(c.told_cents, c.booked_cents) > 0)
  ORDER BY m.learned_at LIMIT :batch
  -- Its answer may be recorded at the same moment.
  ON CONFLICT DO NOTHING
  RETURNING booked_cents AS cents)`;

/**
 * Keeps the charge that an answer of the gateway tells of a receipt, in the transaction of its payment.
 * The next run books it, so that no payment waits for the charges of others. A charge that is below
 * zero or no whole number of cents is ignored.
 */
export async function hearCharge(
  trx: Transaction,
  payment: PaymentRef,
  { transId: trans_id, amountCents: amount_cents, chargeCents: charge_cents }: Succeeded,
): Promise<void> {
  if (charge_cents === undefined || !Number.isSafeInteger(charge_cents) || charge_cents < 0) return;
  await rows(
    trx,
    `INSERT INTO charges AS c (merchant_id, movement_id, gateway, kind, learned_at, heard_cents)
     SELECT merchant_id, id, gateway, payment_kind, learned_at, :charge_cents FROM movements
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND trans_id = :trans_id AND coalesce(amount_cents = :amount_cents, true)
       AND booked <> 'undone'
     ON CONFLICT (merchant_id, movement_id) DO UPDATE SET heard_cents = excluded.heard_cents
       WHERE ${IS_UNTOLD}`,
    { ...payment, trans_id, amount_cents, charge_cents },
  );
}

/** SQL: the gateway itself has not told the charge `c`. Its first word stands. */
const IS_UNTOLD = `c.heard_cents IS NULL AND coalesce(c.told_by = 'file', true)`;

const HEARD_GATEWAYS = 'SELECT DISTINCT gateway FROM charges WHERE heard_cents IS NOT NULL';

/**
 * SQL: a receipt has come to another payment, whose charge the CTE `settled` has. The charge that was told
 * of the payment that had it is that one.
 */
const MOVED = `moved AS (
  UPDATE charges c SET told_cents = 0, told_by = 'undone'
  FROM settled JOIN ${CHARGED_MONEY} m ON m.merchant_id = settled.merchant_id AND m.id = settled.movement_id
    JOIN ${CHARGED_MONEY} u ON u.gateway = m.gateway AND u.trans_id = m.trans_id AND u.booked = 'undone'
      AND (u.payment_kind = 'collection') = (m.payment_kind = 'collection')
    JOIN charges was ON was.merchant_id = u.merchant_id AND was.movement_id = u.id
      AND coalesce(was.told_cents, was.booked_cents) > 0
  WHERE c.merchant_id = was.merchant_id AND c.movement_id = was.movement_id
  RETURNING -coalesce(was.told_cents, was.booked_cents) AS cents)`;

const HEARD = `settled AS (
  UPDATE charges c SET told_cents = c.heard_cents, told_by = 'answer', heard_cents = NULL
  FROM (
    SELECT merchant_id, movement_id, coalesce(told_cents, booked_cents, 0) AS cents FROM charges
    WHERE gateway = :gateway AND heard_cents IS NOT NULL LIMIT :batch
  ) known WHERE c.merchant_id = known.merchant_id AND c.movement_id = known.movement_id
  RETURNING c.merchant_id, c.movement_id, c.told_cents - known.cents AS cents
), ${MOVED}, added AS (SELECT cents FROM settled UNION ALL SELECT cents FROM moved)`;

/**
 * Corrects the booked charges by the charges that an imported statement tells. The gateway's own first word stands. It
 * replaces the charge that a file has told, and so does a later file. A movement without a charge in
 * the tariff gets it.
 * @param spend counts the differences
 */
export async function settleCharges(
  database: Database,
  statement: StatementRef,
  spend?: Spend,
): Promise<void> {
  const { line_no: last } = await lastLineOf(database, statement);
  const told_by = (await isGiven(database, statement)) ? 'statement' : 'file';
  for (let after = 0; after < last; after += BATCH_SIZE) {
    const batch = { ...statement, told_by, after, up_to: after + BATCH_SIZE };
    await inTransaction(database, async (trx) => {
      const { changed_cents } = await bookRun(trx, SETTLE, batch);
      spend?.(`charges after line ${after}`, changed_cents);
    });
  }
}

/** SQL: the line `l` is about the money `m`, so its charge is the money's. */
const IS_CHARGED = `m.trans_id = l.trans_id AND m.gateway = :gateway
    AND m.amount_cents = l.amount_cents AND m.booked <> 'undone'
    AND (m.payment_kind = l.kind OR (l.kind = 'reversal' AND m.payment_kind = 'return'))`;

/** SQL: the difference between the charge of the line `l` and the booked one, in cents. */
export const CHARGE_DIFFERENCE = `abs(l.charge_cents - coalesce((
    SELECT coalesce(c.told_cents, c.booked_cents) FROM ${CHARGED_MONEY} m JOIN charges c
      ON c.merchant_id = m.merchant_id AND c.movement_id = m.id
    WHERE ${IS_CHARGED} LIMIT 1), 0))`;

const SETTLE = `told AS (
    SELECT DISTINCT ON (m.merchant_id, m.id) m.merchant_id, m.id AS movement_id, m.gateway,
      m.payment_kind, m.learned_at, l.charge_cents
    FROM statement_lines l JOIN ${CHARGED_MONEY} m ON ${IS_CHARGED}
    WHERE l.import_id = :import_id AND l.line_no > :after AND l.line_no <= :up_to
      AND l.charge_cents IS NOT NULL AND l.result IN ('matched', 'settled')
    ORDER BY m.merchant_id, m.id, l.line_no
  ), known AS (
    SELECT merchant_id, movement_id, coalesce(c.told_cents, c.booked_cents) AS cents
    FROM charges c JOIN told USING (merchant_id, movement_id)
  ), settled AS (
    INSERT INTO charges AS c (merchant_id, movement_id, gateway, kind, learned_at, told_cents, told_by)
    SELECT told.*, CAST(:told_by AS text) FROM told
    ON CONFLICT (merchant_id, movement_id) DO UPDATE
      SET told_cents = excluded.told_cents, told_by = excluded.told_by
      WHERE ${IS_UNTOLD}
    RETURNING merchant_id, movement_id, told_cents
  ), ${MOVED}, added AS (
    SELECT told_cents - coalesce(cents, 0) AS cents
    FROM settled LEFT JOIN known USING (merchant_id, movement_id)
    UNION ALL SELECT cents FROM moved)`;

/**
 * Takes back the booked charge of a movement that did not happen, or of an adoption that gives way, in the transaction
 * that undoes it. A charge that the gateway itself tells stays: the gateway has taken it, and its balance shows it. If the gateway gives the charge back, only a person sees that.
 */
export async function takeChargeBack(
  trx: Transaction,
  { merchant_id, id: movement_id }: MovementRef,
  gateway: string,
): Promise<void> {
  await bookRun(trx, TAKE_BACK, { merchant_id, movement_id, gateway }, movement_id);
}

const TAKE_BACK = `added AS (
    UPDATE charges c SET told_cents = 0, told_by = 'undone' FROM charges was
    WHERE c.merchant_id = :merchant_id AND c.movement_id = :movement_id
      AND was.merchant_id = c.merchant_id AND was.movement_id = c.movement_id
      AND ${IS_UNTOLD}
    RETURNING -coalesce(was.told_cents, was.booked_cents) AS cents)`;

/**
 * Books the charge of a movement again that was taken back as if the movement had not happened, because a statement
 * lists that its money went out and came back. A charge that is another payment's stays there.
 */
export async function restoreCharge(
  trx: Transaction,
  { merchant_id, id: movement_id }: MovementRef,
  gateway: string,
): Promise<void> {
  await bookRun(trx, RESTORE, { merchant_id, movement_id, gateway });
}

const RESTORE = `added AS (
    UPDATE charges c SET told_cents = c.booked_cents, told_by = 'file' FROM ${CHARGED_MONEY} m
    WHERE c.merchant_id = :merchant_id AND c.movement_id = :movement_id
      AND c.told_by = 'undone' AND c.booked_cents > 0
      AND m.merchant_id = c.merchant_id AND m.id = c.movement_id
      AND NOT EXISTS (SELECT FROM movements own WHERE own.gateway = m.gateway
        AND own.trans_id = m.trans_id AND own.booked <> 'undone'
        AND (own.payment_kind = 'collection') = (m.payment_kind = 'collection'))
    RETURNING c.booked_cents AS cents)`;

/** The charges of one transaction. */
interface ChargeRun {
  count: number;
  /** The sum of all differences, without their signs. */
  changed_cents: number;
}

/**
 * Runs a statement whose CTE `added` has the differences to the booked charges, and books their sum.
 * @param id is the run's: the movement's where the run takes back its charge
 */
async function bookRun(
  trx: Transaction,
  sql: string,
  bindings: { gateway: string; [name: string]: unknown },
  id: string = uuidv7(),
): Promise<ChargeRun> {
  // The statement must see what other runs have booked.
  await lockUntilCommit(trx, 'charges');
  const run = await firstRow<ChargeRun & { cents: number }>(
    trx,
    `WITH ${sql} SELECT count(*) AS count, CAST(coalesce(sum(cents), 0) AS bigint) AS cents,
       CAST(coalesce(sum(abs(cents)), 0) AS bigint) AS changed_cents FROM added`,
    bindings,
  );
  const { cents, ...counts } = run!;
  if (cents === 0) return counts;
  const { gateway } = bindings;
  await rows(trx, 'INSERT INTO charge_runs (id, gateway) VALUES (:id, :gateway)', { id, gateway });
  await postNewJournal(trx, {
    merchant_id: OPERATOR,
    source_kind: 'charge_run',
    source_id: id,
    kind: 'charged',
    lines: [
      { account: 'gateway_float', amount_cents: cents },
      { account: 'charges', amount_cents: -cents },
    ],
  });
  return counts;
}
