import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts';
import type { GatewayPaymentKind, SubAccount, ToldBalance } from '../gateway-results.ts';
import { floatEntries } from './float-entries.ts';
import { storeFloat } from './float-store.ts';
import { mayCome, mayCost, mayGiveBack, mayGo } from './in-flight.ts';

/*
 * Each balance that a gateway tells is a proof of the books against the world. The ledger's float
 * and the payments on their way are read in one statement, so no payment is in both or in neither.
 */

/** A balance that a gateway has told, beside the ledger's float. Amounts are cents. */
export interface BalanceProof {
  /** A gateway, or `bank`, which has one account of this name. */
  gateway: string;
  sub_account: SubAccount | 'bank';
  told_at: Date;
  /** False: nothing newer was told for so long that it counts as not told. */
  is_told: boolean;
  told_cents: number;
  ledger_cents: number;
  /** Told less ledger. */
  difference_cents: number;
  /** The most that payments on their way may still bring and take. */
  may_rise_cents: number;
  may_fall_cents: number;
  /** Since when there is a difference that payments on their way cannot explain. Null: it agrees. */
  differs_since: Date | null;
}

type Told = Omit<ToldBalance, 'sub_account'> & Pick<BalanceProof, 'sub_account'>;

/** An answer of which nobody knows when it was asked for comes this soon. What is booked between may be missing in it. */
const ANSWER_MS = 2 * MINUTE_MS;
/** No transaction is open for so long, so nothing is booked with an earlier time. */
const COUNTED_AFTER_MS = HOUR_MS;
/** The first proof of an account counts all that was ever booked: minutes for many millions. */
const COUNT_TIMEOUT_MS = 10 * MINUTE_MS;

/** The most that one payment of a kind costs at a gateway, in cents. */
export interface LargestCharge {
  kind: GatewayPaymentKind;
  cents: number;
}

/**
 * Keeps the balances that a gateway has told, each with its proof.
 * @param askedAt is when the gateway was asked, for an answer may come late. One that an answer to a later question has
 * overtaken proves nothing. Default: as long ago as an answer may take.
 * @param largest has the largest charge of each kind of payment that the gateway charges
 */
export async function hearBalances(
  database: Database,
  gateway: string,
  balances: readonly Told[],
  askedAt: Date | null = null,
  largest: readonly LargestCharge[] = [],
): Promise<void> {
  const float = balances.find(({ sub_account }) => sub_account === 'utility');
  // The brake of payouts needs it, whatever becomes of the proof.
  if (float) await storeFloat(database, gateway, float.available_cents, askedAt);
  await inTransaction(database, (trx) => proveBalances(trx, gateway, balances, askedAt, largest));
}

/** Keeps balances with their proofs, in the caller's transaction. */
export async function proveBalances(
  trx: Transaction,
  gateway: string,
  balances: readonly Told[],
  askedAt: Date | null,
  largest: readonly LargestCharge[] = [],
): Promise<void> {
  await rows(trx, `SET LOCAL statement_timeout = ${COUNT_TIMEOUT_MS}`);
  // Two answers at once take turns. Each proof begins where the one before has ended.
  await rows(trx, "SELECT pg_advisory_xact_lock(hashtextextended('balances of ' || :gateway, 0))", {
    gateway,
  });
  for (const told of balances) await prove(trx, gateway, told, askedAt, largest);
}

async function prove(
  trx: Transaction,
  gateway: string,
  { sub_account, current_cents }: Told,
  askedAt: Date | null,
  largest: readonly LargestCharge[],
): Promise<void> {
  await rows(trx, PROVE, {
    gateway,
    sub_account,
    told_cents: current_cents,
    asked_at: askedAt,
    largest: JSON.stringify(largest),
    answer_ms: ANSWER_MS,
    counted_after_ms: COUNTED_AFTER_MS,
  });
}

/** SQL: payments move the money of `utility`, and their charges move the money of `charges`. */
const MAY_COME = `CASE :sub_account WHEN 'utility' THEN (${mayCome()})
  WHEN 'charges' THEN (${mayGiveBack()}) ELSE 0 END`;
const MAY_GO = `CASE :sub_account WHEN 'utility' THEN (${mayGo()})
  WHEN 'charges' THEN (${mayCost()}) ELSE 0 END`;

/**
 * SQL: the difference that was found earlier may be there still, hidden by payments on their way. It
 * has gone if no payment on its way could hide it, or if the balance agrees to the cent twice in a
 * row: once it may be chance, because many payments have the same amount. A bank has no payments on their way.
 */
const STILL_DIFFERS = `((proof.difference <> 0
      OR on_its_way > 0 AND (SELECT difference FROM last) <> 0)
    AND EXISTS (SELECT FROM began
    WHERE proof.difference - may_rise <= began.difference + began.may_fall_cents
      AND proof.difference + may_fall >= began.difference - began.may_rise_cents))`;

