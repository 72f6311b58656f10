import { expect } from 'chai';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import { bookCharges, tariffsFromText } from '../../src/domain/gateway-accounts/charges.ts';
import { asShown } from '../../src/domain/payments/kinds.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { type Reconciliation, reconcile } from '../../src/domain/reconciliation/reconcile.ts';
import {
  FROM_GATEWAY,
  importStatement,
  type StatementLine,
} from '../../src/domain/reconciliation/statement.ts';
import type { History } from './history.ts';
import { decide, openCases } from './history-support.ts';
import { accountBalance } from './ledger-check.ts';
import { reread } from './payments.ts';

type Merchant = { merchant_id: number };

/**
 * Reconciles with what the gateway says that it has moved. Some lines come twice, some hide digits
 * of the phone, and some stand there once more as undecided.
 */
export async function reconcileWith(
  database: Database,
  told: History,
  lines: StatementLine[],
): Promise<Reconciliation> {
  const period = { from: told.world.day, to: told.world.day };
  const options = { gateway: 'simulator', channel: 63902, period };
  const listed = lines.flatMap((line, index): StatementLine[] => {
    const account = line.account?.replace(/^(\+254\d)\d*(\d{3})$/, '$1*****$2') ?? null;
    const shown = index % 4 === 1 ? { ...line, account } : line;
    if (index % 3 === 0) return [shown, line];
    return index % 3 === 1 ? [shown] : [{ ...line, isUndecided: true }, shown];
  });
  // By a file money goes nowhere automatically.
  const source = lines.length % 2 === 0 ? FROM_GATEWAY : 'file.csv';
  const import_id = await inTransaction(database, (trx) =>
    importStatement(trx, { ...options, source, lines: listed }),
  );
  return reconcile(database, {
    ...options,
    import_id,
    covers: ['collection', 'payout', 'reversal'],
    complete_until: new Date(),
    settling_window_ms: 0,
    answer_window_ms: 0,
    ask: async (payment) =>
      (await told.gateway.query({ payment, askedAt: new Date() }, 'answered')).result,
    parserOf: told.gateway.parserOf,
  });
}

/**
 * What the gateway has moved is what is booked, each movement once. One that support has undone
 * is booked anew when the gateway tells of it again. The undone row then counts no longer.
 */
export async function expectMovements(
  database: Database,
  told: History,
  { merchant_id }: Merchant,
): Promise<void> {
  const [booked] = await rows<{ sum: number }>(
    database,
    `SELECT coalesce(sum(CASE payment_kind WHEN 'collection' THEN -amount_cents
       ELSE amount_cents END), 0)::bigint AS sum
     FROM movements AS movement
     WHERE merchant_id = :merchant_id AND NOT (booked = 'undone' AND EXISTS (
       SELECT FROM movements AS again
       WHERE again.merchant_id = movement.merchant_id AND again.payment_id = movement.payment_id
         AND again.id > movement.id
         AND again.trans_id = coalesce(movement.trans_id, again.trans_id)))`,
    { merchant_id },
  );
  const moved = told.world.statement.reduce(
    (sum, { kind, amountCents }) => sum + (kind === 'collection' ? -amountCents : amountCents),
    0,
  );
  expect(booked!.sum, 'what has moved').to.equal(moved);
}

/**
 * No driver has invented an end: what the gateway's word has ended is what the gateway has said.
 * A success under the receipt of another payment may have been believed.
 */
export async function expectHeard(database: Database, told: History): Promise<void> {
  for (const payment of told.payments) {
    const ends = await rows<{ to_status: string }>(
      database,
      `SELECT to_status FROM payment_history
       WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
         AND to_status IN ('completed', 'failed') AND cause IN ('callback', 'poll', 'submission')`,
      payment,
    );
    const known = told.world.of(payment);
    const mayComplete = told.world.oddities.get(payment.reference)?.has('shared receipt') ?? false;
    for (const { to_status } of ends) {
      const isSaid = to_status === 'failed' ? known?.failure : known?.movements[0] || mayComplete;
      expect(isSaid, `${payment.kind} ${to_status}, which nobody has said`).to.be.ok;
    }
  }
}

/** Final, or waiting for a person because of something that has happened to it. */
export async function expectDecided(
  database: Database,
  told: History,
  merchant: Merchant,
): Promise<void> {
  const asked = new Set((await openCases(database, merchant)).map((found) => found.payment_id));
  for (const payment of told.payments) {
    const now = await reread(database, payment);
    if (isFinal(now) || asked.has(now.id)) continue;
    const neverArrived = !told.world.has(payment) && now.next_step === 'poll';
    const oddities = [...(told.world.oddities.get(payment.reference) ?? [])];
    if (neverArrived) oddities.push('never arrived, may not go again');
    expect(oddities, `${now.kind} is ${now.status}, ${now.parked_reason}`).to.not.deep.equal([]);
    expect(now.parked_reason ?? now.next_step, 'what it waits for').to.be.a('string');
  }
}

function isFinal(payment: AnyPayment): boolean {
  const isRefunding =
    payment.kind === 'payout' && payment.status === 'failed' && payment.refund_posted_at === null;
  return (payment.status === 'completed' || payment.status === 'failed') && !isRefunding;
}

