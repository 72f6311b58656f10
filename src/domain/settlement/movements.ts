import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { lockReceipt } from '../../connections/locks.ts';
import { openListed, reopenUnknown } from '../discrepancies/unknown-movement.ts';
import { OperatorRefusal } from '../errors.ts';
import type { GatewayPaymentKind, Succeeded, Verdict } from '../gateway-results.ts';
import { type AnyPayment, accountOf, type PaymentRef } from '../payments/payment-store.ts';
import { isSameAccount } from './same-account.ts';
import type { News } from './settle.ts';

/** Money that a gateway says it moved for a payment. The service books each once, when it learns of it. */
export interface Movement {
  merchant_id: number;
  id: string;
  trans_id: string | null;
  amount_cents: number;
  account: string | null;
  completed_at: Date | null;
  /**
   * - settled: booked as the payment's own.
   * - suspense: it waits there for a decision. Nobody has decided.
   * - returning: a return takes it back to the customer.
   * - cleared: it has left suspense.
   * - undoing: the gateway has told of it, and support has undone its payment. It is in suspense until
   *   somebody has seen that it came back.
   * - undone: it did not move, or has come back.
   */
  booked: 'settled' | 'suspense' | 'returning' | 'undoing' | 'cleared' | 'undone';
  /**
   * The cause of the news. 'support' or 'file' when only people have told of it, 'likeness' or 'file_likeness'
   * when a line names no payment, and fits this one.
   */
  told_by: string;
  /** The cause of the news that has proven more than the first. */
  confirmed_by: string | null;
  /** The source that has told the receipt, if it came later than the money. */
  receipt_told_by: string | null;
}

const COLUMNS = `merchant_id, id, trans_id, amount_cents, account, completed_at, booked, told_by,
  confirmed_by, receipt_told_by`;

/**
 * Tells whether something besides the word of support has told of a movement. A file that repeats that
 * word may be of the same person.
 */
export function isOfGateway({ told_by, confirmed_by }: Movement): boolean {
  if (confirmed_by !== null && !UNSURE_SOURCES.includes(confirmed_by)) return true;
  return told_by !== 'support' && !LIKENESSES.includes(told_by);
}

/**
 * The sources of money that only phone, amount and time join to its payment: a line of the gateway's statement, or
 * of a file. It tells of the money, and not whose it is: a stranger may have paid as much.
 */
const LIKENESSES = ['likeness', 'file_likeness'];

/** Returns the source of news, as a movement keeps it. A member may have brought a statement. */
export function sourceOf({ cause, isFromFile, isByLikeness }: News<Verdict>): string {
  if (isByLikeness) return isFromFile ? 'file_likeness' : 'likeness';
  return isFromFile ? 'file' : cause;
}

/** Returns what news has of its source, from the name of the source. */
export function newsFrom(
  source: string,
): Pick<News<Verdict>, 'cause' | 'isFromFile' | 'isByLikeness'> {
  const isByLikeness = LIKENESSES.includes(source);
  const isFromFile = source === 'file' || source === 'file_likeness';
  return { cause: isByLikeness || isFromFile ? 'statement' : source, isFromFile, isByLikeness };
}

/** The sources that prove less than the gateway's own word about a payment, the weaker first. */
export const UNSURE_SOURCES = ['support', 'file_likeness', 'file', 'likeness'];

/** SQL: the sources that prove less than the gateway's own word about a payment. */
export const ARE_UNSURE = `(${UNSURE_SOURCES.map((source) => `'${source}'`).join(', ')})`;

/** Tells whether only people have said that a movement is the payment's, or its likeness alone says so. */
export function isUnsure({ told_by, confirmed_by }: Movement): boolean {
  return UNSURE_SOURCES.includes(confirmed_by ?? told_by);
}

/**
 * Tells whether only people have told the receipt of a movement, or its likeness alone. The receipt may have come
 * later than the money.
 */
