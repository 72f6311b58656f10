import type { Break, BreakKind } from '../../src/domain/ledger/verification/checks.ts';

/** The newest of a merchant's rows that a condition is true of. */
const newest = (table: string, condition: string) =>
  `(SELECT id FROM ${table} WHERE merchant_id = :m AND ${condition} ORDER BY id DESC LIMIT 1)`;

/** A journal of two lines between the bank and this account, of something that is not there. */
const strayJournal = (account: string, sourceKind = 'adjustment') => `
  WITH journal AS (
    INSERT INTO journals (merchant_id, id, source_kind, source_id, kind)
    VALUES (:m, :uuid, '${sourceKind}', gen_random_uuid(), 'stray')
  )
  INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents)
  VALUES (:m, :uuid, 1, 'bank', -1), (:m, :uuid, 2, '${account}', 1)`;

/** Changes the newest entry of the payout wallet, and the wallet with it. */
const moveEnd = (entryColumn: string, walletColumn: string) => `
  WITH wallet AS (
    UPDATE wallets SET ${walletColumn} = ${walletColumn} + 1
    WHERE merchant_id = :m AND kind = 'payout' RETURNING entry_no
  )
  UPDATE entries SET ${entryColumn} = ${entryColumn} + 1
  WHERE merchant_id = :m AND account = 'wallet:payout' AND entry_no =
    (SELECT max(entry_no) FROM entries WHERE merchant_id = :m AND account = 'wallet:payout')`;

/**
 * A way to break a merchant's books, `:m`, and the one finding that must come of it. A new
 * journal's id is `:uuid`.
 */
export const SABOTAGE: Readonly<Record<BreakKind, { sql: string; gives: Partial<Break> }>> = {
  journal_unbalanced: {
    sql: `UPDATE entries SET amount_cents = amount_cents - 7 WHERE merchant_id = :m
          AND account = 'bank' AND journal_id = ${newest('journals', `source_kind = 'topup'`)}`,
    gives: { subject: 'journal', expected: '0.00', found: '-0.07' },
  },
  journal_incomplete: {
    sql: `INSERT INTO journals (merchant_id, id, source_kind, source_id, kind)
          VALUES (:m, :uuid, 'adjustment', gen_random_uuid(), 'adjustment')`,
    gives: { subject: 'journal', expected: 'at least 2 lines', found: '0' },
  },
  journal_without_source: {
    sql: strayJournal('fees', 'payout'),
    gives: { subject: 'journal', found: 'none' },
  },
  chain_gap: {
    sql: moveEnd('entry_no', 'entry_no'),
    gives: { subject: 'payout wallet' },
  },
  chain_balance: {
    sql: moveEnd('balance_after_cents', 'balance_cents'),
    gives: { subject: 'payout wallet' },
  },
  wallet_astray: {
    sql: `UPDATE wallets SET balance_cents = balance_cents + 1
          WHERE merchant_id = :m AND kind = 'collection'`,
    gives: { subject: 'wallet', id: 'collection' },
  },
  journal_missing: {
    sql: `WITH ended AS (
            UPDATE collections SET status = 'completed'
            WHERE id = ${newest('collections', `status = 'failed'`)} RETURNING *
          )
          INSERT INTO movements (merchant_id, id, payment_kind, payment_id, gateway, trans_id,
            amount_cents, booked, told_by)
          SELECT merchant_id, gen_random_uuid(), 'collection', id, gateway, 'STRAY', amount_cents,
            'settled', 'poll' FROM ended`,
    gives: { subject: 'collection', expected: 'journal completed', found: 'none' },
  },
  journal_unexpected: {
    sql: `WITH ended AS (
            UPDATE reversals SET status = 'failed'
            WHERE id = ${newest('reversals', `status = 'completed'`)} RETURNING *
          )
          UPDATE movements m SET booked = 'cleared' FROM ended
          WHERE m.merchant_id = ended.merchant_id AND m.payment_id = ended.id`,
    gives: { subject: 'reversal', expected: 'none', found: 'journal completed' },
  },
  journal_amounts: {
    sql: `UPDATE collections SET commission_cents = commission_cents + 1
          WHERE id = ${newest('collections', `status = 'completed' AND amount_cents = 10000`)}`,
    gives: {
      subject: 'collection',
      expected: 'commission 1.51, paid -100.00, wallet:collection 98.49',
      found: 'commission 1.50, paid -100.00, wallet:collection 98.50',
    },
  },
  movement_amounts: {
    sql: `UPDATE movements SET amount_cents = amount_cents + 1
          WHERE id = ${newest('movements', `booked = 'settled' AND payment_kind = 'payout'`)}`,
    gives: { subject: 'payout' },
  },
  refund_not_due: {
    sql: `UPDATE payouts SET next_step = NULL, next_step_at = NULL, parked_reason = NULL
          WHERE id = ${newest('payouts', `status = 'failed' AND refund_posted_at IS NULL`)}`,
    gives: { subject: 'payout', found: 'neither' },
  },
  in_flight_sum: {
    sql: strayJournal('payouts_in_flight'),
    gives: { subject: 'account', id: 'payouts_in_flight' },
  },
  suspense_sum: {
    sql: strayJournal('suspense'),
    gives: { subject: 'account', id: 'suspense' },
  },
  suspense_unattended: {
    sql: `UPDATE discrepancies SET resolved_at = now() WHERE id = (
            SELECT d.id FROM discrepancies d
            JOIN movements m ON m.merchant_id = d.merchant_id AND m.id = d.movement_id
            WHERE d.merchant_id = :m AND d.resolved_at IS NULL AND m.booked = 'suspense'
            ORDER BY d.id DESC LIMIT 1)`,
    gives: { subject: 'movement' },
  },
};
