import { expect } from 'chai';
import { type Database, rows } from '../../src/connections/database.ts';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import { bookCharges } from '../../src/domain/gateway-accounts/charges.ts';
import { tariffsFromText } from '../../src/domain/gateway-accounts/tariffs.ts';
import { formatAmount } from '../../src/domain/money.ts';
import { asShown } from '../../src/domain/payments/kinds.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import type { Reconciliation } from '../../src/domain/reconciliation/reconcile.ts';
import { ARE_OF_PEOPLE } from '../../src/domain/settlement/sources.ts';
import type { History } from './history.ts';
import { TOLD_CHARGE_CENTS } from './history-statements.ts';
import { openCases } from './history-support.ts';
import { accountBalance } from './ledger-check.ts';
import { reread } from './payments.ts';

type Merchant = { merchant_id: number };

/** A statement lacks nothing but what support alone has told of. */
export function expectMissing({ world }: History, { missing }: Reconciliation): void {
  const invented = missing.filter(({ reference }) => !world.isByHand(reference));
  expect(invented, 'movements that were never made').to.deep.equal([]);
}

/**
 * What the gateway has moved is what is booked, each movement once. One that support has undone
 * is booked anew when the gateway tells of it again, also for the payment that it is of. The undone
 * row then counts no longer, also when support has undone the new one too. Neither does support's own
 * word that was taken back, unless its money has moved and is said to be back.
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
     WHERE merchant_id = :merchant_id AND NOT (booked = 'undone' AND (
       told_by = 'support' AND coalesce(confirmed_by, 'file') IN ('file', 'likeness') AND back_at IS NULL
       OR EXISTS (
       SELECT FROM movements AS again
       WHERE again.merchant_id = movement.merchant_id
         AND (again.payment_id = movement.payment_id AND again.id > movement.id
           OR again.payment_id <> movement.payment_id
             AND (again.booked <> 'undone'
               OR again.id > movement.id AND again.trans_id = movement.trans_id)
             AND (again.payment_kind = 'collection') = (movement.payment_kind = 'collection'))
         AND again.trans_id = coalesce(movement.trans_id, again.trans_id))))`,
    { merchant_id },
  );
  const moved = told.world.statement.reduce(
    (sum, { kind, amountCents }) => sum + (kind === 'collection' ? -amountCents : amountCents),
    0,
  );
  const disputed = await disputedCents(database, told, merchant_id);
  const different = await differentCents(database, told, merchant_id);
  const dismissed = await dismissedCents(database, merchant_id);
  expect(booked!.sum + disputed + different + dismissed, 'what has moved').to.equal(moved);
}

/**
 * Sums the money that no payment explained when it was listed, and that support has dismissed: it is booked by hand, or
 * sent back. @returns what went out less what came in, in cents
 */
async function dismissedCents(database: Database, merchant_id: number): Promise<number> {
  const [dismissed] = await rows<{ sum: number }>(
    database,
    `SELECT coalesce(sum(CASE details->>'kind' WHEN 'collection' THEN -amount_cents
       ELSE amount_cents END), 0)::bigint AS sum
     FROM discrepancies d WHERE kind = 'unknown_movement' AND resolution = 'dismissed'
       AND trans_id ~ :receipts AND NOT EXISTS (SELECT FROM movements m
         WHERE m.trans_id = d.trans_id AND (m.booked <> 'undone' OR m.told_by <> 'support'
           OR coalesce(m.confirmed_by, 'file') NOT IN ('file', 'likeness') OR m.back_at IS NOT NULL))`,
    { receipts: `^M${merchant_id}R` },
  );
  return dismissed!.sum;
}

/**
 * Sums by how much more has moved than is booked, where somebody must decide about the amount.
 * @returns what went out less what came in, in cents
 */
async function differentCents(
  database: Database,
  { world }: History,
  merchant_id: number,
): Promise<number> {
  const asked = await rows<{ kind: string; trans_id: string; told: number; booked: number }>(
    database,
    `SELECT m.payment_kind AS kind, m.trans_id, d.amount_cents AS told, m.amount_cents AS booked
     FROM discrepancies d JOIN movements m ON m.merchant_id = d.merchant_id
       AND m.payment_id = d.payment_id AND m.trans_id = d.trans_id AND m.booked = 'settled'
     WHERE d.merchant_id = :merchant_id AND d.kind = 'other_amount' AND d.movement_id IS NULL
       AND d.resolved_at IS NULL`,
    { merchant_id },
  );
  const moved = asked.filter(({ trans_id, told }) =>
    world.statement.some(
      ({ transId, amountCents }) => transId === trans_id && amountCents === told,
    ),
  );
  return moved.reduce(
    (sum, { kind, told, booked }) => sum + (kind === 'collection' ? booked - told : told - booked),
    0,
  );
}