export function hasUnsureReceipt({ told_by, confirmed_by, receipt_told_by }: Movement): boolean {
  if (receipt_told_by !== null) return UNSURE_SOURCES.includes(receipt_told_by);
  const isUnproven = confirmed_by === null || confirmed_by.endsWith(WITHOUT_RECEIPT);
  return UNSURE_SOURCES.includes(told_by) && (isUnproven || UNSURE_SOURCES.includes(confirmed_by));
}

/** Tells whether money that the gateway had moved was said to have come back. */
function hasComeBack({ booked }: Movement): boolean {
  return booked === 'undoing' || booked === 'cleared';
}

/** Tells whether a customer's money waits for no return any more: it went back in another way, or never came. */
export function isGone({ booked }: Movement): boolean {
  return booked === 'cleared' || booked === 'undone';
}

/** SQL: the source that proves most of the movement `m`. */
export const BEST_SOURCE = 'coalesce(m.confirmed_by, m.told_by)';

/**
 * SQL: when the movement `m` counts as moved. The time in a file could hide its money from the gateway's
 * statements, so the word of people counts when it was told. It is the expression of an index.
 */
export const MOVED_AT = `CASE WHEN ${BEST_SOURCE} IN ('support', 'file', 'file_likeness') THEN m.learned_at
  ELSE coalesce(m.completed_at, m.learned_at) END`;

/**
 * Returns the sources whose word the news of a source proves. A file proves the word of support. A line of the gateway
 * that names nobody proves both.
 */
export function provenBy(source: string): string[] {
  const rank = UNSURE_SOURCES.indexOf(source);
  return rank < 0 ? UNSURE_SOURCES : UNSURE_SOURCES.slice(0, rank);
}

/** Ends the name of a source that has confirmed the money of a movement, and not its receipt. */
const WITHOUT_RECEIPT = ' without receipt';

/** SQL: `hasUnsureReceipt` of the movement `m`. */
export const HAS_UNSURE_RECEIPT = `coalesce(m.receipt_told_by, CASE
  WHEN coalesce(m.confirmed_by, 'file') IN ${ARE_UNSURE} OR m.confirmed_by LIKE '%${WITHOUT_RECEIPT}'
  THEN m.told_by END, '') IN ${ARE_UNSURE}`;

/** SQL: the gateway itself has not said that the movement `m` is its payment's, or under which receipt. */
export const IS_UNSURE = `(${BEST_SOURCE} IN ${ARE_UNSURE} OR ${HAS_UNSURE_RECEIPT})`;

/** Returns the source that proves most of the money of a movement, whatever has told its receipt. */
export function sourceOfMoney({ told_by, confirmed_by }: Movement): string {
  return (confirmed_by ?? told_by).replace(WITHOUT_RECEIPT, '');
}

/**
 * Records that news proves more than the word of people about a movement.
 * @param receipt is that of the news. Null: the receipt that support has given stays unproven.
 */
export async function confirmMovement(
  trx: Transaction,
  { merchant_id, id, trans_id, told_by, confirmed_by, receipt_told_by }: Movement,
  source: string,
  receipt: string | null,
): Promise<void> {
  if (receipt !== null && receipt_told_by !== null && provenBy(source).includes(receipt_told_by)) {
    await rows(
      trx,
      'UPDATE movements SET receipt_told_by = :source WHERE merchant_id = :merchant_id AND id = :id',
      { merchant_id, id, source },
    );
  }
  const word = confirmed_by?.endsWith(WITHOUT_RECEIPT) ? told_by : (confirmed_by ?? told_by);
  if (!provenBy(source).includes(word)) return;
  const isUnproven = receipt === null && trans_id !== null && UNSURE_SOURCES.includes(told_by);
  await rows(
    trx,
    'UPDATE movements SET confirmed_by = :by WHERE merchant_id = :merchant_id AND id = :id',
    { merchant_id, id, by: isUnproven ? `${source}${WITHOUT_RECEIPT}` : source },
  );
}