const PROVE = `
  WITH times AS (
    SELECT coalesce(CAST(:asked_at AS timestamptz), now() - :answer_ms * interval '1 millisecond')
      AS asked_at, now() - :counted_after_ms * interval '1 millisecond' AS count_until
  ), last AS (
    SELECT counted_until, counted_cents, differs_since, asked_at,
      told_cents - ledger_cents AS difference
    FROM balance_proofs
    WHERE gateway = :gateway AND sub_account = :sub_account ORDER BY told_at DESC LIMIT 1
  ), began AS (
    SELECT told_cents - ledger_cents AS difference, may_rise_cents, may_fall_cents
    FROM balance_proofs JOIN last ON told_at >= last.differs_since
    WHERE gateway = :gateway AND sub_account = :sub_account ORDER BY told_at LIMIT 1
  ), since AS (
    SELECT coalesce((SELECT counted_until FROM last), '-infinity') AS moment,
      coalesce((SELECT counted_cents FROM last), 0) AS cents
  ), booked AS (
    SELECT coalesce(sum(cents) FILTER (WHERE booked_at >= moment), 0) AS all_cents,
      coalesce(sum(cents) FILTER (WHERE booked_at >= moment AND booked_at < count_until), 0)
        AS old_cents,
      -- What was booked before the proof before may be newer than this question: a bank tells days later.
      coalesce(sum(cents) FILTER (WHERE booked_at >= asked_at AND cents > 0), 0) AS new_in,
      coalesce(-sum(cents) FILTER (WHERE booked_at >= asked_at AND cents < 0), 0) AS new_out
    FROM times, (SELECT moment FROM since) AS begun,
      (${floatEntries('(SELECT least(moment, asked_at) FROM since, times)')}) entry
    WHERE gateway = :gateway AND sub_account = :sub_account
  ), proof AS (
    SELECT :told_cents - since.cents - all_cents AS difference,
      since.cents + all_cents AS ledger_cents,
      since.cents + old_cents AS counted_cents,
      greatest(since.moment, count_until) AS counted_until,
      may_come + new_out AS may_rise, may_go + new_in AS may_fall, may_come + may_go
        + CASE :gateway WHEN 'bank' THEN 0 ELSE new_in + new_out END AS on_its_way
    FROM times, since, booked, (SELECT ${MAY_COME} AS may_come, ${MAY_GO} AS may_go) flight
  )
  INSERT INTO balance_proofs (gateway, sub_account, told_cents, ledger_cents, may_rise_cents,
    may_fall_cents, differs_since, asked_at, counted_until, counted_cents)
  SELECT :gateway, :sub_account, :told_cents, ledger_cents, may_rise, may_fall,
    CASE WHEN difference NOT BETWEEN -may_fall AND may_rise OR ${STILL_DIFFERS}
      THEN coalesce((SELECT differs_since FROM last), now()) END,
    asked_at, counted_until, counted_cents
  FROM proof, times WHERE NOT EXISTS (SELECT FROM last WHERE last.asked_at > times.asked_at)`;

/** A gateway is asked every five minutes. After this its last balance proves nothing more. */
const TOLD_WITHIN_MS = HOUR_MS;
/** The bank tells one in each statement that is kept: each working day, with Easter between two of them. */
const BANK_TOLD_WITHIN_MS = 5 * DAY_MS;

/** Reads the newest proof of each account that a gateway has told of. */
export function latestProofs(database: Database | Transaction): Promise<BalanceProof[]> {
  return rows<BalanceProof>(
    database,
    // Steps from account to account in the key, because each has a row for every five minutes.
    `WITH RECURSIVE account AS (
       (SELECT gateway, sub_account FROM balance_proofs ORDER BY gateway, sub_account LIMIT 1)
       UNION ALL
       SELECT next.gateway, next.sub_account FROM account CROSS JOIN LATERAL (
         SELECT gateway, sub_account FROM balance_proofs p
         WHERE (p.gateway, p.sub_account) > (account.gateway, account.sub_account)
         ORDER BY gateway, sub_account LIMIT 1) next
     )
     SELECT gateway, sub_account, told_at, told_at > now() - CASE gateway WHEN 'bank'
         THEN ${BANK_TOLD_WITHIN_MS} ELSE ${TOLD_WITHIN_MS} END * interval '1 millisecond' AS is_told,
       told_cents, ledger_cents,
       told_cents - ledger_cents AS difference_cents, may_rise_cents, may_fall_cents, differs_since
     FROM account CROSS JOIN LATERAL (
       SELECT told_at, told_cents, ledger_cents, may_rise_cents, may_fall_cents, differs_since
       FROM balance_proofs p
       WHERE p.gateway = account.gateway AND p.sub_account = account.sub_account
       ORDER BY told_at DESC LIMIT 1) newest
     ORDER BY gateway, sub_account`,
  );
}