/**
 * Sums the money that an answer without a receipt has booked, before a callback told its receipt,
 * which another payment has. Until somebody decides, one movement is booked for both. Such a callback may never come.
 * @returns what came in less what went out, in cents
 */
async function disputedCents(
  database: Database,
  { payments, world }: History,
  merchant_id: number,
): Promise<number> {
  const unmoved = payments.filter((payment) => {
    const mayComplete = world.oddities.get(payment.reference)?.has('shared receipt');
    return mayComplete && !world.of(payment)?.movements[0];
  });
  const [disputed] = await rows<{ sum: number }>(
    database,
    `SELECT coalesce(sum(CASE m.payment_kind WHEN 'collection' THEN m.amount_cents
       ELSE -m.amount_cents END), 0)::bigint AS sum
     FROM movements m WHERE m.merchant_id = :merchant_id AND m.trans_id IS NULL
       AND (m.booked <> 'undone' AND m.payment_id = ANY (:unmoved)
       OR ${isDisputed('m')})`,
    { merchant_id, unmoved: unmoved.map(({ id }) => id) },
  );
  return disputed!.sum + (await toldTwiceCents(database, world, merchant_id, unmoved));
}

/** SQL: an answer without a receipt has booked the movement, and its receipt is booked for another payment. */
const isDisputed = (
  movement: string,
) => `(${movement}.trans_id IS NULL AND ${movement}.booked = 'settled'
  AND EXISTS (SELECT FROM discrepancies d WHERE d.merchant_id = ${movement}.merchant_id
    AND d.payment_kind = ${movement}.payment_kind AND d.payment_id = ${movement}.payment_id
    AND d.kind = 'receipt_of_another' AND d.resolved_at IS NULL))`;

/**
 * Sums the money that the gateway has told under the receipt of another payment, and of which support has decided as if
 * it had moved, while the payment that had it has all its money as well. @returns what came in less what went out, in cents
 */
