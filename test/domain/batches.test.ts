import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { FROM_GATEWAY, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { nameOf } from '../../src/domain/settlement/contrary-news.ts';
import { planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { assignRow } from '../../src/domain/support/assign-row.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/time.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { newReceipt } from '../support/statements.ts';
import { failed, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const ACCOUNTS = ['1234567890', '9876543210'] as const;

describe('Rows of one batch, which a bank writes under one reference,', () => {
  const store = useStore({ fresh: true });
  const { at, begun, kinds, open, paid, read, takeBack } = rowsBackIn(store);
  let receipt: string;

  beforeEach(() => {
    receipt = newReceipt();
  });

  async function sent(payto: string): Promise<Payout> {
    const payout = await begun(payto);
    await paid(newReceipt(), at(1), payout);
    return payout;
  }

  /** A row that brings a payout back. */
  const row = (account: string | null, more: Partial<StatementLine> = {}) =>
    ({
      ...{ kind: 'reversal', reference: receipt, account, amountCents: 10_000, transId: null },
      ...{ completedAt: at(4), isUndecided: true, hasComeBack: true, ...more },
    }) as StatementLine;
  /** It has a receipt of its own. */
  const byReceipt = () => ({ transId: receipt, reference: null });
  const inFile = (...lines: StatementLine[]) => read(lines, `${newReceipt()}.csv`);

  const assign = (of: Payout) =>
    store.transaction(async (trx) => {
      const question = (await open()).find(({ kind }) => kind === 'money_back');
      await assignRow(trx, question!.id, of, 'amina@x.example');
    });

  /** Lets each row bring one of the payouts back. */
  async function giveBack(payouts: Payout[], file: StatementLine[]): Promise<void> {
    for (const payout of payouts) {
      await inFile(...file);
      if ((await kinds()).includes('money_back')) await assign(payout);
      await takeBack(payout);
    }
    await inFile(...file);
    expect(await open()).to.deep.equal([]);
    for (const payout of payouts) expect((await store.reread(payout)).status).to.equal('failed');
  }

  it('are asked about each at its own payout', async () => {
    const payouts = [await sent(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    const file = ACCOUNTS.map((account) => row(account));
    for (let time = 1; time <= 2; time += 1) {
      await inFile(...file);
      expect(await kinds()).to.deep.equal(['failure_after_success', 'failure_after_success']);
    }
    for (const payout of payouts) await takeBack(payout);
    await inFile(...file);
    expect(await open()).to.deep.equal([]);
    for (const payout of payouts) expect((await store.reread(payout)).status).to.equal('failed');
  });

  it('are asked about each at its own payout, if one of them is answered before another file has the other', async () => {
    const [first] = [await sent(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    await inFile(row(ACCOUNTS[0]));
    await takeBack(first);
    await inFile(row(ACCOUNTS[1]));
    expect(await kinds()).to.deep.equal(['failure_after_success']);
  });

  it('are one row of which people are asked, if two files call their reference a receipt', async () => {
    const [first] = [await sent(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    await inFile(row(ACCOUNTS[0], byReceipt()));
    await takeBack(first);
    await inFile(row(ACCOUNTS[1], byReceipt()));
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('are assigned one by one, if several payouts fit each', async () => {
    const payouts: Payout[] = [];
    for (const account of [...ACCOUNTS, ...ACCOUNTS]) payouts.push(await sent(account));
    const file = ACCOUNTS.map((account) => row(account));
    await inFile(...file);
    await assign(payouts[0]!);
    expect((await kinds()).sort()).to.deep.equal(['failure_after_success', 'money_back']);
    await takeBack(payouts[0]);
    await inFile(...file);
    expect(await kinds()).to.deep.equal(['money_back']);
    await assign(payouts[1]!);
    await takeBack(payouts[1]);
    await inFile(...file);
    expect(await open()).to.deep.equal([]);
  });

  it('are no word of the gateway, if its own statement shows another account', async () => {
    const [wrong, right] = [await sent('+254711000111'), await sent('+254722000222')];
    await inFile(row(wrong.payto, byReceipt()));
    await takeBack(wrong);
    await read([row(right.payto, byReceipt())], FROM_GATEWAY);
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  for (const account of ['+254712009001', '+2547*****001']) {
    it(`are two questions within a minute: ${account}`, async () => {
      const phones = ['+254712009001', account.replace('*****', '22009')];
      const payouts = [await sent(phones[0]!), await sent(phones[1]!)];
      const later = new Date(at(4).getTime() + 40 * SECOND_MS);
      const file = [row(account), row(account, { completedAt: later })];
      await giveBack(payouts, file);
    });
  }

  for (const [shows, later, isAlone = false] of [
    ['one with hidden digits', 0],
    ['one with hidden digits, by another clock', 40 * SECOND_MS],
    ['one with hidden digits, and is not listed again', 0, true],
    ['one without an account', 0],
  ] as const) {
    it(`are two, though the payout of one was assigned to ${shows}`, async () => {
      const payouts = [await sent('+254711009001'), await sent('+254722009001')];
      await inFile(row(shows === 'one without an account' ? null : '+2547*****001'));
      await assign(payouts[0]!);
      await takeBack(payouts[0]);
      const completedAt = new Date(at(4).getTime() + later);
      const second = row('+254722009001', { completedAt });
      await read(isAlone ? [second] : [row('+254711009001'), second], FROM_GATEWAY);
      expect(await kinds()).to.deep.equal(['failure_after_success']);
      await takeBack(payouts[1]);
      expect((await store.reread(payouts[1]!)).status).to.equal('failed');
    });
  }

  it('are no known row, if each has a receipt of its own', async () => {
    const [first, second] = [await sent('+254712009002'), await sent('+254712009002')];
    await inFile(row(first.payto));
    await assign(first);
    await takeBack(first);
    const later = new Date(at(4).getTime() + 40 * SECOND_MS);
    await inFile(
      row(second.payto, { transId: newReceipt() }),
      row(second.payto, { transId: newReceipt(), completedAt: later }),
    );
    expect((await open()).length).to.be.above(0);
  });

  it('are two rows, if two statements list one each, with a receipt of its own', async () => {
    const [first, second] = [await sent('+254712009004'), await sent('+254712009004')];
    await inFile(row(first.payto));
    await assign(first);
    await takeBack(first);
    for (const [listed, asked] of [
      [first, 0],
      [second, 1],
    ] as const) {
      await read([row(listed.payto, { transId: newReceipt() })], FROM_GATEWAY);
      expect(await open()).to.have.length(asked);
    }
  });

  it('are known by their receipts, if two statements list one each once more', async () => {
    const [first, second] = [await sent('+254712009006'), await sent('+254712009006')];
    await sent('+254712009006');
    const receipts = [newReceipt(), newReceipt()];
    await inFile(row(first.payto));
    await assign(first);
    await takeBack(first);
    const list = (transId: string) => read([row(first.payto, { transId })], FROM_GATEWAY);
    for (const each of receipts) await list(each);
    await assign(second);
    await takeBack(second);
    for (const each of receipts) await list(each);
    expect(await open()).to.deep.equal([]);
  });

  it('are two rows, if one moved at a full minute, in a file that shows seconds', async () => {
    const [first] = [await sent('+254712009007'), await sent('+254712009007')];
    const minute = Math.floor(at(4).getTime() / MINUTE_MS) * MINUTE_MS;
    const full = row(first.payto, { completedAt: new Date(minute) });
    await inFile(full, row('+254733009007', { completedAt: new Date(minute - 7 * SECOND_MS) }));
    await store.resolve((await open()).at(-1)!, 'dismissed');
    await assign(first);
    await takeBack(first);
    const later = { completedAt: new Date(minute + 20 * SECOND_MS) };
    await inFile(row('+2547*****007', later));
    expect((await open()).length).to.equal(1);
  });

  it('may be one row, if a form has a receipt in place of the reference', async () => {
    const [first, second] = [await sent('+254712009005'), await sent('+254712009005')];
    await inFile(row(first.payto));
    await assign(first);
    await takeBack(first);
    await read([row(second.payto, { transId: newReceipt(), reference: null })], FROM_GATEWAY);
    const [question] = await open();
    expect(question!.kind).to.equal('money_back');
    expect(question!.candidates).to.have.members([nameOf(first), nameOf(second)]);
  });

  it('are two rows seconds apart, though a form hides the digits of the second', async () => {
    const [first] = [await sent('+254711009001'), await sent('+254722009001')];
    await inFile(row(first.payto));
    await takeBack(first);
    const completedAt = new Date(at(4).getTime() + 20 * SECOND_MS);
    await inFile(row('+2547*****001', { completedAt }));
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('are told apart by their amounts', async () => {
    const payout = await sent('+254712009003');
    const [half] = [await store.newPayout({ payto: payout.payto, amount_cents: 5_000 })];
    const account = payout.payto;
    const told = { transId: newReceipt(), externalRef: null, account, completedAt: at(1) };
    await store.learn(half!, succeeded({ ...told, amountCents: 5_000 }));
    const file = [row(account), row(account, { amountCents: 5_000 })];
    await inFile(...file);
    expect(await kinds()).to.deep.equal(['failure_after_success', 'failure_after_success']);
    for (const each of [payout, half!]) await takeBack(each);
    await inFile(...file);
    expect(await open()).to.deep.equal([]);
    for (const each of [payout, half!]) {
      expect((await store.reread(each)).status).to.equal('failed');
    }
  });

  it('are told apart by their times in one file', async () => {
    const payouts = [await sent('+254712009004'), await sent('+254712009004')];
    const file = [row('+254712009004'), row('+254712009004', { completedAt: at(7) })];
    await giveBack(payouts, file);
  });

  it('contradict the payment to which a row without an account was assigned', async () => {
    const [wrong, right] = [await sent('+254711000112'), await sent('+254722000223')];
    await inFile(row(null, byReceipt()));
    await assign(wrong);
    await takeBack(wrong);
    await read([row(right.payto, byReceipt())], FROM_GATEWAY);
    expect(await kinds()).to.deep.equal(['money_back']);
    await inFile(row(wrong.payto, byReceipt()));
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('are each a question, though a form without accounts had shown one row', async () => {
    const payouts = [await sent(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    await inFile(row(null));
    await assign(payouts[0]!);
    await takeBack(payouts[0]);
    await inFile(...ACCOUNTS.map((account) => row(account)));
    expect(await kinds()).to.deep.equal(['failure_after_success']);
    await takeBack(payouts[1]);
    expect((await store.reread(payouts[1]!)).status).to.equal('failed');
  });

  it('are no two rows, if a file hides different digits of one account', async () => {
    const [wrong, right] = [await sent('+254711000143'), await sent('+254722999143')];
    await inFile(row(wrong.payto, byReceipt()));
    await takeBack(wrong);
    await inFile(row('+25471*****143', byReceipt()), row('+2547****0143', byReceipt()));
    await read([row(right.payto, byReceipt())], FROM_GATEWAY);
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('are two findings of forgotten money, if a file lists them at two times', async () => {
    const deposit = (minute: number) =>
      row(null, {
        ...{ kind: 'collection', completedAt: at(minute) },
        ...({ isUndecided: undefined, hasComeBack: undefined } as object),
      });
    for (let time = 1; time <= 2; time += 1) {
      await inFile(deposit(1), deposit(9));
      const [found] = await store.rows<{ count: number }>(
        'SELECT jsonb_array_length(evidence) AS count FROM discrepancies WHERE resolved_at IS NULL',
      );
      expect(found).to.deep.equal({ count: 2 });
    }
  });

  it('have a name under which nothing is booked as a top-up', async () => {
    await inFile(row('+254712009009', byReceipt()));
    const entry = {
      wallet: 'payout',
      against: undefined,
      reason: 'x',
      amount_cents: 10_000,
    } as const;
    const of = { merchant_id: store.merchantId, reference: receipt };
    const booked = store.transaction((trx) =>
      bookOperatorEntry(trx, { ...entry, ...of, kind: 'topup' } as never),
    );
    expect((await rejection(booked)).message).to.include('is the name of money that is a question');
  });

  it('stay a question of forgotten payouts when one of these comes again', async () => {
    const lines = ACCOUNTS.map((account) =>
      row(account, { kind: 'payout', isUndecided: undefined, hasComeBack: undefined } as object),
    );
    await inFile(...lines);
    expect(await kinds()).to.deep.equal(['unknown_movement']);
    const again = await store.newPayout({ payto: ACCOUNTS[0] });
    const told = { transId: receipt, externalRef: null, account: again.payto, completedAt: at(4) };
    await store.learn(again, succeeded(told));
    expect(await kinds()).to.deep.equal(['unknown_movement']);
  });

  for (const [name, more] of [
    ['seconds apart', { completedAt: new Date(at(4).getTime() + 25 * SECOND_MS) }],
    ['minutes apart', { completedAt: at(7) }],
  ] as const) {
    it(`are each a question, though one payout that is back fits both: ${name}`, async () => {
      const payout = await sent('+254712009012');
      await store.learn(payout, failed({ externalRef: null }));
      await takeBack(payout);
      await inFile(row(payout.payto), row(payout.payto, more));
      expect(await kinds()).to.deep.equal(['money_back', 'money_back']);
    });

    it(`are two rows without accounts, of two payouts: ${name}`, async () => {
      const payouts = [await sent('+254712009013'), await sent('+254722009013')];
      await giveBack(payouts, [row(null), row(null, more)]);
    });
  }

  it('are two rows on two days in two files', async () => {
    const payouts = [await sent('+254712009014'), await sent('+254712009014')];
    await inFile(row('+254712009014'));
    await assign(payouts[0]!);
    await takeBack(payouts[0]);
    const dayLater = new Date(at(4).getTime() + 25 * HOUR_MS);
    await inFile(row('+254712009014', { completedAt: dayLater }));
    expect(await kinds()).to.deep.equal(['failure_after_success']);
  });

  it('are each of its own account, though one payout has their reference as its receipt', async () => {
    const payouts = [await begun(ACCOUNTS[0]), await begun(ACCOUNTS[1])];
    await paid(receipt, at(1), payouts[0]!);
    await paid(null, at(1), payouts[1]!);
    await inFile(...ACCOUNTS.map((account) => row(account)));
    await takeBack(payouts[0]);
    await takeBack(payouts[1]);
    for (const payout of payouts) expect((await store.reread(payout)).status).to.equal('failed');
  });

  it('stay dismissed, each with all that it fits', async () => {
    const accounts = [...ACCOUNTS, '5555555555'];
    for (const account of accounts) {
      const [back] = [await sent(account), await sent(account)];
      await store.learn(back!, failed({ externalRef: null }));
      await takeBack(back);
    }
    const file = accounts.map((account) => row(account));
    await inFile(...file);
    for (const question of await open()) await store.resolve(question, 'dismissed');
    await inFile(...file);
    expect(await open()).to.deep.equal([]);
  });

  /** Rows of money in or out. */
  const moved = (kind: StatementLine['kind'], more: Partial<StatementLine> = {}) =>
    ({
      ...row(null, { kind, ...more }),
      isUndecided: undefined,
      hasComeBack: undefined,
    }) as StatementLine;
  for (const kind of ['collection', 'payout'] as const) {
    it(`are one ${kind} and money that no payment explains, if it has their reference as its receipt`, async () => {
      const payment = await store.newPayment(kind);
      await store.learn(
        payment,
        succeeded({ transId: receipt, externalRef: null, completedAt: at(1) }),
      );
      await inFile(moved(kind, { completedAt: at(1) }), moved(kind, { completedAt: at(3) }));
      expect(await kinds()).to.deep.equal(['unknown_movement']);
    });

    it(`are no ${kind} of another day: somebody may type an old receipt`, async () => {
      const payment = await store.newPayment(kind);
      const told = { transId: receipt, externalRef: null, completedAt: at(1) };
      await store.learn(payment, succeeded(told));
      await inFile(moved(kind, { completedAt: at(1) }));
      expect(await kinds()).to.deep.equal([]);
      await inFile(moved(kind, { completedAt: new Date(at(1).getTime() + 25 * HOUR_MS) }));
      expect(await kinds()).to.deep.equal(['unknown_movement']);
    });

    it(`are two findings, also seconds apart, and adopted as none: ${kind}`, async () => {
      const later = new Date(at(1).getTime() + 25 * SECOND_MS);
      await inFile(moved(kind, { completedAt: at(1) }), moved(kind, { completedAt: later }));
      const asked = { merchant_id: store.merchantId, receipts: [receipt] };
      expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.include(
        'several movements or payments may be meant',
      );
    });
  }

  it('are two rows if their long references differ at the beginning alone', async () => {
    const payouts = [await sent('+254712009015'), await sent('+254712009015')];
    const of = (number: number) =>
      row('+254712009015', {
        reference: `Return of FT2600${number}: BENEFICIARY ACCOUNT CLOSED`,
      });
    await giveBack(payouts, [of(1), of(2)]);
  });

  it('are known rows, though their bank writes small letters', async () => {
    const [first] = [await sent(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    const small = { reference: receipt.toLowerCase() };
    await inFile(row(ACCOUNTS[0], small));
    await takeBack(first);
    const other = await sent(ACCOUNTS[0]);
    await inFile(row(ACCOUNTS[0], small), row(ACCOUNTS[1], { ...small, completedAt: at(7) }));
    const asked = await store.discrepanciesOf(other.id);
    expect(asked).to.deep.equal([]);
  });

  it('are of no payout of another account, though the gateway has told their reference for it', async () => {
    const [out, back] = [await begun(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    const told = { transId: newReceipt(), externalRef: receipt, account: out.payto };
    await store.learn(out, succeeded({ ...told, completedAt: at(1) }));
    await inFile(row(ACCOUNTS[1]), row('5555555555', { completedAt: at(7) }));
    expect(await store.discrepanciesOf(out.id)).to.deep.equal([]);
    expect((await open())[0]!.candidates).to.include(nameOf(back));
  });

  it('get each its own account from a form that shows more', async () => {
    const times = [at(1), at(3)];
    await inFile(...times.map((completedAt) => moved('collection', { completedAt })));
    await inFile(
      ...times.map((completedAt, index) =>
        moved('collection', { completedAt, account: ACCOUNTS[index]! }),
      ),
    );
    const [found] = await store.rows<{ accounts: string[] }>(
      `SELECT jsonb_path_query_array(evidence, '$[*].details.account') AS accounts FROM discrepancies
       WHERE resolved_at IS NULL`,
    );
    expect(found!.accounts).to.deep.equal([...ACCOUNTS]);
  });

  it('are one known row each in a form without seconds: no other payout is asked about it', async () => {
    const payouts = [await sent(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    const at17 = (minute: number) => new Date(at(minute).getTime() + 17 * SECOND_MS);
    await inFile(
      row(ACCOUNTS[0], { completedAt: at17(4) }),
      row(ACCOUNTS[1], { completedAt: at17(7) }),
    );
    for (const payout of payouts) await takeBack(payout);
    const other = await sent(ACCOUNTS[0]);
    const later = (minute: number) => ({
      completedAt: new Date(at(minute).getTime() + 2 * MINUTE_MS),
    });
    await inFile(row(ACCOUNTS[0], later(4)), row(ACCOUNTS[1], later(7)));
    expect(await store.discrepanciesOf(other.id)).to.deep.equal([]);
    expect((await open()).flatMap(({ candidates }) => candidates ?? [])).to.include(
      nameOf(payouts[0]!),
    );
  });

  const findings = async () => {
    const found = await store.rows<{ accounts: (string | null)[] }>(
      `SELECT jsonb_path_query_array(evidence, '$[*] ? (@.decided == false).details.account') AS accounts
       FROM discrepancies WHERE resolved_at IS NULL`,
    );
    return found.flatMap(({ accounts }) => accounts);
  };
  const PHONES = ['+254711009001', '+254722009001'] as const;
  for (const shown of [null, '+2547*****001']) {
    for (const kind of ['collection', 'payout'] as const) {
      it(`are two ${kind}s in a form with whole accounts, though the one line before was decided: ${shown}`, async () => {
        await inFile(moved(kind, { account: shown }));
        await store.resolve((await open())[0]!, 'dismissed');
        await inFile(...PHONES.map((account) => moved(kind, { account })));
        expect(await findings()).to.deep.equal([PHONES[1]]);
      });
    }
  }

  it('are all asked about, however many there are, though their file is compared once', async () => {
    const lines = Array.from({ length: 45 }, (_, index) =>
      moved('collection', { completedAt: new Date(at(1).getTime() + index * SECOND_MS) }),
    );
    await inFile(...lines);
    for (const left of [20, 20, 5, 0]) {
      expect(await findings()).to.have.length(left);
      for (const question of await open()) await store.resolve(question, 'dismissed');
    }
    await inFile(...lines);
    expect(await findings()).to.deep.equal([]);
  });

  it('are asked about no more, if they were compared long before the question', async () => {
    const lines = Array.from({ length: 25 }, (_, index) =>
      moved('collection', { completedAt: new Date(at(1).getTime() + index * SECOND_MS) }),
    );
    await inFile(...lines);
    await store.rewrite(
      "UPDATE statement_imports SET started_at = started_at - interval '91 days'",
    );
    for (const question of await open()) await store.resolve(question, 'dismissed');
    expect(await findings()).to.deep.equal([]);
  });

  it('come to an end, however many there are', async () => {
    const lines = Array.from({ length: 25 }, (_, index) =>
      moved('collection', { completedAt: new Date(at(1).getTime() + index * SECOND_MS) }),
    );
    for (const left of [20, 5, 0]) {
      await inFile(...lines);
      expect(await findings()).to.have.length(left);
      for (const question of await open()) await store.resolve(question, 'dismissed');
    }
  });

  it('are the payment’s by small letters, too, and of the part that they repeat', async () => {
    const payment = await store.newPayment('payout');
    const told = { transId: receipt, externalRef: null, completedAt: at(1) };
    await store.learn(payment, succeeded(told));
    const line = moved('payout', { completedAt: at(1), account: (payment as Payout).payto });
    await read([{ ...line, reference: receipt.toLowerCase() }], FROM_GATEWAY, ['payout']);
    expect(await open()).to.deep.equal([]);
  });

  it('are no adopted money, if a completed payment has that of their day', async () => {
    const collection = await store.newCollection();
    const told = { transId: newReceipt(), externalRef: null, account: collection.payfrom };
    await store.learn(collection, succeeded({ ...told, completedAt: at(1) }));
    const line = moved('collection', { account: collection.payfrom, reference: 'RENT' });
    const day = new Date(at(1));
    day.setUTCHours(0, 0, 0, 0);
    await read([{ ...line, completedAt: day }], FROM_GATEWAY);
    const asked = { merchant_id: store.merchantId, receipts: ['RENT'] };
    expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.include(
      `it may be ${told.transId}`,
    );
  });

  it('are asked about when a payment as they completes without a receipt, though somebody has booked them', async () => {
    const phone = '+254712009031';
    const now = { completedAt: new Date() };
    await inFile(moved('collection', { account: phone, reference: 'RENT', ...now }));
    await store.resolve((await open())[0]!, 'dismissed');
    const collection = await store.newCollection({ payfrom: phone });
    await store.learn(
      collection,
      succeeded({ transId: null, externalRef: null, account: null }),
      'poll',
    );
    expect(await kinds()).to.deep.equal(['unknown_movement']);
  });

  it('are not booked by hand while a payment that they may be of is open', async () => {
    const phone = '+254712009032';
    const collection = await store.newCollection({ payfrom: phone });
    await store.workOn(collection).claim();
    await inFile(
      moved('collection', { account: phone, reference: 'RENT', completedAt: new Date() }),
    );
    const entry = { wallet: 'collection', against: undefined, reason: 'x', amount_cents: 9_850 };
    const booked = store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ ...entry, merchant_id: store.merchantId, reference: 'RENT', kind: 'adjustment' },
      } as never),
    );
    expect((await rejection(booked)).message).to.include(`the open ${nameOf(collection)}`);
  });

  it('are adopted, though other money of their word is in the books', async () => {
    await inFile(moved('collection', { account: PHONES[0], reference: 'RENT' }));
    await store.resolve((await open())[0]!, 'dismissed');
    const other = { account: PHONES[1], amountCents: 25_000, completedAt: at(9) };
    const own = newReceipt();
    await inFile(moved('collection', { ...other, reference: 'RENT', transId: own }));
    const asked = { merchant_id: store.merchantId, receipts: [own] };
    const plan = await planAdoption(store.database, asked, RESOLVING);
    expect(plan).to.be.an('object');
  });

  for (const [name, more] of [
    ['another time', { completedAt: at(7) }],
    ['another account', { account: ACCOUNTS[1] }],
    ['another amount', { amountCents: 9_000 }],
  ] as const) {
    it(`are no file of receipts: ${name}`, async () => {
      const collected = moved('collection', { account: ACCOUNTS[0] });
      const isOfBoth = !('amountCents' in more);
      for (const line of isOfBoth ? [row(ACCOUNTS[0]), collected] : [row(ACCOUNTS[0])]) {
        const one = { ...line, ...byReceipt() };
        const refused = inFile(one, { ...one, ...more });
        expect((await rejection(refused)).message).to.include(
          `several movements under the receipt ${receipt}`,
        );
      }
      expect(await store.rows('SELECT FROM statement_lines LIMIT 1')).to.deep.equal([]);
    });
  }

  it('are asked about one by one, if the gateway’s own statement calls their reference a receipt', async () => {
    const payouts = [await sent(ACCOUNTS[0]), await sent(ACCOUNTS[1])];
    const listed = ACCOUNTS.map((account) => row(account, byReceipt()));
    await read(listed, FROM_GATEWAY);
    expect(await kinds()).to.deep.equal(['failure_after_success', 'failure_after_success']);
    for (const payout of payouts) await takeBack(payout);
    await read(listed, FROM_GATEWAY);
    expect(await open()).to.deep.equal([]);
  });

  it('are the payment’s own line wherever it stands among others of its receipt', async () => {
    const collection = await store.newCollection({ payfrom: '+254712009016' });
    await store.learn(
      collection,
      succeeded({
        transId: receipt,
        externalRef: null,
        account: collection.payfrom,
        completedAt: at(3),
      }),
    );
    const own = moved('collection', { completedAt: at(3), account: collection.payfrom });
    await inFile(moved('collection', { completedAt: at(1), account: '+254722009016' }), own);
    const [found, ...more] = await store.rows<{ kind: string; account: string }>(
      `SELECT kind, details->>'account' AS account FROM discrepancies WHERE resolved_at IS NULL`,
    );
    expect(more).to.deep.equal([]);
    expect(found).to.deep.equal({ kind: 'unknown_movement', account: '+254722009016' });
  });

  it('stay a question when a payment gets one of two lines of their receipt', async () => {
    await inFile(
      moved('collection', { completedAt: at(1) }),
      moved('collection', { completedAt: at(3) }),
    );
    const collection = await store.newCollection();
    await store.learn(
      collection,
      succeeded({ transId: receipt, externalRef: null, completedAt: at(1) }),
    );
    expect(await kinds()).to.deep.equal(['unknown_movement']);
  });
});
