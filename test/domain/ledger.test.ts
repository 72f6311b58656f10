import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { rows } from '../../src/connections/database.ts';
import {
  type Account,
  type Journal,
  type JournalLine,
  postJournal,
} from '../../src/domain/ledger/post-journal.ts';
import { rejection, useStore } from '../support/world.ts';

const CHECK_VIOLATION = '23514';

describe('The ledger', () => {
  const store = useStore();

  afterEach(() => store.expectSoundLedger());

  function journal(lines: JournalLine[], overrides: Partial<Journal> = {}): Journal {
    return {
      merchant_id: store.merchantId,
      source_kind: 'collection',
      source_id: randomUUID(),
      kind: 'completed',
      lines,
      ...overrides,
    };
  }

  function post(what: Journal): Promise<boolean> {
    return store.transaction((trx) => postJournal(trx, what));
  }

  /** Two lines that sum to zero, so much from one account to the other. */
  function between(from: Account, to: Account, amountCents: number): JournalLine[] {
    return [
      { account: from, amount_cents: -amountCents },
      { account: to, amount_cents: amountCents },
    ];
  }

  const balance = (kind: 'collection' | 'payout') => store.walletBalance(kind);

  async function expectNothingPosted(): Promise<void> {
    const bindings = { id: store.merchantId };
    for (const table of ['journals', 'entries']) {
      const count = await store.countOf(`${table} WHERE merchant_id = :id`, bindings);
      expect(count, table).to.equal(0);
    }
  }

  it('moves the wallets and keeps every line that is not zero', async () => {
    const lines: JournalLine[] = [
      { account: 'gateway_float', amount_cents: -10_000 },
      { account: 'commission', amount_cents: 150 },
      { account: 'fees', amount_cents: 0 },
      { account: 'wallet:collection', amount_cents: 9_850 },
    ];
    expect(await post(journal(lines))).to.equal(true);
    expect(await balance('collection')).to.equal(9_850);
    expect(await balance('payout')).to.equal(0);
    const entries = await store.rows(
      `SELECT account, amount_cents, entry_no, balance_after_cents FROM entries
       WHERE merchant_id = :id ORDER BY line`,
      { id: store.merchantId },
    );
    const internal = { entry_no: null, balance_after_cents: null };
    expect(entries).to.deep.equal([
      { account: 'gateway_float', amount_cents: -10_000, ...internal },
      { account: 'commission', amount_cents: 150, ...internal },
      {
        account: 'wallet:collection',
        amount_cents: 9_850,
        entry_no: 1,
        balance_after_cents: 9_850,
      },
    ]);
  });

  it('refuses, in the database, a journal that does not sum to zero', async () => {
    const UNBALANCED: JournalLine[][] = [
      [{ account: 'wallet:collection', amount_cents: 1 }],
      [...between('gateway_float', 'wallet:collection', 100), { account: 'fees', amount_cents: 1 }],
      [
        { account: 'gateway_float', amount_cents: -100 },
        { account: 'wallet:collection', amount_cents: 99 },
      ],
    ];
    for (const lines of UNBALANCED) {
      const error = await rejection(post(journal(lines)));
      expect(error).to.have.property('code', CHECK_VIOLATION);
      expect(error.message).to.include('a journal does not sum to zero');
    }
    await expectNothingPosted();
    expect(await balance('collection')).to.equal(0);
  });

  it('refuses a line that is added to a journal afterwards', async () => {
    await post(journal(between('gateway_float', 'wallet:collection', 100)));
    const adding = store.rows(
      `INSERT INTO entries (merchant_id, journal_id, line, account, amount_cents)
       SELECT merchant_id, id, 9, 'fees', 1 FROM journals WHERE merchant_id = :id`,
      { id: store.merchantId },
    );
    expect(await rejection(adding)).to.have.property('code', CHECK_VIOLATION);
  });

  it('refuses an account that it does not have', async () => {
    const unknown = 'pocket' as Account;
    await rejection(post(journal(between('gateway_float', unknown, 100))));
    await expectNothingPosted();
  });

  it('posts the same journal once, however often and at once it is asked to', async () => {
    const same = journal(between('gateway_float', 'wallet:collection', 100));
    const posted = await Promise.all(Array.from({ length: 10 }, () => post(same)));
    expect(posted.filter((booked) => booked)).to.have.length(1);
    expect(await balance('collection')).to.equal(100);
  });

  it('posts different things of one source, and one thing of different sources', async () => {
    const lines = between('gateway_float', 'wallet:collection', 100);
    const sourceId = randomUUID();
    expect(await post(journal(lines, { source_id: sourceId }))).to.equal(true);
    expect(await post(journal(lines, { source_id: sourceId, kind: 'suspense' }))).to.equal(true);
    expect(await post(journal(lines, { source_id: sourceId, source_kind: 'return' }))).to.equal(
      true,
    );
    expect(await post(journal(lines))).to.equal(true);
    expect(await balance('collection')).to.equal(400);
  });

  it('keeps chain and balance right under 50 postings to one wallet at once', async () => {
    const amounts = Array.from({ length: 50 }, (_, index) => (index + 1) * 7);
    const posted = await Promise.all(
      amounts.map((amount) => post(journal(between('gateway_float', 'wallet:collection', amount)))),
    );
    expect(posted).to.not.include(false);
    const total = amounts.reduce((sum, amount) => sum + amount);
    expect(await balance('collection')).to.equal(total);
    expect(await store.accountBalance('gateway_float')).to.equal(-total);
    const [last] = await store.rows<{ entry_no: number }>(
      `SELECT entry_no FROM wallets WHERE merchant_id = :id AND kind = 'collection'`,
      { id: store.merchantId },
    );
    expect(last!.entry_no).to.equal(50);
  });

  it('keeps what was posted as it is', async () => {
    await post(journal(between('gateway_float', 'wallet:collection', 100)));
    for (const [table, column] of [
      ['entries', 'amount_cents = amount_cents'],
      ['journals', `kind = 'other'`],
    ] as const) {
      for (const [verb, statement] of [
        ['UPDATE', `UPDATE ${table} SET ${column}`],
        ['DELETE', `DELETE FROM ${table}`],
        ['TRUNCATE', `TRUNCATE ${table} CASCADE`],
      ]) {
        const { message } = await rejection(rows(store.owner, statement!));
        // Emptying one table would empty the other with it: either may be the one to refuse.
        expect(message).to.match(new RegExp(`${verb} of (entries|journals) is refused`));
      }
    }
    expect(await balance('collection')).to.equal(100);
  });

  it('lets no payout wallet go below zero, even when many draw on it at once', async () => {
    await store.topUp(1_000, 'top-up-1');
    const draws = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        post(journal(between('wallet:payout', 'payouts_in_flight', 300))),
      ),
    );
    const refused = draws.filter((draw) => draw.status === 'rejected');
    expect(refused).to.have.length(7);
    for (const { reason } of refused) {
      expect(reason).to.include({
        code: CHECK_VIOLATION,
        constraint: 'payout_wallet_not_negative',
      });
    }
    expect(await balance('payout')).to.equal(100);
    expect(await store.accountBalance('payouts_in_flight')).to.equal(900);
  });

  it('lets a collection wallet go below zero: later collections settle it', async () => {
    await post(journal(between('wallet:collection', 'gateway_float', 500)));
    expect(await balance('collection')).to.equal(-500);
    await post(journal(between('gateway_float', 'wallet:collection', 700)));
    expect(await balance('collection')).to.equal(200);
  });

  it('posts nothing when the wallet is missing', async () => {
    await rows(store.owner, `DELETE FROM wallets WHERE merchant_id = :id`, {
      id: store.merchantId,
    });
    await rejection(post(journal(between('gateway_float', 'wallet:collection', 100))));
    await expectNothingPosted();
    expect(await balance('collection')).to.equal(null);
  });

  it('posts nothing when its transaction fails afterwards', async () => {
    const failing = store.transaction(async (trx) => {
      await postJournal(trx, journal(between('gateway_float', 'wallet:collection', 100)));
      throw new Error('and then it failed');
    });
    await rejection(failing);
    await expectNothingPosted();
    expect(await balance('collection')).to.equal(0);
  });

  it('books a top-up once per reference and merchant', async () => {
    const other = await store.newMerchant();
    const topUp = (merchant_id: number, reference: string) =>
      topUpPayoutWallet(store.database, merchant_id, 1_000, reference);
    expect(await topUp(store.merchantId, 'bank-1')).to.equal(true);
    expect(await topUp(store.merchantId, 'bank-1')).to.equal(false);
    expect(await topUp(store.merchantId, 'bank-2')).to.equal(true);
    expect(await topUp(other.merchant_id, 'bank-1')).to.equal(true);
    expect(await balance('payout')).to.equal(2_000);
  });

  it('is sound after any sequence of postings, good and bad', async () => {
    const wallets = fc.constantFrom<Account>('wallet:collection', 'wallet:payout');
    const internal = fc.constantFrom<Account>('gateway_float', 'suspense', 'commission', 'bank');
    const posting = fc.record({
      from: internal,
      to: wallets,
      amount: fc.integer({ min: -500, max: 1_000 }),
      off: fc.constantFrom(0, 0, 0, 1),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(posting, { minLength: 1, maxLength: 15 }), async (postings) => {
        await Promise.allSettled(
          postings.map(({ from, to, amount, off }) =>
            post(journal([...between(from, to, amount), { account: 'fees', amount_cents: off }])),
          ),
        );
        await store.expectSoundLedger();
      }),
      { numRuns: 15 },
    );
  });
});
