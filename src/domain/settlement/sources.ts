import { rows, type Transaction } from '../../connections/database.ts';
import type { Succeeded, Verdict } from '../gateway-results.ts';
import type { Movement } from './movements.ts';
import type { News } from './settle.ts';

/*
 * The sources that have told of money. Some prove less than others: people, a file that people have brought, and a
 * line that names no payment.
 */

/**
 * The sources of money that only phone, amount and time join to its payment: a line of the gateway's statement, or
 * of a file. It tells of the money, and not whose it is: a stranger may have paid as much.
 */
export const LIKENESSES = ['likeness', 'file_likeness'];

/** SQL: the likenesses. */
export const ARE_LIKENESSES = "('likeness', 'file_likeness')";

/** The sources that prove less than the gateway's own word about a payment, the weaker first. */
export const UNSURE_SOURCES = ['support', 'file_likeness', 'file', 'likeness'];

/** SQL: the sources that prove less than the gateway's own word about a payment. */
export const ARE_UNSURE = `(${UNSURE_SOURCES.map((source) => `'${source}'`).join(', ')})`;

/** SQL: the sources that are people's word: support, or a file that somebody has brought. */
export const ARE_OF_PEOPLE = "('support', 'file_likeness', 'file')";

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

/**
 * Returns the sources whose word the news of a source proves. A file proves the word of support. A line of the gateway
 * that names nobody proves both.
 */
export function provenBy(source: string): string[] {
  const rank = UNSURE_SOURCES.indexOf(source);
  return rank < 0 ? UNSURE_SOURCES : UNSURE_SOURCES.slice(0, rank);
}

/**
 * Tells whether something besides the word of support has told of a movement. A file that repeats that
 * word may be of the same person.
 */
export function isOfGateway({ told_by, confirmed_by }: Movement): boolean {
  if (confirmed_by !== null && !UNSURE_SOURCES.includes(confirmed_by)) return true;
  return told_by !== 'support' && !LIKENESSES.includes(told_by);
}

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

/** Returns the source that proves most of the money of a movement, whatever has told its receipt. */
export function sourceOfMoney({ told_by, confirmed_by }: Movement): string {
  return (confirmed_by ?? told_by).replace(WITHOUT_RECEIPT, '');
}

/** SQL: the source that proves most of the movement `m`. */
export const BEST_SOURCE = 'coalesce(m.confirmed_by, m.told_by)';

/**
 * SQL: when the movement `m` counts as moved. The time in a file could hide its money from the gateway's
 * statements, so the word of people counts when it was told. It is the expression of an index.
 */
export const MOVED_AT = `CASE WHEN ${BEST_SOURCE} IN ('support', 'file', 'file_likeness') THEN m.learned_at
  ELSE coalesce(m.completed_at, m.learned_at) END`;

/** Ends the name of a source that has confirmed the money of a movement, and not its receipt. */
const WITHOUT_RECEIPT = ' without receipt';

/** SQL: `hasUnsureReceipt` of the movement `m`. */
export const HAS_UNSURE_RECEIPT = `coalesce(m.receipt_told_by, CASE
  WHEN coalesce(m.confirmed_by, 'file') IN ${ARE_UNSURE} OR m.confirmed_by LIKE '%${WITHOUT_RECEIPT}'
  THEN m.told_by END, '') IN ${ARE_UNSURE}`;

/** SQL: the gateway itself has not said that the movement `m` is its payment's, or under which receipt. */
export const IS_UNSURE = `(${BEST_SOURCE} IN ${ARE_UNSURE} OR ${HAS_UNSURE_RECEIPT})`;

/**
 * Records that news proves more than the word of people about a movement, and when that was heard. News without a
 * receipt leaves the receipt unproven that support has given. The gateway's word dates the money, too: people may have
 * told a wrong time.
 */
export async function confirmMovement(
  trx: Transaction,
  { merchant_id, id, trans_id, told_by, confirmed_by, receipt_told_by }: Movement,
  news: News<Succeeded>,
): Promise<void> {
  const source = sourceOf(news);
  const receipt = news.transId;
  if (receipt !== null && receipt_told_by !== null && provenBy(source).includes(receipt_told_by)) {
    await rows(
      trx,
      'UPDATE movements SET receipt_told_by = :source WHERE merchant_id = :merchant_id AND id = :id',
      { merchant_id, id, source },
    );
  }
  // The word of a file stays one that proves no receipt, whatever it tells.
  const isSure = !UNSURE_SOURCES.includes(source);
  const lacksReceipt = confirmed_by?.endsWith(WITHOUT_RECEIPT) === true;
  if (lacksReceipt && !isSure) return;
  const word = lacksReceipt ? told_by : (confirmed_by ?? told_by);
  if (!provenBy(source).includes(word)) return;
  const isUnproven =
    isSure && receipt === null && trans_id !== null && UNSURE_SOURCES.includes(told_by);
  await rows(
    trx,
    `UPDATE movements SET confirmed_by = :by, confirmed_at = coalesce(:heard_at, clock_timestamp()),
       completed_at = CASE
         WHEN CAST(:by AS text) IN ${ARE_OF_PEOPLE} THEN completed_at
         WHEN completed_at IS NULL OR coalesce(confirmed_by, told_by) IN ${ARE_OF_PEOPLE}
           THEN CAST(:told_at AS timestamptz)
         ELSE completed_at END
     WHERE merchant_id = :merchant_id AND id = :id`,
    {
      merchant_id,
      id,
      told_at: news.completedAt,
      by: isUnproven ? `${source}${WITHOUT_RECEIPT}` : source,
      heard_at: news.heardAt,
    },
  );
}
