import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { rejection, succeeded, useStore } from '../support/world.ts';

describe('What the database keeps, whoever asks it', () => {
  const store = useStore({ merchant: 'all' });

  /** As the owner of the tables, whom no right keeps from anything. */
  const refusal = async (sql: string, bindings = {}) =>
    (await rejection(rows(store.owner, sql, bindings))).message;

  it('is what was asked for: payee, amount, channel, app and asker', async () => {
    const payout = await store.newPayout();
    for (const change of [
      `payto = '+254700000000'`,
      `ref_no = 'other'`,
      'channel = 63903',
      'app_code = app_code',
      'asked_user = NULL',
      'fee_cents = 0',
      'reference = gen_random_uuid()',
    ]) {
      const attempt = `UPDATE payouts SET ${change} WHERE id = :id`;
      expect(await refusal(attempt, payout), change).to.include('rows are kept as they are');
    }
    const more = 'UPDATE payouts SET amount_cents = amount_cents + 1 WHERE id = :id';
    expect(await refusal(more, payout)).to.equal('no movement of payouts has this amount');
  });

  it('is a movement, and the receipt and the time that it has once', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded());
    for (const change of ['amount_cents = 1', `account = '+254700000000'`]) {
      const attempt = `UPDATE movements SET ${change} WHERE payment_id = :id`;
      expect(await refusal(attempt, collection)).to.equal('nothing has told this of the movement');
    }
    for (const change of [`told_by = 'callback'`, `trans_id = 'OTHER'`, 'completed_at = now()']) {
      const attempt = `UPDATE movements SET ${change} WHERE payment_id = :id`;
      expect(await refusal(attempt, collection), change).to.include('rows are kept as they are');
    }
    const gone = 'DELETE FROM movements WHERE payment_id = :id';
    expect(await refusal(gone, collection)).to.include('rows are kept as they are');
  });

  it('is an event, and its number', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded());
    const change = (set: string) => `UPDATE events SET ${set} WHERE payment_id = :id`;
    for (const set of [`body = '{}'`, `callback_url = 'https://x.example'`]) {
      expect(await refusal(change(set), collection), set).to.include('rows are kept as they are');
    }
    await rows(store.owner, change('sequence = 1000000'), collection);
    expect(await refusal(change('sequence = 7'), collection)).to.include('are kept as they are');
  });

  it('is the balance of a wallet: the end of its chain', async () => {
    const words = 'the balance of a wallet is not the end of its chain';
    const { merchantId: id } = store;
    for (const set of ['balance_cents = balance_cents + 1', 'entry_no = entry_no + 1']) {
      const attempt = `UPDATE wallets SET ${set} WHERE merchant_id = :id AND kind = 'payout'`;
      expect(await refusal(attempt, { id }), set).to.equal(words);
    }
    await store.topUp(1_000, 'more');
    const earlier = `UPDATE wallets w SET entry_no = e.entry_no, balance_cents = e.balance_after_cents
      FROM entries e WHERE w.merchant_id = :id AND w.kind = 'payout' AND e.merchant_id = w.merchant_id
        AND e.account = 'wallet:payout' AND e.entry_no = 1`;
    expect(await refusal(earlier, { id }), 'an earlier link').to.equal(words);
    const empty = `UPDATE wallets SET entry_no = 0, balance_cents = 0 WHERE merchant_id = :id AND kind = 'payout'`;
    expect(await refusal(empty, { id }), 'empty').to.equal(words);
    const { merchant_id } = await store.newMerchant();
    const rich = 'UPDATE wallets SET balance_cents = 100 WHERE merchant_id = :merchant_id';
    expect(await refusal(rich, { merchant_id })).to.equal(words);
  });

  it('is the chain of a wallet: each entry goes on from the one before', async () => {
    const words = 'an entry of a wallet does not go on from the one before';
    const { merchant_id } = await store.newMerchant();
    const insert = (entry_no: number, balance_after_cents: number) =>
      rows(
        store.database,
        `WITH journal AS (
           INSERT INTO journals (merchant_id, id, source_kind, source_id, kind)
           SELECT :merchant_id, gen_random_uuid(), 'adjustment', gen_random_uuid(), 'adjustment' RETURNING *
         )
         INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents, entry_no,
           balance_after_cents)
         SELECT merchant_id, id, 1, 'wallet:payout', 1, CAST(:entry_no AS bigint),
           CAST(:balance_after_cents AS bigint) FROM journal
         UNION ALL SELECT merchant_id, id, 2, 'bank', -1, NULL, NULL FROM journal`,
        { merchant_id, entry_no, balance_after_cents },
      );
    for (const [no, balance] of [
      [1, 900],
      [2, 1],
    ] as const) {
      expect((await rejection(insert(no, balance))).message).to.include(words);
    }
    await insert(1, 1);
    expect((await rejection(insert(2, 900))).message).to.include(words);
    await insert(2, 2);
  });

  it('is a decision about a discrepancy', async () => {
    const collection = await store.newCollection();
    await rows(
      store.owner,
      `INSERT INTO discrepancies (id, kind, gateway, merchant_id, payment_kind, payment_id, details,
         evidence, resolved_at, resolution, resolved_by, resolved_reason)
       VALUES (gen_random_uuid(), 'overdue', 'simulator', :merchant_id, 'collection', :id, '{}', '[]',
         now(), 'dismissed', 'asha', 'seen')`,
      collection,
    );
    const change = `UPDATE discrepancies SET resolved_by = 'otto' WHERE payment_id = :id`;
    expect(await refusal(change, collection)).to.include('rows are kept as they are');
  });
});
