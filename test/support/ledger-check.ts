import { expect } from 'chai';
import { type Database, rows } from '../../src/connections/database.ts';
import { verifyLedger } from '../../src/domain/ledger/verification/verify-ledger.ts';

/**
 * Fails unless the books are right by both proofs: the one below, which is independent of
 * the service, and the service's own, which also knows what each payment calls for: of one merchant, or of all.
 */
export async function expectRightBooks(database: Database, merchant_id?: number): Promise<void> {
  await expectSoundLedger(database, merchant_id);
  const { breaks } = await verifyLedger(database, { merchant_id, full: true });
  expect(breaks, `breaks of the books: ${JSON.stringify(breaks)}`).to.deep.equal([]);
}

/**
 * Fails unless every journal sums to zero and every wallet is the end of its chain of entries: of
 * one merchant, or of all.
 */
export async function expectSoundLedger(database: Database, merchant_id?: number): Promise<void> {
  const binding = { merchant_id: merchant_id ?? null };
  const unbalanced = await rows(
    database,
    `SELECT journal_id FROM entries WHERE merchant_id = coalesce(:merchant_id, merchant_id)
     GROUP BY merchant_id, journal_id HAVING sum(amount_cents) <> 0`,
    binding,
  );
  expect(unbalanced, 'journals that do not sum to zero').to.deep.equal([]);
  const broken = await rows(
    database,
    `SELECT merchant_id, account, entry_no FROM (
       SELECT *, lag(balance_after_cents, 1, 0::bigint) OVER chain AS before,
         lag(entry_no, 1, 0::bigint) OVER chain AS previous_no
       FROM entries
       WHERE entry_no IS NOT NULL AND merchant_id = coalesce(:merchant_id, merchant_id)
       WINDOW chain AS (PARTITION BY merchant_id, account ORDER BY entry_no)
     ) e WHERE balance_after_cents <> before + amount_cents OR entry_no <> previous_no + 1`,
    binding,
  );
  expect(broken, 'entries that break the chain of their wallet').to.deep.equal([]);
  const astray = await rows(
    database,
    `SELECT w.merchant_id, w.kind FROM wallets w
     LEFT JOIN entries e ON e.merchant_id = w.merchant_id AND e.account = 'wallet:' || w.kind
       AND e.entry_no = w.entry_no
     WHERE w.balance_cents <> coalesce(e.balance_after_cents, 0)
       AND w.merchant_id = coalesce(:merchant_id, w.merchant_id)`,
    binding,
  );
  expect(astray, 'wallets whose balance is not that of their newest entry').to.deep.equal([]);
}

/** The sum of an internal account's entries, in cents. */
export async function accountBalance(
  database: Database,
  merchant_id: number,
  account: string,
): Promise<number> {
  const [row] = await rows<{ sum: number }>(
    database,
    `SELECT coalesce(sum(amount_cents), 0)::bigint AS sum FROM entries
     WHERE merchant_id = :merchant_id AND account = :account`,
    { merchant_id, account },
  );
  return row!.sum;
}

/** What a payout may touch, in the order in which the money goes. */
const PAYOUT_ACCOUNTS = ['wallet:payout', 'payouts_in_flight', 'fees', 'gateway_float', 'suspense'];

/** The sums of a merchant's accounts that payouts touch, in cents. */
export async function payoutBooks(
  database: Database,
  merchant_id: number,
): Promise<Record<string, number>> {
  const sums = await Promise.all(
    PAYOUT_ACCOUNTS.map(async (account) => [
      account,
      await accountBalance(database, merchant_id, account),
    ]),
  );
  return Object.fromEntries(sums);
}
