import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { type Database, hasRow, inTransaction, rows } from '../../src/connections/database.ts';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import { type AnyPayment, findPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import {
  casesOf,
  type DiscrepancyCase,
  findCase,
  listCases,
} from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import type { Whose } from './gateway-world.ts';
import type { History } from './history.ts';
import { reconcileWith } from './history-statements.ts';
import { reread } from './payments.ts';
import { RESOLVING } from './submissions.ts';

const MAX_CASES = 100;

type Told = Pick<History, 'world' | 'gateway'>;
type Merchant = { merchant_id: number };

/** Lists what nobody has decided about a merchant's payments, and about money that they explain. */
export async function openCases(
  database: Database,
  { merchant_id }: Merchant,
): Promise<DiscrepancyCase[]> {
  const cases = await listCases(database, { open: true, merchant_id, limit: MAX_CASES });
  const unexplained = await rows<{ id: string }>(
    database,
    `SELECT id FROM discrepancies
     WHERE kind IN ('unknown_movement', 'money_back') AND resolved_at IS NULL AND trans_id ~ :receipts`,
    { receipts: `^M${merchant_id}R` },
  );
  const found = await Promise.all(unexplained.map(({ id }) => findCase(database, id)));
  return [...cases, ...found.map((each) => each!)];
}

/** Decides about one of the open discrepancies by one of the words that the list offers. */
export async function decideOne(
  database: Database,
  told: Told,
  merchant: Merchant,
  { who, word }: { who: number; word: number },
): Promise<void> {
  const open = await openCases(database, merchant);
  const found = open[who % Math.max(1, open.length)];
  if (!found) return;
  const as = found.allowed[word % found.allowed.length]!;
  if (!(await isWrong(database, told, found, as))) await decide(database, told, found, as);
}

/**
 * Tells whether a word about a receipt contradicts the portal. Where somebody may have told wrongly,
 * support has to look there, or the books stay as wrong as the word.
 */
async function isWrong(
  database: Database,
  told: Told,
  found: DiscrepancyCase,
  as: Resolution,
): Promise<boolean> {
  const { kind, trans_id, allowed, status, amount_cents } = found;
  if (found.is_claimed && allowed.includes('undo')) {
    const claimed = { ...(await paymentOf(database, found)), amount_cents: amount_cents! };
    return (as === 'undo') === told.world.hasReceipt(claimed, trans_id);
  }
  // A customer gets no money back that the portal has never had.
  if (kind === 'undone_money' && as === 'returned' && allowed.includes('undo')) {
    return told.world.of(await paymentOf(database, found))?.movements.length === 0;
  }
  const isCorrectable = allowed.includes('accept-amount') && allowed.includes('undo');
  // After its reversal a collection cannot be undone. Its amount can still be made right.
  if (isCorrectable && status === 'completed' && (await hasReversal(database, found))) {
    return as === 'dismissed';
  }
  if (!ABOUT_RECEIPTS.has(kind) || status !== 'completed' || !allowed.includes('undo'))
    return false;
  // Two payments claim the receipt: only the portal tells whose it is.
  const isClaim = kind === 'receipt_of_another';
  if (!isCorrectable && !isClaim && !(await mayBeWrong(database, told, found))) return false;
  const payment = await paymentOf(database, found);
  if (as === 'accept-amount') {
    return !told.world.hasReceipt({ ...payment, amount_cents: amount_cents! }, trans_id);
  }
  const isItsOwn = told.world.hasReceipt(payment, trans_id);
  // The receipt comes to its payment once the other one gives it up, unless somebody says otherwise.
  if (as === 'dismissed' && isItsOwn && payment.trans_id === null) return true;
  return (as === 'undo') === isItsOwn;
}

function hasReversal(
  database: Database,
  { merchant_id, payment_id: id }: DiscrepancyCase,
): Promise<boolean> {
  return hasRow(
    database,
    `SELECT FROM reversals
     WHERE merchant_id = :merchant_id AND collection_id = :id AND status = 'completed'`,
    { merchant_id, id },
  );
}

/**
 * Tells whether support may have spoken against the portal, or the gateway may have told of a success
 * that is not: first without a receipt, then under the receipt of another payment. Support can take
 * a right receipt back, and call two payments of the portal the same: the next statement finds both.
 */
async function mayBeWrong(
  database: Database,
  { world }: Told,
  { merchant_id }: Pick<DiscrepancyCase, 'merchant_id'>,
): Promise<boolean> {
  if (world.words > 0) return true;
  return hasRow(
    database,
    `SELECT FROM movements m WHERE m.merchant_id = :merchant_id AND (m.told_by = 'support'
       OR m.booked = 'undone' OR m.trans_id IS NULL AND EXISTS (SELECT FROM discrepancies d
         WHERE d.merchant_id = m.merchant_id AND d.payment_kind = m.payment_kind
           AND d.payment_id = m.payment_id AND d.kind = 'receipt_of_another'))`,
    { merchant_id },
  );
}

const ABOUT_RECEIPTS: ReadonlySet<string> = new Set([
  ...['missing_at_gateway', 'receipt_of_another', 'other_amount', 'doubted'],
]);

/** A colleague looks into the portal, and doubts a receipt that support has given and it lacks. */
async function doubtIfWrong(
  database: Database,
  { world }: Told,
  payment: AnyPayment,
): Promise<void> {
  const isRight =
    world.hasReceipt(payment, payment.trans_id) || world.isPart(payment, payment.trans_id);
  const isWrong = world.isByHand(payment.reference) && !isRight;
  if (payment.status === 'completed' && isWrong) await doubt(database, payment);
}

/** Completes an overdue payment by the word of support, with a receipt that is right or wrong. */
export async function completeByHand(
  database: Database,
  told: Told,
  payment: AnyPayment,
  whose: Whose,
): Promise<void> {
  const transId = told.world.receiptFor(payment, whose);
  const open = (await casesOf(database, refOf(payment))).find(
    ({ kind, allowed }) => kind === 'overdue' && allowed.includes('completed'),
  );
  if (!open || transId === null) return;
  const isDone = await resolve(database, told, open.id, { as: 'completed', transId });
  if (!isDone) return;
  told.world.noteWord(payment);
  await dateMovements(database, told, payment);
}

/** Dates movements of which nobody has told the time: the statements are of the day of the history. */
async function dateMovements(
  database: Database,
  { world: { completedAt } }: Told,
  { merchant_id, id }: AnyPayment,
): Promise<void> {
  await rows(
    database,
    `UPDATE movements SET completed_at = :completedAt
     WHERE merchant_id = :merchant_id AND payment_id = :id AND completed_at IS NULL`,
    { merchant_id, id, completedAt },
  );
}

/** A colleague doubts what support has said of the end of a payment, if support has said it. */
export async function doubt(database: Database, payment: AnyPayment): Promise<void> {
  // Nobody looks up more than 100 things within a minute: each merchant has a colleague of its own.
  const actor = `colleague-${payment.merchant_id}`;
  const doubting = { actor, action: 'payment.doubt', reason: 'The wrong row' };
  try {
    await doubtPayment(auditedFor(database, doubting), refOf(payment), doubting);
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
  }
}

/** @returns whether the decision was possible */
async function decide(
  database: Database,
  told: Told,
  found: DiscrepancyCase,
  as: Resolution,
): Promise<boolean> {
  // Support says that a payment is completed only when it is.
  if (found.kind === 'overdue' && as === 'completed') {
    if (!told.world.hasMoved(await paymentOf(database, found))) return false;
  }
  const transId = as === 'parts' ? await partsOf(database, told, found) : null;
  return resolve(database, told, found.id, { as, transId });
}

/** The receipts of a payment in the portal. */
async function partsOf(database: Database, { world }: Told, found: DiscrepancyCase) {
  const { movements = [] } = world.of(await paymentOf(database, found)) ?? {};
  return movements.map(({ transId }) => transId).join(' ');
}

async function resolve(
  database: Database,
  { gateway }: Told,
  id: string,
  word: { as: Resolution; transId: string | null },
): Promise<boolean> {
  const resolving = { ...RESOLVING, parserOf: gateway.parserOf };
  const decision = { ...word, actor: 'tester', reason: 'because' };
  try {
    await inTransaction(database, (trx) => resolveDiscrepancy(trx, id, decision, resolving));
    return true;
  } catch (error) {
    if (error instanceof OperatorRefusal) return false;
    throw error;
  }
}

async function paymentOf(database: Database, found: DiscrepancyCase): Promise<AnyPayment> {
  const { payment_kind: kind, merchant_id, payment_id: id } = found;
  const ref = { kind: kind!, merchant_id: merchant_id!, id: id! };
  return (await findPayment(database, ref))!;
}

/** Rounds of decisions after which nothing new may be found. */
const MAX_ROUNDS = 12;
/** Rounds of answers to a gateway that says nothing more. An answer may ask for another one. */
const LAST_ROUNDS = 3;

/**
 * Decides about everything that is open, by a word that the list offers, and about what comes of
 * it. `turn` chooses among the words. @returns the rounds that it took
 */
export async function decideAll(
  database: Database,
  told: History,
  merchant: Merchant,
  turn: number,
): Promise<number> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const open = await openCases(database, merchant);
    if (open.length === 0) return round;
    const at = turn + round;
    const decided =
      (await decideEach(database, told, open, at)) ||
      (await decideOnceFunded(database, told, open, at, merchant)) ||
      // What the portal contradicts is only said where no other word is possible.
      (await decideEach(database, told, open, at, true));
    // Some have to wait for a decision about other money of their payment. Not all.
    expect(decided, open.map(({ kind, allowed }) => `${kind}: ${allowed}`).join('; ')).to.be.above(
      0,
    );
    await told.settleDown();
  }
  // A gateway that tells of a success which never was repeats it after each answer, until it is silent.
  for (let open = await openCases(database, merchant), round = 0; round < LAST_ROUNDS; round += 1) {
    await decideEach(database, told, open, turn);
    open = await openCases(database, merchant);
  }
  const left = (await openCases(database, merchant)).map(({ kind }) => kind);
  expect(left, 'what no decision ends').to.deep.equal([]);
  return MAX_ROUNDS;
}

