import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import { bookCharges } from '../../src/domain/gateway-accounts/charges.ts';
import { bookOwnMove } from '../../src/domain/gateway-accounts/own-moves.ts';
import { tariffsFromText } from '../../src/domain/gateway-accounts/tariffs.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { previewStatement } from '../../src/domain/reconciliation/preview-statement.ts';
import { importStatement, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { stakeOf } from '../../src/domain/support/decide-discrepancy.ts';
import { casesOf, findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { doubtPayment } from '../../src/domain/support/doubt-payment.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { eventually } from '../support/eventually.ts';
import { reversalRequest } from '../support/payment-kinds.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { newReceipt } from '../support/statements.ts';
import { failed, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });
const ASKED_BY = { requested_by: 'amina@x.example', reason: 'Restore' };

describe('A file with the row of a payout, and the row that brings it back,', () => {
  const store = useStore({ fresh: true });
  const {
    at,
    day,
    fileOf,
    preview,
    read,
    tell,
    back,
    begun,
    compare,
    fresh,
    kinds,
    open,
    out,
    paid,
    takeBack,
  } = rowsBackIn(store);
  let payout: Payout;
  let receipt: string;
  let row: string;

  beforeEach(async () => {
    ({ payout, receipt, row } = await fresh());
  });

  for (const teller of ['callback', 'row'] as const) {
    it(`asks no more once support has answered what the ${teller} has told`, async () => {
      await paid(receipt);
      if (teller === 'callback') await tell(payout, FAILURE, at(3));
      await compare(out(), back());
      await takeBack();
      for (let day = 1; day <= 2; day += 1) {
        await compare(out(), back());
        // A portal may leave our reference out.
        await compare(out(receipt, null), back());
        expect(await open()).to.deep.equal([]);
      }
      await store.expectRightBooks();
    });
  }

  it('gives nobody the money again: it is neither adopted nor booked by hand under its receipt', async () => {
    await store.topUp(50_000, 'bank');
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await takeBack();
    await compare(out(receipt, null));
    expect((await open()).map(({ kind }) => kind)).to.deep.equal(['undone_money']);
    await takeBack();
    const asked = { merchant_id: store.merchantId, receipts: [receipt] };
    expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.include(
      `None of them can be adopted: ${receipt}`,
    );
    const entry = { kind: 'adjustment', wallet: 'payout', amount_cents: -10_000 } as const;
    const byHand = store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ ...entry, merchant_id: store.merchantId },
        ...{ reference: receipt, reason: 'by hand' },
      }),
    );
    expect((await rejection(byHand)).message).to.include(`names the payout ${payout.id}`);
  });

  it('leaves the charge of the payout: the gateway gives back the amount, not what it took for it', async () => {
    const tariffs = tariffsFromText('simulator payout 1000=5.40');
    const charged = () =>
      store.rows('SELECT coalesce(told_cents, booked_cents) AS cents FROM charges');
    await paid(receipt);
    await bookCharges(store.database, tariffs);
    await compare(out(), back());
    await takeBack();
    expect(await charged()).to.deep.equal([{ cents: 540 }]);
    // A failure alone says that the money has never moved.
    const other = await begun('+254712009998');
    await paid(newReceipt(), at(1), other);
    await bookCharges(store.database, tariffs);
    await tell(other, FAILURE, at(3));
    await takeBack(other);
    expect(await charged()).to.have.deep.members([{ cents: 540 }, { cents: 0 }]);
    await store.expectRightBooks();
  });

  describe('of which support has said that it is not this payout', () => {
    it('asks about the row at once', async () => {
      await paid(receipt);
      await compare(out(), back());
      await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'dismissed');
      expect(await kinds()).to.deep.equal(['money_back']);
      await compare(back());
      expect(await kinds()).to.deep.equal(['money_back']);
    });

    it('asks about the row at once, also if the gateway had told it first', async () => {
      await paid(receipt);
      await tell(payout, FAILURE, at(3));
      await compare(out(), back());
      expect(await kinds()).to.deep.equal(['failure_after_success']);
      await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'dismissed');
      expect(await kinds()).to.deep.equal(['money_back']);
    });
  });

  it('is asked about once, if all files list both rows of a payout that support has completed', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    const moment = new Date(Date.now() + 1_000);
    await compare(out(), back({ moment }));
    await takeBack();
    await compare(out(), back({ moment }));
    expect(await open()).to.deep.equal([]);
  });

  it('leaves the charge of a payout that support has completed, and that files list out and back', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    await compare(out());
    await bookCharges(store.database, tariffsFromText('simulator payout 1000=5.40'));
    const charged = () =>
      store.rows('SELECT coalesce(told_cents, booked_cents) AS cents FROM charges');
    expect(await charged()).to.deep.equal([{ cents: 540 }]);
    await compare(back({ moment: new Date(Date.now() + 1_000) }));
    await takeBack();
    expect(await charged()).to.deep.equal([{ cents: 540 }]);
    await store.expectRightBooks();
  });

  it('has a stake in the preview of its file until somebody is asked about it', async () => {
    await paid(receipt);
    const period = { from: day(-1), to: day(1) };
    const of = { gateway: 'simulator', channel: 63902, period };
    const previewed = async (text = back()) => {
      const { lines } = await fileOf(text);
      return store.transaction(async (trx) => {
        const import_id = await importStatement(trx, { ...of, source: 'x.csv', lines });
        const asked = { covers: [], complete_until: null, settling_window_ms: 0 };
        return previewStatement(trx, { ...of, ...asked, import_id });
      });
    };
    expect(await previewed()).to.include({ lines: 0, come_back: 1, stake_cents: 10_000 });
    await compare(back());
    expect(await previewed()).to.include({ lines: 0, come_back: 0, stake_cents: 0 });
    const stranger = back({ party: '254722999888 - JOE' });
    expect(await previewed(stranger)).to.include({ come_back: 1, stake_cents: 10_000 });
    const masked = newReceipt();
    const shown = (party: string) => back({ of: masked, party: `${party} - JANE` });
    const [head, tail] = [payout.payto.slice(1, 7), payout.payto.slice(-3)];
    await compare(shown(`${head}***${tail}`));
    expect(await previewed(shown(`${head.slice(0, 4)}*****${tail}`))).to.include({ come_back: 0 });
    expect(await previewed(shown(`${head}12*${tail}`))).to.include({ come_back: 1 });
  });

  it('settles no question about it with another phone: people say which one is right', async () => {
    const other = await begun('+254722999887');
    await paid(newReceipt(), at(1), other);
    await compare(back());
    await compare(back({ party: '254722999887 - JOE' }));
    const [question, ...more] = await open();
    expect(more).to.deep.equal([]);
    const found = (await findCase(store.database, question!.id))!;
    expect(found).to.include({ kind: 'money_back', payment_id: null });
    expect(found.evidence).to.have.length(2);
  });

  it('is asked about until somebody answers, also after the payout has come back by another row', async () => {
    await paid(receipt);
    await compare(out(), back());
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'dismissed');
    const own = newReceipt();
    await compare(back({ of: own }));
    await takeBack();
    await compare(out(), back(), back({ of: own }));
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('brings the payout back after a row beside the gateway’s failure was another one', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await compare(out(), back());
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'dismissed');
    await compare(back({ of: newReceipt() }));
    expect(await kinds()).to.deep.equal(['money_back', 'failure_after_success']);
  });

  it('gives nobody the money again that only a file has told', async () => {
    await store.topUp(50_000, 'bank');
    await compare(out(), back());
    await takeBack();
    await compare(out(receipt, null));
    const asked = { merchant_id: store.merchantId, receipts: [receipt] };
    expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.be.a(
      'string',
    );
  });

  it('brings back the charge that was taken out of the books when the gateway failed the payout', async () => {
    const tariffs = tariffsFromText('simulator payout 1000=5.40');
    await paid(receipt);
    await bookCharges(store.database, tariffs);
    await compare(out());
    await tell(payout, FAILURE, at(3));
    await takeBack();
    const charged = () =>
      store.rows('SELECT coalesce(told_cents, booked_cents) AS cents FROM charges');
    expect(await charged()).to.deep.equal([{ cents: 0 }]);
    for (let day = 1; day <= 2; day += 1) await compare(out(), back());
    expect(await charged()).to.deep.equal([{ cents: 540 }]);
    await store.expectRightBooks();
  });

  it('is asked about when support calls the money lost that it has brought back', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    await compare(back());
    expect(await kinds()).to.deep.equal(['undone_money']);
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'failed');
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('asks no more once another question has said that the payout is back', async () => {
    await paid(receipt);
    await compare(back());
    await tell(payout, FAILURE, at(3));
    const failure = (await casesOf(store.database, payout)).find(
      ({ trans_id }) => trans_id === null,
    );
    await store.resolve(failure!, 'undo');
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
    await compare(back());
    expect(await open()).to.deep.equal([]);
  });

  it('is asked about once the gateway’s failure is answered, if support has dismissed it before', async () => {
    await paid(receipt);
    await compare(back());
    await tell(payout, FAILURE, at(6));
    const isRow = ({ trans_id }: { trans_id: string | null }) => trans_id === row;
    const cases = await casesOf(store.database, payout);
    await store.resolve(cases.find(isRow)!, 'dismissed');
    expect(await kinds()).to.deep.equal(['failure_after_success']);
    await takeBack();
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('is asked about once a payout is undone that was never made', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', newReceipt());
    await tell(payout, FAILURE, new Date(), 'poll');
    await compare(back());
    expect(await kinds()).to.deep.equal(['failure_after_success']);
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    const asked = (await open()).find(({ kind }) => kind === 'money_back');
    // It may be this payout's all the same, which has its money.
    expect(asked!.candidates).to.deep.equal([
      `payout ${payout.id} of merchant ${payout.merchant_id}`,
    ]);
  });

  it('is not explained by the line of a file that was wrong', async () => {
    await paid(receipt);
    await compare(out(newReceipt()));
    await store.resolve(await store.discrepancyOf('second_success', payout), 'undo');
    await compare(back());
    expect(await kinds()).to.deep.equal(['failure_after_success']);
  });

  it('is news again after support has called the money lost', async () => {
    await paid(receipt);
    await compare(back());
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'failed');
    await compare(back());
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('is about the payout also if both rows are of one second', async () => {
    await paid(receipt, at(5));
    await compare(back({ moment: new Date(at(5).getTime() - 1_000) }));
    expect(await kinds()).to.deep.equal(['failure_after_success']);
  });

  it('is asked about without the word that the payout has failed, if that was paid twice', async () => {
    await paid(receipt);
    await paid(newReceipt(), at(2));
    await store.resolve(await store.discrepancyOf('second_success', payout), 'returned');
    await compare(back());
    const [question, ...more] = await open();
    expect(more).to.deep.equal([]);
    expect(question).to.include({ kind: 'money_back' });
    expect(question!.candidates).to.have.length(1);
  });

  it('asks with the payout as a candidate while its second money waits for a decision', async () => {
    await paid(receipt);
    await paid(newReceipt(), at(2));
    await compare(back());
    const [, question] = await open();
    expect(question!.candidates).to.have.length(1);
    expect(await kinds()).to.deep.equal(['second_success', 'money_back']);
  });

  it('does not undo a payout of which a part has come back', async () => {
    for (const [name, amountCents] of [
      [receipt, 6_000],
      [newReceipt(), 4_000],
    ] as const) {
      await tell(
        payout,
        succeeded({ transId: name, externalRef: null, account: payout.payto, amountCents }),
        at(1),
      );
    }
    const [found] = (await casesOf(store.database, payout)).filter((each) => !each.resolved_at);
    const parts = (await store.rows<{ trans_id: string }>('SELECT trans_id FROM movements')).map(
      ({ trans_id }) => trans_id,
    );
    await store.resolve(found!, 'parts', parts.join(','));
    await compare(back({ amount: '60.00' }));
    const [question] = await open();
    expect(question).to.include({ kind: 'money_back' });
    expect(question!.candidates).to.have.length(1);
  });

  it('is no money of a payout that gets the name of the row as its receipt', async () => {
    await paid(null);
    await compare(back({ of: receipt, party: '' }));
    expect(await kinds()).to.deep.equal(['money_back']);
    await paid(receipt);
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('is not explained by a payout whose money has never moved', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', newReceipt());
    const actor = { actor: 'juma@x.example', action: 'payment.doubt', reason: 'wrong row' };
    await doubtPayment(auditedFor(store.database, actor), refOf(payout), actor);
    await store.resolve(await store.discrepancyOf('doubted', payout), 'undo');
    await tell(payout, FAILURE, new Date(), 'poll');
    await store.refund(payout);
    await compare(back());
    expect(await kinds()).to.deep.equal(['money_back']);
    // The wage is sent again, and comes back.
    const again = await begun(payout.payto);
    await paid(newReceipt(), at(3), again);
    await compare(back({ of: newReceipt() }));
    expect(await kinds()).to.deep.equal(['money_back', 'failure_after_success']);
  });

  it('is explained by the failure of a payout that support had completed, once a file has listed it', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    await compare(out());
    await tell(payout, FAILURE, new Date(), 'poll');
    await takeBack();
    const before = (await kinds()).filter((kind) => kind !== 'taken_after_failure');
    await compare(back());
    expect((await kinds()).filter((kind) => kind !== 'taken_after_failure')).to.deep.equal(before);
  });

  it('is explained by the failure of a payout whose receipt support gave and a file lists without its name', async () => {
    await store.topUp(50_000, 'bank');
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    await compare(out(receipt, null));
    await tell(payout, FAILURE, new Date(), 'poll');
    await takeBack();
    const asked = { merchant_id: store.merchantId, receipts: [receipt] };
    expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.be.a(
      'string',
    );
    await compare(out(receipt, null), back({ moment: new Date(Date.now() + 1_000) }));
    expect(await open()).to.deep.equal([]);
  });

  it('is that of the right receipt, if support corrects the receipt before it answers the row', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', newReceipt());
    const moment = new Date(Date.now() + 1_000);
    await compare(back({ moment }));
    await paid(receipt, new Date());
    await store.resolve(await store.discrepancyOf('second_success', payout), 'same');
    await takeBack();
    expect(await open()).to.deep.equal([]);
    // The payout of this row is not here.
    await compare(back({ of: newReceipt(), moment }));
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('is that of all parts, if support joins them before it answers the row', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', newReceipt());
    const moment = new Date(Date.now() + 1_000);
    await compare(back({ moment }));
    const parts = [newReceipt(), newReceipt()];
    for (const transId of parts) {
      const told = { transId, externalRef: null, account: payout.payto, amountCents: 5_000 };
      await tell(payout, succeeded({ ...told, completedAt: at(2) }), new Date());
    }
    await store.resolve(await store.discrepancyOf('second_success', payout), 'parts', parts.join());
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    expect(await kinds()).to.deep.equal(['undone_money', 'undone_money']);
    for (const each of await casesOf(store.database, payout)) {
      if (!each.resolved_at) await store.resolve(each, 'returned');
    }
    expect(await kinds()).to.deep.equal([]);
  });

  it('of a part is shown to who answers whether the payout has failed', async () => {
    await paid(receipt);
    await compare(back({ amount: '60.00' }));
    await store.resolve((await open())[0]!, 'dismissed');
    await tell(payout, FAILURE, at(6));
    const [found] = await open();
    expect((await findCase(store.database, found!.id))!.rows_back).to.deep.equal([
      `${row} (a part) (dismissed)`,
    ]);
  });

  it('explains one row, though the money was booked twice under its receipt', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await takeBack();
    // The first file that lists it asks once more.
    await compare(out());
    expect(await kinds()).to.deep.equal(['undone_money']);
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
    await compare(back());
    expect(await open()).to.deep.equal([]);
    await compare(back({ of: newReceipt() }));
    expect(await kinds()).to.deep.equal(['money_back', 'money_back']);
  });

  it('is one of two rows at one moment: the other one is a question of its own', async () => {
    await paid(receipt);
    let compared: Promise<void>[] = [];
    const waiting = () =>
      store.rows(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
    await store.transaction(async (trx) => {
      await lockPayment(trx, refOf(payout));
      compared = [compare(back()), compare(back({ of: newReceipt() }))];
      await eventually('both to wait', async () => (await waiting()).length === 2);
    });
    await Promise.all(compared);
    expect((await kinds()).sort()).to.deep.equal(['failure_after_success', 'money_back']);
  });

  it('is shown to the person who undoes the payout, also if it was booked by hand and dismissed', async () => {
    await paid(receipt);
    await compare(back({ party: '' }));
    const [question] = await open();
    await store.resolve(question!, 'dismissed');
    await tell(payout, FAILURE, at(8));
    const found = await store.discrepancyOf('failure_after_success', payout);
    const { before } = await preview(found.id, 'undo');
    expect(before.rows_back).to.deep.equal([`${row} (dismissed)`]);
  });

  it('is not the row of another phone, if a bank gives both one reference and no receipt', async () => {
    const other = await begun('+254712009997');
    await paid(receipt);
    await paid(newReceipt(), at(1), other);
    const large = await store.newPayout({ payto: '+254712009996', amount_cents: 20_000 });
    await store.rewrite(
      `UPDATE payouts SET created_at = created_at - interval '20 minutes' WHERE id = :id`,
      { id: large.id },
    );
    const told = { transId: newReceipt(), externalRef: null, account: large.payto };
    const more = { amountCents: large.amount_cents, completedAt: at(1) };
    await tell(large, succeeded({ ...told, ...more }), at(1));
    const payouts = [payout, other, large];
    const batch = payouts.map(
      ({ payto: account, amount_cents: amountCents }): StatementLine => ({
        ...{ kind: 'reversal', reference: 'RTN20261101', transId: null, account, amountCents },
        ...{ completedAt: at(5), hasComeBack: true, isUndecided: true },
      }),
    );
    await read(batch, 'batch.csv');
    for (const each of payouts) {
      await store.resolve(await store.discrepancyOf('failure_after_success', each), 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', each), 'returned');
    }
    await read(batch, 'again.csv');
    expect(await open()).to.deep.equal([]);
  });

  it('stays a question if it has the reference of the transfer, whose payout is known only later', async () => {
    await compare(out(receipt, null), back({ of: receipt }));
    expect((await kinds()).sort()).to.deep.equal(['money_back', 'unknown_movement']);
    await paid(receipt, new Date());
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('has the stake of all rows that one name stands for', async () => {
    const rows = [10_000, 4_200].map(
      (amountCents): StatementLine => ({
        ...{ kind: 'reversal', reference: 'RTN20261104', transId: null, account: null },
        ...{ amountCents, completedAt: at(4), hasComeBack: true, isUndecided: true },
      }),
    );
    await read(rows, 'batch.csv');
    const [question] = await open();
    expect(stakeOf((await findCase(store.database, question!.id))!)).to.equal(14_200);
  });

  it('is not a second row of its reference, account and day, which has another time', async () => {
    const line = (minutes: number): StatementLine => ({
      ...{ kind: 'reversal', reference: 'RTNTWICE', transId: null, account: payout.payto },
      ...{ amountCents: 10_000, completedAt: at(minutes), hasComeBack: true, isUndecided: true },
    });
    await paid(receipt);
    await read([line(4)], 'first.csv');
    await takeBack();
    const again = await begun(payout.payto);
    await paid(newReceipt(), at(5), again);
    await read([line(4), line(8)], 'second.csv');
    // The first payout fits as well, and its row has another name.
    const [question] = await open();
    expect(question).to.include({ kind: 'failure_after_success' });
    await takeBack(again);
    await read([line(4), line(8)], 'third.csv');
    expect(await open()).to.deep.equal([]);
  });

  it('is a question of its own beside a row whose account ends alike', async () => {
    const phones = ['+254722555701', '+254733555701'];
    for (const phone of phones) await paid(newReceipt(), at(1), await begun(phone));
    const lines = phones.map(
      (account): StatementLine => ({
        ...{ kind: 'reversal', reference: 'RTNALIKE', transId: null, account },
        ...{ amountCents: 10_000, completedAt: at(5), hasComeBack: true, isUndecided: true },
      }),
    );
    await read(lines, 'batch.csv');
    expect(await kinds()).to.deep.equal(['failure_after_success', 'failure_after_success']);
  });

  it('names the payout that is back though it shows no account, and counts for that once it is dismissed', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await takeBack();
    await compare(back({ party: '' }));
    const [question] = await open();
    expect(question!.candidates).to.deep.equal([
      `payout ${payout.id} of merchant ${payout.merchant_id}`,
    ]);
    await store.resolve(question!, 'dismissed');
    await compare(back({ of: newReceipt() }));
    const [second] = await open();
    expect(second).to.deep.include({ kind: 'money_back', candidates: null });
  });

  it('is a question at its payout if it has the receipt of the money, though it shows no account', async () => {
    await paid(receipt);
    await compare(back({ of: receipt, party: '' }));
    expect(await kinds()).to.deep.equal(['failure_after_success']);
    await takeBack();
    await compare(back({ of: receipt, party: '' }));
    expect(await open()).to.deep.equal([]);
  });

  it('names the payout whose money is told only after it, to those who look', async () => {
    await compare(back());
    const [question] = await open();
    expect(question!.candidates).to.equal(null);
    await paid(receipt);
    const { details } = (await findCase(store.database, question!.id))!;
    expect(details.candidates).to.deep.equal([
      `payout ${payout.id} of merchant ${payout.merchant_id}`,
    ]);
  });

  describe('of a reversal', () => {
    let reversal: AnyPayment;

    beforeEach(async () => {
      const { payto: payfrom } = payout;
      const moved = { transId: newReceipt(), externalRef: null, account: payfrom };
      const collection = await store.newCollection({ payfrom });
      await tell(collection, succeeded({ ...moved, completedAt: at(0) }), at(0));
      reversal = await createReversal(store.database, reversalRequest(collection));
      await store.rewrite(
        `UPDATE reversals SET created_at = created_at - interval '10 minutes' WHERE id = :id`,
        { id: reversal.id },
      );
      await tell(
        reversal,
        succeeded({ ...moved, transId: newReceipt(), completedAt: at(3) }),
        at(3),
      );
    });

    it('is asked about there, and the reversal can be requested again once its money is back', async () => {
      const before = await store.walletBalance('collection');
      await compare(back());
      await store.resolve(await store.discrepancyOf('failure_after_success', reversal), 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', reversal), 'returned');
      expect(await store.reread(reversal)).to.include({ status: 'failed' });
      expect(await store.walletBalance('collection')).to.equal(before! + 9_850);
      await compare(back());
      expect(await open()).to.deep.equal([]);
    });

    it('explains a failure that the gateway tells later, or has told', async () => {
      await tell(reversal, FAILURE, at(4));
      await compare(back());
      const question = await store.discrepancyOf('failure_after_success', reversal);
      await store.resolve(question, 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', reversal), 'returned');
      expect(await open()).to.deep.equal([]);
      await compare(back());
      expect(await open()).to.deep.equal([]);
    });

    it('is a question with both, if a payout fits as well', async () => {
      await paid(receipt);
      await compare(back());
      const [question, ...more] = await open();
      expect(more).to.deep.equal([]);
      expect(question!.candidates).to.have.members(
        [payout, reversal].map(({ kind, id }) => `${kind} ${id} of merchant ${store.merchantId}`),
      );
    });
  });

  it('is a question of its own beside a line of a payout that the database has forgotten, which is not adopted then', async () => {
    await paid(receipt);
    const forgotten = newReceipt();
    const { payto: account, amount_cents: amountCents } = payout;
    const lost = { reference: randomUUID(), account, amountCents, transId: forgotten };
    await read([{ kind: 'payout', ...lost, completedAt: at(4) }], 'lost.csv');
    await compare(out(), back());
    const asked = (await open()).find(({ kind }) => kind === 'money_back');
    expect(asked!.candidates).to.have.members([
      `payout ${payout.id} of merchant ${payout.merchant_id}`,
      `unknown_movement ${forgotten}`,
    ]);
    const request = { merchant_id: store.merchantId, receipts: [forgotten] };
    const refused = await rejection(planAdoption(store.database, request, RESOLVING));
    expect(refused.message).to.match(/may have given it back/);
  });

  for (const [how, form] of Object.entries({
    'with its receipt': () => ({ transId: 'FT26334ABC' }),
    'with less of its account': (phone: string) => ({ account: `+2547*****${phone.slice(-3)}` }),
  })) {
    it(`is one question, though another form of the file lists it ${how}`, async () => {
      const other = await begun(payout.payto);
      await paid(receipt);
      await paid(newReceipt(), at(2), other);
      const line: StatementLine = {
        ...{ kind: 'reversal', reference: 'RTN20261103', transId: null, account: payout.payto },
        ...{ amountCents: 10_000, completedAt: at(5), hasComeBack: true, isUndecided: true },
      };
      await read([line], 'first.csv');
      const [question, ...more] = await open();
      expect(more).to.deep.equal([]);
      const inOtherForm = { ...line, ...form(payout.payto) };
      await read([inOtherForm], 'second.csv');
      expect((await open()).map(({ id }) => id)).to.deep.equal([question!.id]);
      await store.resolve(question!, 'dismissed');
      await read([inOtherForm], 'third.csv');
      expect(await open()).to.deep.equal([]);
    });
  }

  it('counts for no other payout if it is booked by a move alone, as that of a payout that was lost', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'failed');
    const other = await begun(payout.payto);
    await paid(newReceipt(), at(2), other);
    await tell(other, FAILURE, at(4));
    await takeBack(other);
    await compare(back());
    const move = { from_account: 'losses', to_account: 'simulator/utility', amount_cents: 10_000 };
    await store.transaction((trx) => bookOwnMove(trx, { ...move, reference: row }));
    await store.resolve((await open())[0]!, 'dismissed');
    await compare(back({ of: newReceipt(), moment: at(6) }));
    const [second] = await open();
    expect(second!.candidates).to.include(`payout ${other.id} of merchant ${other.merchant_id}`);
  });

  it('is a question of its own beside the other rows of its batch, and one answer is of one row', async () => {
    const batch = ['+254712009991', '+254712009992'].map(
      (account): StatementLine => ({
        ...{ kind: 'reversal', reference: 'RTN20261102', transId: null, account },
        ...{ amountCents: 10_000, completedAt: at(5), hasComeBack: true, isUndecided: true },
      }),
    );
    await read(batch, 'batch.csv');
    expect(await kinds()).to.deep.equal(['money_back', 'money_back']);
    const [first, second] = await open();
    await store.resolve(first!, 'dismissed');
    await read(batch, 'again.csv');
    expect((await open()).map(({ id }) => id)).to.deep.equal([second!.id]);
  });

  it('names a payout that is back among many newer ones, and matches none of more than it can show', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(2));
    await takeBack();
    for (let count = 1; count <= 21; count += 1) {
      const wage = await begun(payout.payto);
      await paid(newReceipt(), at(3), wage);
      if (count <= 5) continue;
      await tell(wage, FAILURE, at(4));
      await takeBack(wage);
    }
    await compare(back());
    const [question] = await open();
    expect(question).to.include({ kind: 'money_back' });
    expect(question!.candidates).to.have.length(20);
    expect(question!.candidates).to.include(
      `payout ${payout.id} of merchant ${payout.merchant_id}`,
    );
  });

  it('is shown to the person who fails the payout, whatever asks about that', async () => {
    await compare(back());
    const [question] = await open();
    await store.resolve(question!, 'dismissed');
    await store.makeOverdue(payout);
    const { before } = await preview((await store.discrepancyOf('overdue', payout)).id, 'failed');
    expect(before.rows_back).to.deep.equal([`${row} (dismissed)`]);
  });

  it('is shown with the rows of its account and amount that people have dismissed', async () => {
    await paid(receipt);
    await tell(payout, FAILURE, at(3));
    await takeBack();
    const next = await begun(payout.payto);
    await paid(newReceipt(), at(4), next);
    await compare(back());
    const [first] = await open();
    expect(first!.candidates).to.have.length(2);
    await store.resolve(first!, 'dismissed');
    await compare(back({ of: newReceipt() }));
    const [second] = await open();
    expect((await findCase(store.database, second!.id))!.rows_back).to.deep.equal([
      `${row} (dismissed)`,
    ]);
  });

  it('is not in the way of a payout that is not here, whose own money the file lists beside that of the payout', async () => {
    await store.topUp(50_000, 'bank');
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    const lost = newReceipt();
    const asked = { merchant_id: store.merchantId, receipts: [lost] };
    await compare(out(lost, null));
    expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.include(
      `may be that of payout ${payout.id}`,
    );
    await compare(out(), out(lost, null));
    expect((await planAdoption(store.database, asked, RESOLVING)).lines).to.have.length(1);
  });

  it('is in the way of it if its own receipt is listed with another phone', async () => {
    await store.topUp(50_000, 'bank');
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    const own = newReceipt();
    const asked = { merchant_id: store.merchantId, receipts: [own] };
    await compare(out(receipt, null, '254799000111'), out(own, null));
    expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.include(
      `may be that of payout ${payout.id}`,
    );
  });

  it('waits as undone money if support gave the receipt, a file lists it without a name, and the gateway fails it', async () => {
    await store.makeOverdue(payout);
    await store.resolve(await store.discrepancyOf('overdue', payout), 'completed', receipt);
    await compare(out(receipt, null));
    await tell(payout, FAILURE, new Date(), 'poll');
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    expect(await kinds()).to.deep.equal(['undone_money']);
  });

  for (const [state, shows] of [
    ['failed', 'whole'],
    ['failed', 'masked'],
    ['failed', 'none'],
    ['open', 'whole'],
  ] as const) {
    it(`names a payout of which no money was told, and that is ${state} (${shows} phone), beside a line that may be its money`, async () => {
      if (state === 'failed') {
        await tell(payout, FAILURE, at(7));
        await store.refund(payout);
      }
      const phone = payout.payto.slice(1);
      const parties = { whole: phone, masked: `2547*****${phone.slice(-3)}`, none: '' };
      const party = parties[shows];
      await compare(back({ of: newReceipt(), party }));
      expect((await open()).at(-1)!.candidates).to.equal(null);
      await compare(out(receipt, null), back({ party }));
      const name = `payout ${payout.id} of merchant ${payout.merchant_id}`;
      expect((await open()).at(-1)!.candidates).to.deep.equal([name]);
      if (shows !== 'whole') return;
      const wage = await begun(payout.payto);
      await paid(newReceipt(), at(1), wage);
      await compare(back({ of: newReceipt() }));
      expect((await open()).at(-1)!.candidates).to.have.length(2);
      await store.rewrite(`UPDATE payouts SET created_at = now() WHERE id = :id`, payout);
      await compare(back({ of: newReceipt() }));
      expect((await open()).at(-1)!.candidates, 'a line of before').to.have.members([
        ...[`payout ${wage.id} of merchant ${wage.merchant_id}`, `unknown_movement ${receipt}`],
      ]);
    });
  }

  it('names an adopted payout as a candidate, and keeps a lost one from being adopted', async () => {
    await store.topUp(50_000, 'bank');
    const asked = { merchant_id: store.merchantId, receipts: [receipt] };
    await compare(out(receipt, randomUUID()), back());
    expect((await rejection(planAdoption(store.database, asked, RESOLVING))).message).to.include(
      `the row ${row} may have given it back`,
    );
    const dismissed = (await open()).find(({ kind, id }) => kind === 'money_back' && id);
    expect(dismissed).to.be.an('object');
    const other = { ...asked, receipts: [newReceipt()] };
    const party = '254712009999';
    await compare(out(other.receipts[0], randomUUID(), party));
    const planned = await planAdoption(store.database, other, RESOLVING);
    await store.transaction((trx) => adoptAsAsked(trx, planned, ASKED_BY, RESOLVING));
    await compare(back({ of: newReceipt(), party }));
    expect((await open()).at(-1)!.candidates).to.have.length(1);
  });
});