/** Reads the movements of a payment. Lock the payment before a change that depends on them. */
export async function movementsOf(
  trx: Database | Transaction,
  payment: AnyPayment,
): Promise<Movement[]> {
  return rows<Movement>(
    trx,
    `SELECT ${COLUMNS} FROM movements
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
     ORDER BY learned_at, id`,
    payment,
  );
}

/** Names a movement of a merchant. */
export type MovementRef = Pick<Movement, 'merchant_id' | 'id'>;

/** Reads a movement. @throws Error when it does not exist: the caller has its id from a row. */
export async function findMovement(trx: Transaction, ref: MovementRef): Promise<Movement> {
  const movement = await firstRow<Movement>(
    trx,
    `SELECT ${COLUMNS} FROM movements WHERE merchant_id = :merchant_id AND id = :id`,
    ref,
  );
  if (!movement) throw new Error(`Movement ${ref.id} is gone`);
  return movement;
}

/**
 * Returns the known movement that this news repeats: the one with the same receipt, or, when
 * one side has no receipt, the one that may be the same.
 */
export function repeatedMovement(known: Movement[], news: Succeeded): Movement | undefined {
  if (news.transId === null) return known[0];
  const receipt = news.transId.toUpperCase();
  return (
    known.find(({ trans_id }) => trans_id?.toUpperCase() === receipt) ??
    known.find(({ trans_id }) => trans_id === null)
  );
}

/**
 * Returns how a movement differs from the booked one that it repeats, or else from what was asked
 * for, if it does. A gateway that names no account or no amount contradicts none. One that names the
 * whole amount for a part of it does not either.
 */
export function mismatchOf(
  payment: AnyPayment,
  news: Succeeded,
  booked?: Movement,
): 'other_account' | 'other_amount' | null {
  const account = booked?.account ?? accountOf(payment);
  const amounts = [(booked ?? payment).amount_cents];
  if (booked?.booked === 'settled') amounts.push(payment.amount_cents);
  if (news.account !== null && !isSameAccount(news.account, account)) return 'other_account';
  const isOther = news.amountCents !== null && !amounts.includes(news.amountCents);
  return isOther ? 'other_amount' : null;
}

/**
 * Records a movement of a payment, and claims its receipt.
 * @returns null when the receipt belongs to another payment. It records nothing then.
 */
export async function insertMovement(
  trx: Transaction,
  payment: AnyPayment,
  news: News<Succeeded>,
  booked: 'settled' | 'suspense',
): Promise<Movement | null> {
  const bindings = movementBindings(payment, news, booked);
  return claim(trx, payment, news.transId, async () => {
    const movement = await firstRow<Movement>(
      trx,
      `WITH ${claimed()} ${INSERT_MOVEMENT}
         WHERE CAST(:trans_id AS text) IS NULL OR EXISTS (SELECT FROM claimed)
       RETURNING ${COLUMNS}`,
      bindings,
    );
    return movement ?? null;
  });
}

/**
 * Claims a receipt by `work`, which gives null or false when a payment has it already. That payment keeps it until
 * the commit: a decision that gives the receipt up waits, and finds this claim.
 */
async function claim<Made>(
  trx: Transaction,
  payment: AnyPayment,
  receipt: string | null,
  work: () => Promise<Made>,
): Promise<Made> {
  const made = await work();
  if (made || receipt === null) return made;
  await lockReceipt(trx, receipt, 'shared');
  return (await ownerOfReceipt(trx, payment, receipt)) ? made : work();
}

/** SQL: records a movement. A FROM or a condition may follow. */
export const INSERT_MOVEMENT = `INSERT INTO movements (merchant_id, id, payment_kind, payment_id,
    gateway, trans_id, amount_cents, account, completed_at, booked, heard_at, told_by)
  SELECT :merchant_id, :movement_id, :kind, :id, :gateway, :trans_id,
    :amount_cents, :account, CAST(:completed_at AS timestamptz), :booked,
    coalesce(CAST(:heard_at AS timestamptz), clock_timestamp()), :told_by`;