async function toldTwiceCents(
  database: Database,
  world: History['world'],
  merchant_id: number,
  unmoved: readonly AnyPayment[],
): Promise<number> {
  const owners = world.statement.map(({ transId, reference }) => {
    const count = world.statement.filter((each) => each.reference === reference).length;
    return { transId, reference, count };
  });
  const [twice] = await rows<{ sum: number }>(
    database,
    `SELECT coalesce(sum(CASE m.payment_kind WHEN 'collection' THEN m.amount_cents
       ELSE -m.amount_cents END), 0)::bigint AS sum
     FROM movements m
     JOIN jsonb_to_recordset(CAST(:owners AS jsonb)) AS o ("transId" text, reference text, count int)
       ON o."transId" = m.trans_id
     WHERE m.merchant_id = :merchant_id AND m.payment_id = ANY (:unmoved) AND m.booked <> 'undone'
       AND o.count <= (SELECT count(*) FROM collections c JOIN movements own
           ON own.merchant_id = c.merchant_id AND own.payment_id = c.id
         WHERE c.merchant_id = m.merchant_id AND c.id <> m.payment_id
           AND CAST(c.reference AS text) = o.reference AND own.booked <> 'undone'
           AND NOT ${isDisputed('own')})`,
    { merchant_id, owners: JSON.stringify(owners), unmoved: unmoved.map(({ id }) => id) },
  );
  return twice!.sum;
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
  const open = await openCases(database, merchant);
  const asked = new Set(open.map((found) => found.payment_id));
  const named = new Set(
    open.flatMap(({ details }) => [details.booked_for, ...((details.candidates as []) ?? [])]),
  );
  for (const payment of told.payments) {
    const now = await reread(database, payment);
    // A reversal, or a return, waits for the receipt of its collection, and while its money may be back already, or other
    // money its own.
    const isAsked =
      asked.has(now.id) ||
      ((now.kind === 'reversal' || now.kind === 'return') &&
        (asked.has(now.collection_id) ||
          named.has(`collection ${now.collection_id} of merchant ${now.merchant_id}`)));
    if (isFinal(now) || isAsked) continue;
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
    const events = await rows<{ type: string; amount: string }>(
      database,
      `SELECT type, CAST(body AS jsonb) #>> '{data,amount}' AS amount FROM events
       WHERE merchant_id = :merchant_id AND payment_id = :id ORDER BY change_no`,
      { merchant_id: now.merchant_id, id: now.id },
    );
    const words = events.map(({ type, amount }) => `${type.replace('transaction.', '')} ${amount}`);
    const again = words.filter((word, index) => {
      const [type] = word.split(' ');
      // Support has accepted another amount.
      const isCorrected = type === 'completed' && word !== words[index - 1];
      return !isCorrected && words[index - 1]?.startsWith(`${type} `);
    });
    expect(again, `${now.kind} told as ${words}`).to.deep.equal([]);
    const isEnded = status === 'completed' || status === 'failed';
    if (isEnded) expect(words.at(-1)).to.equal(`${status} ${formatAmount(now.amount_cents)}`);
    else if (now.undone_at === null) expect(words).to.deep.equal([]);
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

/**
 * The gateway's balance is the ledger's float of the merchant, unless a person has said that money
 * came back or never moved, or has given a receipt. @returns the float, in cents
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
  if (said.length === 0 && told.world.words === 0) {
    const disputed = await disputedCents(database, told, merchant_id);
    const different = await differentCents(database, told, merchant_id);
    const dismissed = await dismissedCents(database, merchant_id);
    expect(float - disputed - different - dismissed, 'the float').to.equal(balance);
  }
  return float;
}

/** No refund was posted while it was open where the money of its payout was. */
export async function expectNoRashRefund(
  database: Database,
  { merchant_id }: Merchant,
): Promise<void> {
  const rash = await rows(
    database,
    `SELECT d.kind, d.trans_id, p.id FROM payouts p JOIN discrepancies d
       ON d.merchant_id = p.merchant_id AND d.payment_kind = 'payout' AND d.payment_id = p.id
     WHERE p.merchant_id = :merchant_id AND d.opened_at < p.refund_posted_at
       AND coalesce(d.resolved_at > p.refund_posted_at, true)
       AND (d.kind IN ('receipt_of_another', 'other_payment')
         OR d.movement_id IS NOT NULL AND d.kind <> 'undone_money')`,
    { merchant_id },
  );
  expect(rash, 'refunds while a question was open').to.deep.equal([]);
}

const CHARGE_CENTS = 540;
const TARIFFS = tariffsFromText(
  ['collection', 'payout', 'reversal', 'return']
    .map((kind) => `simulator ${kind} 1=5.40`)
    .join(';'),
);

/**
 * Each movement that the gateway has told of is charged once, by the tariff or by a statement,
 * however often the charges are booked. One that was undone costs what the gateway's statement says. @returns the sum, in cents
 */
export async function expectCharges(
  database: Database,
  { merchant_id }: Merchant,
): Promise<number> {
  await Promise.all([1, 2].map(() => bookCharges(database, TARIFFS)));
  const charges = await rows<{ is_only_said: boolean; booked: string; cents: number | null }>(
    database,
    `SELECT m.told_by = 'support' AND coalesce(m.confirmed_by, 'support') IN ${ARE_OF_PEOPLE} AS is_only_said, m.booked,
       coalesce(c.told_cents, c.booked_cents) AS cents
     FROM movements m LEFT JOIN charges c ON c.merchant_id = m.merchant_id AND c.movement_id = m.id
     WHERE m.merchant_id = :merchant_id`,
    { merchant_id },
  );
  const odd = charges.filter(({ is_only_said, booked, cents }) =>
    booked === 'undone'
      ? ![null, 0, TOLD_CHARGE_CENTS].includes(cents)
      : cents === null
        ? !is_only_said
        : ![CHARGE_CENTS, TOLD_CHARGE_CENTS].includes(cents),
  );
  expect(odd, 'charges').to.deep.equal([]);
  return charges.reduce((sum, { cents }) => sum + (cents ?? 0), 0);
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
