import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import {
  bankDifferences,
  hearBankBalance as hear,
  keepOwnLines,
} from '../../src/domain/gateway-accounts/own-lines.ts';
import { bookOwnMove } from '../../src/domain/gateway-accounts/own-moves.ts';
import { moveOf, proveWorld } from '../../src/domain/gateway-accounts/prove-world.ts';
import type { OwnLine } from '../../src/domain/reconciliation/statement.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { DAY_MS } from '../../src/time.ts';
import { failed, succeeded, useStore } from '../support/world.ts';

const DAY = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS);

describe("A row about the operator's own money", () => {
  const store = useStore({ fresh: true });

  const line = (reference: string, amountCents: number, more: Partial<OwnLine> = {}): OwnLine => ({
    ...{ reference, amountCents, toldAt: DAY(0), ...more },
  });
  const keep = (account: string, ...lines: OwnLine[]) =>
    store.transaction((trx) => keepOwnLines(trx, account, lines));
  const move = (
    from_account: string,
    to_account: string,
    amount_cents: number,
    reference: string,
  ) =>
    store.transaction((trx) =>
      bookOwnMove(trx, { from_account, to_account, amount_cents, reference }),
    );
  const hearBankBalance = (lines: OwnLine[], completeUntil?: Date) =>
    store.transaction((trx) => hear(trx, lines, completeUntil));
  const briefly = async () =>
    (await bankDifferences(store.database)).map(({ what, reference, candidates }) =>
      [what, reference, ...candidates].join(' '),
    );
  const differing = async (gateway: string) => {
    const { differences } = await proveWorld(store.database, []);
    return differences.find((each) => each.gateway === gateway);
  };
  /** The books are as if all of it was booked so long ago. */
  const age = (days: number) =>
    store.owner.transaction(async (trx) => {
      await trx.raw("SET LOCAL session_replication_role = 'replica'");
      await trx.raw(`UPDATE entries SET created_at = created_at - interval '${days} days'`);
    });

  it('is known at the bank by reference and amount, whatever booked it', async () => {
    await store.topUp(5_000, 'FT-1');
    await move('capital', 'bank', 70_000, 'FT-2');
    await move('bank', 'simulator/utility', 20_000, 'FT-3');
    await keep('bank', line('FT-1', 5_000), line('FT-2', 70_000), line('FT-3', -20_000));
    expect(await briefly()).to.deep.equal([]);
    await keep('bank', line('FT-3', 20_000), line('FT-1', 5_001), line('FT-4', -30));
    expect((await briefly()).sort()).to.deep.equal([
      'not in the books FT-1',
      'not in the books FT-3',
      'not in the books FT-4',
    ]);
  });

  it('of a gateway is known by its receipt, though two statements have it by two clocks', async () => {
    await move('simulator/utility', 'bank', 200_000, 'SKL1');
    for (const hours of [3, 0]) {
      const toldAt = new Date(DAY(1).getTime() + hours * 3_600_000);
      await keep('simulator/utility', line('SKL1', -200_000, { toldAt }));
    }
    const kept = await store.rows("SELECT FROM own_lines WHERE account = 'simulator/utility'");
    expect(kept).to.have.length(1);
  });

  it('of a gateway is another one on another day, under a name that is no receipt', async () => {
    for (const days of [1, 2, 3]) {
      await keep('simulator/utility', line('SETTLEMENT', -200_000, { toldAt: DAY(days) }));
    }
    const kept = await store.rows("SELECT FROM own_lines WHERE reference = 'SETTLEMENT'");
    expect(kept).to.have.length(3);
  });

  it('is one deposit that tops up two merchants, if their sum is its amount', async () => {
    await store.topUp(6_000, 'FT-1');
    await topUpPayoutWallet(store.database, (await store.newMerchant()).merchant_id, 4_000, 'FT-1');
    await age(8);
    const rows = [
      line('FT-0', 1, { toldAt: DAY(20) }),
      line('FT-1', 10_000, { toldAt: DAY(7) }),
      line('FT-2', 2),
    ];
    await keep('bank', ...rows);
    const of1 = (await briefly()).filter((each) => each.includes('FT-1'));
    expect(of1).to.deep.equal([]);
    // A cent more is no sum.
    await keep('bank', line('FT-1', 1, { toldAt: DAY(6) }));
    expect((await briefly()).filter((each) => each.includes('FT-1')).length).to.be.above(0);
  });

  it('is the payment to a customer whose return has failed, which has no reference', async () => {
    const collection = await store.newCollection({ amount_cents: 25_000 });
    await store.learn(collection, failed({ externalRef: null }));
    const late = { transId: `LATE${store.merchantId}`, amountCents: 25_000 };
    await store.learn(collection, succeeded({ ...late, externalRef: null }));
    const [back] = await store.returnsOf();
    await store.learn(back!, failed({ externalRef: null }));
    await store.resolve(await store.discrepancyOf('return_failed'), 'returned');
    await age(7);
    await keep('bank', line('FT-0', 1, { toldAt: DAY(20) }), line('FT-9', 1));
    expect(await briefly()).to.include('not at the bank ');
    await keep('bank', line('FT-77', -25_000, { toldAt: DAY(7) }));
    expect((await briefly()).filter((each) => !/FT-[09]/.test(each))).to.deep.equal([]);
    // A second payment of the amount is one more.
    await keep('bank', line('FT-78', -25_000, { toldAt: DAY(6) }));
    expect((await briefly()).filter((each) => !/FT-[09]/.test(each))).to.deep.equal([
      'not in the books FT-78',
    ]);
  });

  it('is one top-up: a second merchant’s under the same reference is not at the bank', async () => {
    await store.topUp(5_000, 'FT-1');
    await topUpPayoutWallet(store.database, (await store.newMerchant()).merchant_id, 5_000, 'FT-1');
    await age(8);
    await keep('bank', line('FT-0', 1, { toldAt: DAY(20) }), line('FT-1', 5_000), line('FT-2', 2));
    expect((await briefly()).sort()).to.deep.equal([
      'not at the bank FT-1',
      'not in the books FT-0',
      'not in the books FT-2',
    ]);
  });

  it('is kept once, however often its statement is read', async () => {
    const same = line('FT-1', 5_000);
    await keep('bank', same);
    await keep('bank', same);
    expect(await briefly()).to.deep.equal(['not in the books FT-1']);
  });

  it('is one of two deposits if its file has it twice at one time, as banks list a day', async () => {
    await store.topUp(5_000, 'FT-1');
    const toldAt = DAY(0);
    const twice = [line('FT-1', 5_000, { toldAt }), line('FT-1', 5_000, { toldAt })];
    for (const file of [twice, twice.slice(1)]) await keep('bank', ...file);
    expect(await briefly()).to.deep.equal(['not in the books FT-1']);
    await keep('simulator/utility', ...twice);
    expect(await store.rows("SELECT FROM own_lines WHERE account <> 'bank'")).to.have.length(1);
  });

  it('stands beside the entry of the same amount that the bank does not have', async () => {
    await store.topUp(5_000, 'TYPED-WRONG');
    await store.topUp(7_000, 'NEVER-CAME');
    await age(8);
    await keep('bank', line('FT-0', 1, { toldAt: DAY(20) }), line('FT-1', 5_000));
    expect((await briefly()).sort()).to.deep.equal([
      'not at the bank NEVER-CAME',
      'not at the bank TYPED-WRONG FT-1',
      'not in the books FT-0',
      'not in the books FT-1 TYPED-WRONG',
    ]);
  });

  it('may still come for some days, and is missed only since the first statement', async () => {
    await store.topUp(5_000, 'BEFORE');
    await age(30);
    await store.topUp(6_000, 'JUST-BOOKED');
    await keep('bank', line('FT-1', 1, { toldAt: DAY(10) }), line('FT-2', 2));
    expect((await briefly()).sort()).to.deep.equal([
      'not in the books FT-1',
      'not in the books FT-2',
    ]);
  });

  it('is known on both statements by one move, which has one of the references', async () => {
    await move('simulator/utility', 'bank', 200_000, 'SKL1G');
    await keep('bank', line('FT-9', 200_000, { toldAt: DAY(1) }));
    expect(await briefly()).to.deep.equal(['not in the books FT-9']);
    await keep('simulator/utility', line('SKL1G', -200_000, { toldAt: DAY(2) }));
    expect(await briefly()).to.deep.equal([]);
    // A second sweep of the same amount is not booked yet.
    await keep('simulator/utility', line('SKL2G', -200_000, { toldAt: DAY(1) }));
    const told = { sub_account: 'utility', current_cents: -400_000, available_cents: 0 } as const;
    await hearBalances(store.database, 'simulator', [told], new Date(Date.now() + 60_000));
    const [candidate] = (await differing('simulator'))!.candidates;
    expect(candidate).to.include({ what: 'own row without entry', id: 'SKL2G' });
    expect(moveOf(candidate!)).to.deep.equal({
      ...{ from_account: 'simulator/utility', to_account: 'bank' },
      ...{ amount: '2000.00', reference: 'SKL2G' },
    });
    await move('simulator/utility', 'bank', 200_000, 'SKL2G');
    await hearBalances(store.database, 'simulator', [told], new Date(Date.now() + 60_000));
    expect(await differing('simulator')).to.equal(undefined);
  });

  it('is known however a bank writes the reference, and a person types it', async () => {
    await store.topUp(5_000, 'tt2612345');
    await move('capital', 'bank', 70_000, 'IBK-4711-22');
    await keep('bank', line('TT/26/12345', 5_000), line('IBK 4711 22', 70_000));
    expect(await briefly()).to.deep.equal([]);
    await keep('bank', line('TT/26/12346', 5_000));
    expect(await briefly()).to.deep.equal(['not in the books TT/26/12346']);
  });

  it('explains one deposit for several merchants, and no other top-up', async () => {
    const other = await store.newMerchant({ token: false });
    await store.topUp(30_000, 'FT-9');
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'topup', wallet: 'payout', amount_cents: 20_000 },
        ...{ merchant_id: other.merchant_id, reference: 'FT-9', reason: '' },
      }),
    );
    await store.topUp(7_000, 'FT-8');
    // All top-ups together have the sum of this row. It is another one's.
    await keep('bank', line('FT-9', 50_000), line('FT-8', 57_000));
    await age(20);
    await keep('bank', line('FT-1', 100));
    await store.owner.raw(
      "UPDATE own_lines SET told_at = told_at - interval '20 days' WHERE reference <> 'FT-1'",
    );
    await keep('bank', line('FT-0', 100, { toldAt: DAY(30) }));
    const about = (await briefly()).filter((each) => /FT-[89]/.test(each));
    expect(about.sort()).to.deep.equal(['not at the bank FT-8', 'not in the books FT-8']);
  });

  it('of the bank agrees at once when the charge that it lacked is booked, and the file is kept again', async () => {
    const lines = [
      line('FT-1', 5_000, { balanceCents: 5_000 }),
      line('FT-2', -25, { balanceCents: 4_975 }),
    ];
    await store.topUp(5_000, 'FT-1');
    await age(1);
    await keep('bank', ...lines);
    await hearBankBalance(lines);
    expect(await differing('bank')).to.include({ difference_cents: -25 });
    await move('bank', 'capital', 25, 'FT-2');
    await hearBankBalance(lines);
    expect(await differing('bank')).to.equal(undefined);
  });

  it('is a charge, and needs no entry, under the receipt of a payment: its payment may be of another day', async () => {
    const payout = await store.newPayout({ amount_cents: 10_000 });
    await store.learn(payout, succeeded({ transId: 'SKL1P', amountCents: 10_000 }));
    await keep('simulator/utility', line('SKL1P', -540), line('SKL2P', -50_000));
    const told = { sub_account: 'utility', current_cents: -70_000, available_cents: 0 } as const;
    await hearBalances(store.database, 'simulator', [told], new Date(Date.now() + 60_000));
    const { candidates } = (await differing('simulator'))!;
    const rows = candidates.filter(({ what }) => what === 'own row without entry');
    expect(rows.map(({ id, amount_cents }) => [id, amount_cents])).to.deep.equal([
      ['SKL2P', -50_000],
    ]);
  });

  it('is explained by a move of its own: a second row of the same amount is a question', async () => {
    await move('simulator/utility', 'bank', 500_000, 'SKL1H');
    await keep('simulator/utility', line('SKL1H', -500_000, { toldAt: DAY(4) }));
    await keep('bank', line('FT-1', 500_000, { toldAt: DAY(3) }));
    expect(await briefly()).to.deep.equal([]);
    await keep('bank', line('FT-2', 500_000, { toldAt: DAY(3) }), line('FT-3', 500_000));
    expect((await briefly()).sort()).to.deep.equal([
      'not in the books FT-2',
      'not in the books FT-3',
    ]);
    // Each further move explains one more row, however far apart the rows are.
    for (const [reference, bank, daysAgo] of [
      ['SKL2H', 'FT-2', 2],
      ['SKL3H', 'FT-3', 1],
    ] as const) {
      await move('simulator/utility', 'bank', 500_000, reference);
      await keep('simulator/utility', line(reference, -500_000, { toldAt: DAY(daysAgo) }));
      expect(await briefly()).to.not.include(`not in the books ${bank}`);
    }
    // A row from long before shifts no pair.
    await keep('bank', line('FT-0', 500_000, { toldAt: DAY(40) }));
    expect(await briefly()).to.deep.equal(['not in the books FT-0']);
  });

  it('is explained once by the reference of a move, also when the bank repeats it', async () => {
    await move('capital', 'bank', 70_000, 'FT-2');
    await keep('bank', line('FT-2', 70_000, { toldAt: DAY(1) }), line('FT-2', 70_000));
    expect(await briefly()).to.deep.equal(['not in the books FT-2']);
  });

  it('is one deposit: a second one under the reference of a top-up is a question', async () => {
    await store.topUp(5_000, 'STANDING');
    const [first, second] = [40, 10].map((days) => line('STANDING', 5_000, { toldAt: DAY(days) }));
    await keep('bank', first!, second!);
    expect(await briefly()).to.deep.equal(['not in the books STANDING']);
    await topUpPayoutWallet(
      store.database,
      (await store.newMerchant()).merchant_id,
      5_000,
      'STANDING',
    );
    expect(await briefly()).to.deep.equal([]);
  });

  it('hides no move that never came to the bank: it explains one, and not what a reference explains', async () => {
    for (const reference of ['SWEEP-1', 'SWEEP-2']) {
      await move('simulator/utility', 'bank', 5_000, reference);
      await keep('simulator/utility', line(reference, -5_000, { toldAt: DAY(7) }));
    }
    await store.topUp(5_000, 'FT-1');
    await age(7);
    await keep(
      'bank',
      line('FT-0', 1, { toldAt: DAY(20) }),
      line('FT-1', 5_000, { toldAt: DAY(6) }),
    );
    await keep('bank', line('FT-2', 2));
    const ofSweeps = async () => (await briefly()).filter((each) => /SWEEP|FT-9/.test(each));
    expect((await ofSweeps()).sort()).to.deep.equal([
      'not at the bank SWEEP-1',
      'not at the bank SWEEP-2',
    ]);
    await keep('bank', line('FT-9', 5_000, { toldAt: DAY(6) }));
    expect(await ofSweeps()).to.have.length(1);
  });

  it('tells the balance of the bank, which is compared with the books to the cent', async () => {
    await move('capital', 'bank', 70_000, 'OPENING');
    await store.topUp(5_000, 'FT-1');
    await age(1);
    const lines = [line('FT-1', 5_000, { balanceCents: 75_000 })];
    await keep('bank', ...lines);
    expect(await hearBankBalance(lines)).to.equal(75_000);
    const [proof] = await latestProofs(store.database);
    expect(proof).to.include({ gateway: 'bank', sub_account: 'bank' });
    expect(proof).to.include({ told_cents: 75_000, ledger_cents: 75_000, differs_since: null });
    const charge = [line('FT-2', -30, { balanceCents: 74_970, toldAt: new Date(Date.now() + 1) })];
    await keep('bank', ...charge);
    await hearBankBalance(charge);
    const found = (await differing('bank'))!;
    expect(found).to.include({ difference_cents: -30 });
    expect(found.candidates[0]).to.include({ what: 'own row without entry', id: 'FT-2' });
    expect(await hearBankBalance(lines), 'an older statement').to.equal(null);
  });

  it('of the bank is missed after five days without a kept statement, once there was one: a long weekend is no silence', async () => {
    const untold = async () => (await proveWorld(store.database, [])).untold;
    expect(await untold()).to.deep.equal([]);
    const lines = [line('FT-1', 100, { balanceCents: 100 })];
    await keep('bank', ...lines);
    await hearBankBalance(lines);
    const age = (hours: number) =>
      store.owner.raw(`UPDATE balance_proofs SET told_at = now() - interval '${hours} hours'`);
    await age(119);
    expect(await untold()).to.deep.equal([]);
    await age(121);
    expect(await untold()).to.deep.equal(['bank']);
  });

  it('of the bank is entered if the entry and its corrections come to its amount', async () => {
    const correct = (amount_cents: number, reference: string) =>
      store.transaction((trx) =>
        bookOperatorEntry(trx, {
          ...{ kind: 'adjustment', merchant_id: store.merchantId, wallet: 'payout' },
          ...{ amount_cents, reference, reason: 'A zero too many' },
        }),
      );
    await store.topUp(50_000, 'FT-1');
    await correct(-44_000, 'FT-1-CORR');
    await correct(-1_000, 'FT-1-corr2');
    await age(20);
    await keep('bank', line('FT-0', 1, { toldAt: DAY(30) }), line('FT-1', 5_000));
    expect(await briefly()).to.deep.equal(['not in the books FT-0']);
  });

  it('of the bank tells no balance if it is older than five days, unless the file is complete until later', async () => {
    const lines = [line('FT-1', 100, { balanceCents: 100, toldAt: DAY(40) })];
    await store.topUp(100_000, 'FT-2');
    await age(20);
    await keep('bank', ...lines);
    expect(await hearBankBalance(lines)).to.equal(null);
    expect(await hearBankBalance(lines, DAY(6))).to.equal(null);
    expect(await hearBankBalance(lines, DAY(1))).to.equal(100);
    // What was booked after the last row must be at the bank by then.
    expect(await differing('bank')).to.include({ difference_cents: 100 - 100_000 });
    expect(await briefly()).to.include('not at the bank FT-2');
  });

  it('of the bank is not needed where a file without rows says that it is complete', async () => {
    const lines = [line('FT-1', 100, { balanceCents: 100, toldAt: DAY(4) })];
    await keep('bank', ...lines);
    expect(await hearBankBalance([], DAY(1)), 'no balance before').to.equal(null);
    expect(await hearBankBalance(lines)).to.equal(100);
    expect(await hearBankBalance([], DAY(0))).to.equal(100);
    expect(await hearBankBalance([])).to.equal(null);
  });

  it('has the closing balance first where a bank lists the newest first', async () => {
    const lines = [
      line('FT-2', -30, { balanceCents: 70, toldAt: DAY(1) }),
      line('FT-1', 100, { balanceCents: 100, toldAt: DAY(2) }),
    ];
    await keep('bank', ...lines);
    expect(await hearBankBalance(lines)).to.equal(70);
  });

  describe('has the closing balance where a bank writes days alone', () => {
    const toldAt = DAY(1);
    const rows = [
      line('FT-1', 100, { balanceCents: 100, toldAt }),
      line('FT-2', -30, { balanceCents: 70, toldAt }),
      line('FT-3', 5, { balanceCents: 75, toldAt }),
    ];
    for (const [order, lines] of Object.entries({ oldest: rows, newest: [...rows].reverse() })) {
      it(`and lists the ${order} first`, async () => {
        expect(await hearBankBalance(lines)).to.equal(75);
      });
    }

    it('but for rows whose balances do not tell their order', async () => {
      const odd = rows.map((row) => ({ ...row, amountCents: 1_000 }));
      expect(await hearBankBalance(odd)).to.equal(null);
    });
  });

  it('has the balance of its newest row, in whatever order the rows are', async () => {
    const lines = [
      line('FT-1', 100, { balanceCents: 100, toldAt: DAY(3) }),
      line('FT-3', -30, { balanceCents: 60, toldAt: DAY(1) }),
      line('FT-2', -10, { balanceCents: 90, toldAt: DAY(2) }),
    ];
    await keep('bank', ...lines);
    expect(await hearBankBalance(lines)).to.equal(60);
  });
});