/** Returns the values for `INSERT_MOVEMENT`, and for the claim of its receipt. */
export function movementBindings(
  payment: AnyPayment,
  news: News<Succeeded>,
  booked: 'settled' | 'suspense',
) {
  return {
    ...payment,
    movement_id: uuidv7(),
    direction: directionOf(payment.kind),
    heard_at: news.heardAt,
    told_by: sourceOf(news),
    trans_id: news.transId,
    // A gateway that names no amount means the one that it was asked for.
    amount_cents: news.amountCents ?? payment.amount_cents,
    account: wholeAccount(payment, news.account),
    completed_at: news.completedAt,
    booked,
  };
}

/** Returns the account to book. One with hidden digits tells no more than the payment's own. */
function wholeAccount(payment: AnyPayment, account: string | null): string | null {
  const own = accountOf(payment);
  return account !== null && isSameAccount(account, own) ? own : account;
}

/**
 * Adds a receipt that was not known when the movement was recorded, and claims it.
 * @param source is the source of the news: see `sourceOf`
 * @returns false when the receipt belongs to another payment. It changes nothing then.
 */
export async function fillReceipt(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
  trans_id: string | null,
  source: string,
): Promise<boolean> {
  if (movement.trans_id !== null || trans_id === null) return true;
  const direction = directionOf(payment.kind);
  const bindings = { ...payment, movement_id: movement.id, trans_id, direction, source };
  return claim(trx, payment, trans_id, () =>
    hasRow(
      trx,
      `WITH ${claimed()}
       UPDATE movements SET trans_id = claimed.receipt, receipt_told_by = :source FROM claimed
       WHERE merchant_id = :merchant_id AND movements.id = :movement_id RETURNING movements.id`,
      bindings,
    ),
  );
}

/** Every change of where a movement is booked. */
const REBOOKINGS: Readonly<Record<Movement['booked'], readonly Movement['booked'][]>> = {
  suspense: ['settled', 'returning', 'cleared', 'undone'],
  returning: ['cleared', 'suspense'],
  settled: ['undoing', 'undone'],
  undoing: ['returning', 'cleared', 'undone'],
  // A return that was undone has left the money of its collection undecided. Support's word that money
  // has come back may be taken back.
  cleared: ['suspense', 'undone'],
  undone: [],
};

/**
 * Records that a movement is booked elsewhere now. Its journal belongs in the same transaction.
 * @throws Error when the movement cannot go there from where it is booked
 */
export async function rebookMovement(
  trx: Transaction,
  ref: MovementRef,
  booked: Movement['booked'],
): Promise<void> {
  const from = Object.entries(REBOOKINGS).filter(([, to]) => to.includes(booked));
  const isRebooked = await hasRow(
    trx,
    `UPDATE movements SET booked = :booked
     WHERE merchant_id = :merchant_id AND id = :id AND booked = ANY (:from) RETURNING id`,
    { ...ref, booked, from: from.map(([name]) => name) },
  );
  if (!isRebooked) throw new Error(`Movement ${ref.id} cannot be booked as ${booked}`);
}

/**
 * Gives the movement that completed a payment the amount that the gateway has told since, in cents. The
 * payment must be locked. The database refuses an amount that no finding has told.
 * @throws OperatorRefusal when the payment has moved in parts
 */
export async function correctAmount(
  trx: Transaction,
  payment: PaymentRef,
  amount_cents: number,
): Promise<void> {
  const { merchant_id, kind, id } = payment;
  const corrected = await rows(
    trx,
    `UPDATE movements SET amount_cents = :amount_cents
     WHERE merchant_id = :merchant_id AND payment_kind = :kind AND payment_id = :id
       AND booked = 'settled' RETURNING id`,
    { merchant_id, kind, id, amount_cents },
  );
  if (corrected.length === 0) throw new Error(`The ${kind} ${id} has no movement of its own`);
  if (corrected.length === 1) return;
  throw new OperatorRefusal(`The ${kind} has moved in parts: undo it, and decide about each part`);
}

