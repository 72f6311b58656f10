import { rows, type Transaction } from '../../connections/database.ts';
import {
  hasOtherPayer,
  hasReceiptInQuestion,
  IS_IN_QUESTION,
} from '../submission/receipt-in-question.ts';
import type { DiscrepancyCase } from './discrepancy-cases.ts';

/** The details of a question that name another payment than its own. */
const NAMES = ['booked_for', 'was_booked_for', 'told_for'];

/** SQL: the collections that a question is about: its own, the ones that it names, and the ones that have its receipt. */
const ABOUT = `about AS (
    SELECT CAST(:merchant_id AS bigint) AS merchant_id, CAST(:payment_id AS uuid) AS id
    WHERE CAST(:payment_kind AS text) = 'collection'
    UNION SELECT merchant_id, payment_id FROM movements
    WHERE trans_id = :trans_id AND gateway = :gateway AND payment_kind = 'collection'
    UNION SELECT CAST(split_part(name, ' ', 5) AS bigint), CAST(split_part(name, ' ', 2) AS uuid)
    FROM unnest(CAST(:names AS text[])) AS name WHERE name LIKE 'collection %'
  ), collection AS (
    SELECT c.* FROM about JOIN collections c ON c.merchant_id = about.merchant_id AND c.id = about.id)`;

/**
 * Finds the reversals, and the returns of late money, that wait because the receipt of one of the collections which a
 * question is about is in question.
 * @returns their ids
 */
export async function moneyThatWaits(
  trx: Transaction,
  { details, ...about }: DiscrepancyCase,
): Promise<string[]> {
  const { candidates = [], also_for = [] } = details as Record<string, unknown>;
  const names = [candidates, also_for, NAMES.map((name) => details[name])].flat();
  const found = await rows<{ id: string }>(
    trx,
    `WITH ${ABOUT}
     SELECT r.id FROM collection c JOIN reversals r ON r.merchant_id = c.merchant_id
       AND r.collection_id = c.id AND r.status = 'pending'
     WHERE ${IS_IN_QUESTION} OR ${hasOtherPayer('r.account')}
     UNION ALL SELECT r.id FROM collection c JOIN returns r ON r.merchant_id = c.merchant_id
       AND r.collection_id = c.id AND r.status = 'pending'
     WHERE ${hasReceiptInQuestion('r')}`,
    { ...about, names: names.filter((name) => typeof name === 'string') },
  );
  return found.map(({ id }) => id);
}