/** What the API shows of a payment is what its merchant was told last. */
export async function expectTold(database: Database, told: History): Promise<void> {
  for (const payment of told.payments) {
    if (payment.kind === 'return') continue;
    const now = await reread(database, payment);
    const { status } = now.kind === 'payout' ? asShown(now) : now;
    const events = await rows<{ type: string }>(
      database,
      `SELECT type FROM events WHERE merchant_id = :merchant_id AND payment_id = :id
       ORDER BY change_no`,
      { merchant_id: now.merchant_id, id: now.id },
    );
    const types = events.map(({ type }) => type.replace('transaction.', ''));
    const repeated = types.some((type, index) => type === types[index - 1]);
    expect(repeated, `${now.kind} told as ${types}`).to.equal(false);
    if (status === 'completed' || status === 'failed') expect(types.at(-1)).to.equal(status);
    else if (now.undone_at === null) expect(types).to.deep.equal([]);
  }
}

export async function expectInFlight(database: Database, { merchant_id }: Merchant): Promise<void> {
  const [open] = await rows<{ sum: number }>(
    database,
    `SELECT coalesce(sum(amount_cents + fee_cents), 0)::bigint AS sum FROM payouts
     WHERE merchant_id = :merchant_id AND status <> 'completed' AND refund_posted_at IS NULL`,
    { merchant_id },
  );
  expect(await accountBalance(database, merchant_id, 'payouts_in_flight')).to.equal(open!.sum);
}

/** Rounds of decisions after which nothing new may be found. */
const MAX_ROUNDS = 12;

/**
 * Decides about everything that is open, by a word that the list offers, and about what comes of
 * it. `turn` chooses among the words.
 */
export async function decideAll(
  database: Database,
  told: History,
  merchant: Merchant,
  turn: number,
): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const open = await openCases(database, merchant);
    if (open.length === 0) return;
    let decided = 0;
    for (const found of open) {
      const { length } = found.allowed;
      const words = found.allowed.map((_, at) => found.allowed[(at + turn + round) % length]!);
      let isDecided = false;
      for (const word of words) isDecided ||= await decide(database, told, found, word);
      if (isDecided) decided += 1;
    }
    // Some have to wait for a decision about other money of their payment. Not all.
    expect(decided, open.map(({ kind, allowed }) => `${kind}: ${allowed}`).join('; ')).to.be.above(
      0,
    );
    await told.settleDown();
  }
  const left = (await openCases(database, merchant)).map(({ kind }) => kind);
  expect(left, 'what no decision ends').to.deep.equal([]);
}

/**
 * The gateway's balance is the ledger's float of the merchant, unless a person has said that money
 * came back or never moved. @returns the float, in cents
 */
export async function expectBalance(
  database: Database,
  told: History,
  { merchant_id }: Merchant,
): Promise<number> {
  const float = -(await accountBalance(database, merchant_id, 'gateway_float'));
  const said = await rows(
    database,
    `SELECT 1 FROM journals WHERE merchant_id = :merchant_id AND kind IN ('undone', 'cleared')`,
    { merchant_id },
  );
  const balance = told.world.statement.reduce(
    (sum, { kind, amountCents }) => sum + (kind === 'collection' ? amountCents : -amountCents),
    0,
  );
  if (said.length === 0) expect(float, 'the float').to.equal(balance);
  return float;
}

const CHARGE_CENTS = 540;
const TARIFFS = tariffsFromText(
  ['collection', 'payout', 'reversal', 'return']
    .map((kind) => `simulator ${kind} 1=5.40`)
    .join(';'),
);

/** Each movement that the gateway has told of is charged once, however often the charges are booked. */
export async function expectCharges(
  database: Database,
  { merchant_id }: Merchant,
): Promise<number> {
  await Promise.all([1, 2].map(() => bookCharges(database, TARIFFS)));
  const [sum] = await rows<{ booked: number; moved: number }>(
    database,
    `SELECT coalesce(sum(c.booked_cents), 0)::bigint AS booked, count(*) AS moved
     FROM movements m LEFT JOIN charges c ON c.merchant_id = m.merchant_id AND c.movement_id = m.id
     WHERE m.merchant_id = :merchant_id AND coalesce(m.confirmed_by, m.told_by) <> 'support'`,
    { merchant_id },
  );
  expect(sum!.booked, 'charges').to.equal(sum!.moved * CHARGE_CENTS);
  return sum!.booked;
}

/** The balances that the gateway tells after all histories agree with the ledger to the cent. */
export async function expectToldBalances(
  database: Database,
  { utility, charges }: Record<'utility' | 'charges', number>,
): Promise<void> {
  const balances = [
    { sub_account: 'utility', current_cents: utility, available_cents: 0 },
    { sub_account: 'charges', current_cents: -charges, available_cents: 0 },
  ] as const;
  await hearBalances(database, 'simulator', balances, new Date(Date.now() + 60_000));
  const proofs = await latestProofs(database);
  expect(proofs.map(({ difference_cents }) => difference_cents)).to.deep.equal([0, 0]);
}