/*
 * A receipt belongs to one payment, or to an adoption. The unique index of `receipts` says so, for all who ask at
 * the same moment: gateway, direction and receipt, in small or capital letters.
 */

/** Returns the direction of a kind's money. A gateway may use a receipt once in each. */
export function directionOf(kind: GatewayPaymentKind): 'in' | 'out' {
  return kind === 'collection' ? 'in' : 'out';
}

/**
 * Returns the CTE `claimed`, which claims `:trans_id` for the payment. It has no row when the
 * receipt is null, or belongs to a payment already.
 * @param from is SQL: the CTE that must have a row first, if any.
 */
export function claimed(from = ''): string {
  return `claimed AS (
    INSERT INTO receipts (gateway, direction, receipt, merchant_id, payment_kind, payment_id)
    SELECT :gateway, :direction, :trans_id, :merchant_id, :kind, :id ${from}
    WHERE CAST(:trans_id AS text) IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING receipt
  )`;
}

/** The payment that has a receipt, or the adoption of money whose payment is not here. */
export type OwnerOfReceipt = PaymentRef | (MovementRef & { kind: 'adoption' });

/** Finds what a receipt belongs to. */
export async function ownerOfReceipt(
  trx: Database | Transaction,
  { kind, gateway }: Pick<AnyPayment, 'kind' | 'gateway'>,
  receipt: string,
): Promise<OwnerOfReceipt | undefined> {
  return firstRow<OwnerOfReceipt>(
    trx,
    `SELECT payment_kind AS kind, merchant_id, payment_id AS id FROM receipts
     WHERE gateway = :gateway AND direction = :direction AND upper(receipt) = upper(:receipt)`,
    { gateway, direction: directionOf(kind), receipt },
  );
}

/** Returns the times of customers' payments by receipt, as callbacks and answers have told them. */
export async function timesOfReceipts(
  database: Database,
  gateway: string,
  receipts: string[],
): Promise<Map<string, Date>> {
  const found = await rows<{ trans_id: string; completed_at: Date }>(
    database,
    `SELECT trans_id, completed_at FROM movements
     WHERE gateway = :gateway AND trans_id = ANY (:receipts) AND payment_kind = 'collection'
       AND completed_at IS NOT NULL AND told_by IN ('callback', 'poll')`,
    { gateway, receipts },
  );
  return new Map(found.map(({ trans_id, completed_at }) => [trans_id, completed_at]));
}

/**
 * Gives a movement's receipt up. Another payment may have it then. Money that was unknown before is
 * unknown again, unless the gateway itself has told that this payment's money moved and came back. So is money
 * that a statement lists without naming a payment.
 */
export async function releaseReceipt(
  trx: Transaction,
  payment: AnyPayment,
  movement: Movement,
): Promise<void> {
  if (movement.trans_id !== null) await lockReceipt(trx, movement.trans_id, 'exclusive');
  await firstRow(
    trx,
    `DELETE FROM receipts WHERE gateway = :gateway AND direction = :direction
       AND upper(receipt) = upper(:trans_id) AND merchant_id = :merchant_id AND payment_id = :id`,
    { ...payment, direction: directionOf(payment.kind), trans_id: movement.trans_id },
  );
  if (hasComeBack(movement) && !isUnsure(movement)) return;
  const { gateway, reference, kind: payment_kind } = payment;
  await reopenUnknown(trx, { ...movement, gateway, reference, payment_kind });
  if (movement.trans_id === null || !hasUnsureReceipt(movement)) return;
  await openListed(trx, gateway, payment_kind, movement.trans_id);
}
