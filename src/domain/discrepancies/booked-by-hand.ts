import { validate as isUuid } from 'uuid';
import {
  type Database,
  firstRow,
  hasRow,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { plainName, plainNameOf } from '../plain-name.ts';
import { isWithinDay } from '../reconciliation/days-alone.ts';
import { sameAccount } from '../settlement/same-account.ts';
import { IS_TOLD, IS_UNKNOWN, IS_UNOWNED } from './unknown-money.ts';

/*
 * Admins correct a wallet by an adjustment. If its reference is a name of money that somebody is asked about, or was,
 * that money is booked by hand, whatever became of the question.
 */

/** SQL: the names of the money of a question: a reference that is not ours is typed by customers, for any money. */
export function namesOfQuestion(question: string): string {
  const reference = `${question}.details->>'reference'`;
  return `ARRAY[${question}.trans_id, CASE WHEN ${isOurs(reference)} THEN ${reference} END]`;
}

/** SQL: a reference is one of ours. */
export function isOurs(reference: string): string {
  return `(${reference} ~* '${UUID}')`;
}

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** SQL: the merchant for whom an admin has booked money of one of these names by hand; null if nobody has. */
export function merchantByHand(names: string): string {
  return `(SELECT k.merchant_id FROM entries k
    JOIN journals j ON j.merchant_id = k.merchant_id AND j.id = k.journal_id
    -- The first is the condition of an index. A decision about a payment corrects a wallet, too.
    WHERE k.type = 'adjustment' AND j.source_kind = 'adjustment'
      AND ${plainNameOf('k.ref_no')} = ANY (ARRAY(SELECT nullif(${plainNameOf('name')}, '') FROM unnest(${names}) AS name))
      AND NOT EXISTS (SELECT FROM adoptions a WHERE a.merchant_id = j.merchant_id AND a.id = j.source_id)
    LIMIT 1)`;
}

/** SQL: the question is about money of one of `:names`, which are plain. A reference that is ours is one of `:references`, too. */
function isOfMoney(question: string): string {
  return `(${plainNameOf(`${question}.trans_id`)} = ANY (:names) OR ${question}.details->>'reference' = ANY (:references))`;
}

function namesIn(names: readonly string[]) {
  const plain = names.map(plainName).filter((name) => name !== '');
  return { names: plain, references: names.filter(isUuid) };
}

/**
 * Locks the questions about money under these names. A decision about one of them, or a payment that gets the money,
 * comes before or after.
 */
export async function lockUnknown(trx: Transaction, names: readonly string[]): Promise<void> {
  await rows(
    trx,
    `SELECT FROM discrepancies WHERE ${IS_UNOWNED} AND ${isOfMoney('discrepancies')}
     ORDER BY id FOR NO KEY UPDATE`,
    namesIn(names),
  );
}

/** SQL: the question `n` is about the money of `d`, which may be listed twice: with a receipt and without. */
const IS_SAME_MONEY = `(n.id = d.id OR n.trans_id = d.trans_id
  OR n.kind <> 'money_back' AND d.kind <> 'money_back' AND n.gateway = d.gateway AND n.details->>'reference' = d.details->>'reference'
    AND (n.trans_id = n.details->>'reference' OR d.trans_id = d.details->>'reference')
    -- Customers type one word for any money.
    AND (${isOurs("n.details->>'reference'")} OR coalesce(n.amount_cents = d.amount_cents, true)
      AND coalesce(${sameAccount("(n.details->>'account')", "(d.details->>'account')")}, true)
      AND ${isWithinDay(timeOf('n'), timeOf('d'))}))`;

function timeOf(question: string): string {
  return `CAST(${question}.details->>'completed_at' AS timestamptz)`;
}

/** Returns the merchant for whom listed money is booked by hand, under one of these names or another one. */
export async function bookedByHandFor(
  database: Database | Transaction,
  names: readonly string[],
): Promise<number | null> {
  const found = await firstRow<{ merchant_id: number }>(
    database,
    `SELECT by_hand.merchant_id FROM discrepancies d JOIN discrepancies n ON n.${IS_UNOWNED} AND ${IS_SAME_MONEY},
       LATERAL ${merchantByHand(namesOfQuestion('n'))} by_hand
     WHERE d.${IS_UNOWNED} AND ${isOfMoney('d')} LIMIT 1`,
    namesIn(names),
  );
  return found?.merchant_id ?? null;
}

/** Tells whether somebody has booked a row that brings money back by hand: for a merchant, or as a move between accounts. */
export async function isRowByHand(trx: Transaction, name: string): Promise<boolean> {
  if ((await bookedByHandFor(trx, [name])) !== null) return true;
  return hasRow(
    trx,
    'SELECT 1 FROM own_moves WHERE upper(reference) = upper(CAST(:name AS text))',
    { name },
  );
}

/** Money that no payment explains, as a gateway lists it. */
interface ListedMoney {
  discrepancy_id: string;
  gateway: string;
  moved: 'collection' | 'payout' | 'reversal';
  account: string | null;
  amount_cents: number;
  completed_at: Date;
  has_receipt: boolean;
  /** The gateway itself has told it: not only a file. */
  is_told: boolean;
  /** A payment may have it, which its question names. */
  has_owner: boolean;
}

/** Finds the money that somebody is asked about under these names, or has dismissed, line by line. */
export function listedUnder(
  database: Database | Transaction,
  names: readonly string[],
): Promise<ListedMoney[]> {
  return rows<ListedMoney>(
    database,
    `SELECT d.id AS discrepancy_id, d.gateway, of.moved, e->'details'->>'account' AS account,
       CAST(e->>'amount_cents' AS bigint) AS amount_cents,
       CAST(e->'details'->>'completed_at' AS timestamptz) AS completed_at,
       d.trans_id IS DISTINCT FROM d.details->>'reference' AS has_receipt,
       ${IS_TOLD} AS is_told, ${HAS_OWNER} AS has_owner
     FROM discrepancies d CROSS JOIN jsonb_array_elements(d.evidence) AS e
       CROSS JOIN LATERAL (SELECT coalesce(d.payment_kind, e->'details'->>'kind') AS moved) of
     WHERE d.${IS_UNKNOWN} AND ${isOfMoney('d')}
       AND (d.resolved_at IS NULL AND NOT CAST(e->>'decided' AS boolean) OR d.resolution = 'dismissed')
       AND of.moved IN ('collection', 'payout', 'reversal') AND e->>'amount_cents' IS NOT NULL
       AND e->'details'->>'completed_at' IS NOT NULL`,
    namesIn(names),
  );
}

/** SQL: an admin has booked the money by hand, under a name of the question or of the payment. */
export const IS_BY_HAND = `(${merchantByHand(
  `${namesOfQuestion('discrepancies')} || CAST(:references AS text[]) || CAST(:trans_id AS text)`,
)} IS NOT NULL)`;

/** SQL: the other payments that a question names. */
export const ALSO_FOR = "coalesce(details->'also_for', '[]')";

/** SQL: a payment has money that the question may be about, and the question names that payment. */
export const HAS_OWNER = `EXISTS (SELECT FROM movements m,
    jsonb_array_elements_text(${ALSO_FOR} || coalesce(details->'booked_for', '[]')) AS owner
  WHERE m.merchant_id = CAST(substring(owner FROM '[0-9]+$') AS bigint)
    AND m.payment_id = CAST(split_part(owner, ' ', 2) AS uuid) AND m.booked <> 'undone')`;