/** More than the payouts of a history can take. */
const PLENTY_CENTS = 100_000;

/** Decides once the payout wallet can pay an amount that is higher than what was asked for. */
async function decideOnceFunded(
  database: Database,
  told: History,
  open: DiscrepancyCase[],
  turn: number,
  { merchant_id }: Merchant,
): Promise<number> {
  if (!open.some(({ kind }) => kind === 'other_amount')) return 0;
  await topUpPayoutWallet(database, merchant_id, PLENTY_CENTS, `funds-${merchant_id}`);
  return decideEach(database, told, open, turn);
}

/** Begins with another word in each turn. @returns the number of cases that it has decided */
async function decideEach(
  database: Database,
  told: History,
  open: DiscrepancyCase[],
  turn: number,
  isLast = false,
): Promise<number> {
  let decided = 0;
  for (const { id } of open) {
    // Another decision may have changed the case, or ended it.
    const found = (await findCase(database, id))!;
    const { kind, allowed } = found;
    if (found.resolved_at !== null) continue;
    expect(allowed, `words for ${kind}`).to.not.deep.equal([]);
    let isDecided = false;
    for (const index of allowed.keys()) {
      const word = allowed[(index + turn) % allowed.length]!;
      if (isDecided || (!isLast && (await isWrong(database, told, found, word)))) continue;
      isDecided = await decide(database, told, found, word);
    }
    if (isDecided) decided += 1;
  }
  return decided;
}

/** Statements after which no wrong word is left. */
const CORRECTIONS = 3;

/**
 * What was told wrongly shows in the portal or in the next statements, and is taken back.
 * Nothing that is open holds that up: it ends by its deadline.
 */
export async function correctWords(
  database: Database,
  told: History,
  merchant: Merchant,
  turn: number,
): Promise<void> {
  if (!(await mayBeWrong(database, told, merchant))) return;
  for (let round = 0; round < CORRECTIONS; round += 1) {
    for (const payment of told.payments) {
      const now = await reread(database, payment);
      if (now.next_step !== null) await told.passDeadline(now);
      await doubtIfWrong(database, told, now);
      await dateMovements(database, told, now);
    }
    await reconcileWith(database, told, told.world.statement);
    await told.settleDown();
    const rounds = await decideAll(database, told, merchant, turn);
    if (rounds === 0) return;
  }
}
