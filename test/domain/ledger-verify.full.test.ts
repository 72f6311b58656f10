import { expect } from 'chai';
import { v7 as uuidv7 } from 'uuid';
import {
  type Database,
  inSnapshot,
  rows,
  type Transaction,
} from '../../src/connections/database.ts';
import { BREAK_KINDS, type BreakKind } from '../../src/domain/ledger/verification/checks.ts';
import {
  type VerifyOptions,
  verifyLedger,
} from '../../src/domain/ledger/verification/verify-ledger.ts';
import { failedPayout, fillBooks, makeTraffic } from '../support/books.ts';
import { tamper } from '../support/database.ts';
import { SABOTAGE } from '../support/sabotage.ts';
import {
  createTestStore,
  newCompletedCollection,
  rejection,
  type TestMerchant,
  type TestStore,
  useStore,
} from '../support/world.ts';

const READ_ONLY = '25006';

describe('The verification of the ledger', () => {
  /** Each test breaks a copy of this one. Filling books costs more than copying them. */
  const original = useStore({ merchant: 'all' });
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    await letPayoutsBeForgotten(original.owner);
    await fillBooks(original.database, original.merchant);
    await original.database.destroy();
    await original.owner.destroy();
  });

  beforeEach(async () => {
    store = await createTestStore(original.name);
    merchant = await store.newMerchant();
  });

  afterEach(() => store.drop());

  /** Allows the one break that the database's own checks make impossible. */
  async function letPayoutsBeForgotten(database: Database): Promise<void> {
    const checks = await rows<{ conname: string }>(
      database,
      `SELECT conname FROM pg_constraint WHERE conrelid = CAST('payouts' AS regclass)
       AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%parked_reason%'`,
    );
    expect(checks).to.have.length(1);
    await rows(database, `ALTER TABLE payouts DROP CONSTRAINT ${checks[0]!.conname}`);
  }

  const verify = (options: VerifyOptions = {}) =>
    verifyLedger(store.database, { merchant_id: merchant.merchant_id, ...options });
  const breaksOf = async (options?: VerifyOptions) => (await verify(options)).breaks;
  const harm = (sql: string) => tamper(store.owner, sql, bindingsFor(sql));
  const bindingsFor = (sql: string) => ({
    m: merchant.merchant_id,
    ...(sql.includes(':uuid') && { uuid: uuidv7() }),
  });

  /** As if all that was verified so far were two hours ago. */
  const letTimePass = () =>
    rows(
      store.database,
      `UPDATE journal_checkpoints SET verified_at = verified_at + interval '2 hours'
       WHERE merchant_id = :m`,
      { m: merchant.merchant_id },
    );

  it('finds nothing wrong with payments of every kind in every state', async () => {
    merchant = original.merchant;
    const { checked, counts, breaks } = await verify();
    expect(breaks).to.deep.equal([]);
    expect(Object.keys(counts)).to.have.members([...BREAK_KINDS]);
    expect(Object.values(counts)).to.satisfy((all: number[]) => all.every((each) => each === 0));
    expect(checked.merchants).to.equal(1);
    for (const what of ['entries', 'journals', 'payments'] as const) {
      expect(checked[what], what).to.be.above(20);
    }
    const again = await verify({ full: true });
    expect(again.breaks).to.deep.equal([]);
    expect(again.checked).to.deep.equal(checked);
  });

  it('finds nothing wrong where nothing has happened', async () => {
    expect(await verify()).to.deep.include({
      checked: { merchants: 1, entries: 0, journals: 0, payments: 0 },
      breaks: [],
    });
  });

  for (const [kind, { sql, gives }] of Object.entries(SABOTAGE)) {
    it(`names a break, and nothing else: ${kind}`, async () => {
      merchant = original.merchant;
      await harm(sql);
      const { breaks, counts } = await verify();
      expect(breaks.map((each) => each.kind)).to.deep.equal([kind]);
      expect(breaks[0]).to.include({ merchant_id: merchant.merchant_id, ...gives });
      expect(counts[kind as BreakKind]).to.equal(1);
      expect(await breaksOf(), 'the run after it').to.deep.equal(breaks);
    });
  }

  it('names a refund that waits for an answer, while nobody is asked', async () => {
    await failedPayout(store.database, merchant);
    await harm(`UPDATE payouts SET next_step = NULL, next_step_at = NULL,
        parked_reason = 'discrepancy: receipt_of_another'
      WHERE merchant_id = :m AND status = 'failed' AND refund_posted_at IS NULL`);
    expect((await breaksOf()).map(({ kind }) => kind)).to.deep.equal(['refund_not_due']);
  });

  it('names the merchant, and finds what is another’s there only', async () => {
    await newCompletedCollection(store.database, merchant);
    await harm(SABOTAGE.wallet_astray.sql);
    const own = await breaksOf();
    expect(own).to.have.length(1);
    const other = await store.newMerchant();
    await newCompletedCollection(store.database, other);
    expect(await breaksOf({ merchant_id: other.merchant_id })).to.deep.equal([]);
    const { checked, breaks } = await verifyLedger(store.database);
    expect(checked.merchants).to.be.above(1);
    expect(breaks.filter(({ merchant_id }) => merchant_id === merchant.merchant_id)).to.deep.equal(
      own,
    );
    expect(breaks.filter(({ merchant_id }) => merchant_id === other.merchant_id)).to.deep.equal([]);
  });

  it('reads no more than what is new since a run that found nothing wrong', async () => {
    await newCompletedCollection(store.database, merchant);
    await failedPayout(store.database, merchant);
    const first = await verify();
    // The top-up, the debit and its fee; the collection's net.
    expect(first.checked).to.include({ entries: 4, journals: 3, payments: 2 });
    await letTimePass();
    const second = await verify();
    // What is in flight is looked at until it is over.
    expect(second.checked).to.include({ entries: 0, journals: 0, payments: 1 });
  });

  const OLD_BREAKS: Readonly<Record<string, { sql: string; kinds: BreakKind[] }>> = {
    'a journal': { sql: SABOTAGE.journal_unbalanced.sql, kinds: ['journal_unbalanced'] },
    'a payment': { sql: SABOTAGE.journal_amounts.sql, kinds: ['journal_amounts'] },
    'a wallet’s chain': {
      sql: `UPDATE entries SET balance_after_cents = balance_after_cents + 1
            WHERE merchant_id = :m AND account = 'wallet:payout' AND entry_no = 1`,
      // Both the entry before it and the one after it do not fit.
      kinds: ['chain_balance', 'chain_balance'],
    },
  };
  for (const [what, { sql, kinds }] of Object.entries(OLD_BREAKS)) {
    it(`finds an old break of ${what} in a full run only, and from then on`, async () => {
      merchant = original.merchant;
      expect(await breaksOf()).to.deep.equal([]);
      await letTimePass();
      await harm(sql);
      expect(await breaksOf(), 'from the checkpoint').to.deep.equal([]);
      const found = await breaksOf({ full: true });
      expect(found.map(({ kind }) => kind)).to.deep.equal(kinds);
      expect(await breaksOf(), 'after the full run').to.deep.equal(found);
    });
  }

  it('finds what was committed after a run by a transaction that had begun before it', async () => {
    await newCompletedCollection(store.database, merchant);
    const late = await store.owner.transaction();
    await rows(late, 'SET LOCAL session_replication_role = replica');
    const { sql } = SABOTAGE.journal_incomplete;
    await rows(late, sql, bindingsFor(sql));
    expect(await breaksOf(), 'before the commit').to.deep.equal([]);
    await late.commit();
    expect((await breaksOf()).map(({ kind }) => kind)).to.deep.equal(['journal_incomplete']);
  });

  it('finds no break in payments that move while it looks', async () => {
    const traffic = Promise.all(
      [1, 2, 3].map(() => makeTraffic(store.database, merchant, 25)),
    ).then(() => 'over' as const);
    for (let run = 0; (await Promise.race([traffic, 'under way'])) !== 'over'; run++) {
      expect(await breaksOf({ full: run % 2 === 0 })).to.deep.equal([]);
    }
    const last = await verify({ full: true });
    expect(last.breaks).to.deep.equal([]);
    expect(last.checked.payments).to.be.at.least(150);
  });

  it('comes to the same when several run at once', async () => {
    merchant = original.merchant;
    const clean = await Promise.all([1, 2, 3, 4].map((run) => verify({ full: run === 4 })));
    for (const { breaks } of clean) expect(breaks).to.deep.equal([]);
    const ends = await rows(
      store.database,
      `SELECT FROM wallets w JOIN ledger_checkpoints c ON c.merchant_id = w.merchant_id
         AND c.wallet = w.kind AND c.entry_no = w.entry_no AND c.balance_cents = w.balance_cents
       WHERE w.merchant_id = :m`,
      { m: merchant.merchant_id },
    );
    expect(ends, 'checkpoints at the wallets’ ends').to.have.length(2);
    await harm(SABOTAGE.journal_missing.sql);
    const broken = await Promise.all([1, 2].map(() => breaksOf({ full: true })));
    for (const breaks of broken)
      expect(breaks.map(({ kind }) => kind)).to.deep.equal(['journal_missing']);
  });

  it('changes nothing and locks nothing of what it looks at', async () => {
    await newCompletedCollection(store.database, merchant);
    const locked = await store.database.transaction();
    for (const table of ['collections', 'wallets']) {
      await rows(locked, `SELECT FROM ${table} WHERE merchant_id = :m FOR UPDATE`, {
        m: merchant.merchant_id,
      });
    }
    expect(await breaksOf()).to.deep.equal([]);
    await locked.rollback();
  });

  it('sees one moment from beginning to end, and cannot change it', async () => {
    const count = (database: Database | Transaction) =>
      rows(database, 'SELECT count(*) FROM collections WHERE merchant_id = :m', {
        m: merchant.merchant_id,
      });
    await inSnapshot(store.database, async (trx) => {
      const before = await count(trx);
      await newCompletedCollection(store.database, merchant);
      expect(await count(trx)).to.deep.equal(before);
      expect(await count(store.database)).to.not.deep.equal(before);
    });
    const writing = inSnapshot(store.database, (trx) => rows(trx, 'DELETE FROM outbox'));
    expect(await rejection(writing)).to.have.property('code', READ_ONLY);
  });

  it('can be ended early', async () => {
    await newCompletedCollection(store.database, merchant);
    const signal = AbortSignal.abort(new Error('the process stops'));
    expect(await rejection(verify({ signal }))).to.have.property('message', 'the process stops');
  });
});
