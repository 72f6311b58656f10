import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { askedDecision, resolveAsAsked } from '../../src/domain/support/asked-decision.ts';
import { assignRow } from '../../src/domain/support/assign-row.ts';
import { casesOf, findCase } from '../../src/domain/support/discrepancy-cases.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { eventually } from '../support/eventually.ts';
import { waitsForLock } from '../support/locks.ts';
import { rowsBackIn } from '../support/rows-back.ts';
import { newReceipt } from '../support/statements.ts';
import { failed, RESOLVING, rejection, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });

describe('A row that brings money back, and that support assigns to a payment,', () => {
  const store = useStore({ fresh: true });
  const rowsBack = rowsBackIn(store);
  const { at, back, begun, compare, fresh, kinds, open, paid, preview, takeBack, tell, whyTwo } =
    rowsBack;
  let payout: Payout;
  let other: Payout;
  let row: string;

  /** Two completed payouts fit the row. */
  beforeEach(async () => {
    ({ payout, row } = await fresh());
    other = await begun(payout.payto);
    await paid(newReceipt());
    await paid(newReceipt(), at(2), other);
  });

  const assign = async (of: Payout, actor = 'amina@x.example') => {
    const question = (await open()).find(({ kind }) => kind === 'money_back');
    return store.transaction((trx) => assignRow(trx, question!.id, of, actor));
  };

  it('is asked about there, and two people then give the merchant its payout back', async () => {
    await compare(back());
    expect(await kinds()).to.deep.equal(['money_back']);
    await assign(other);
    expect(await kinds()).to.deep.equal(['failure_after_success']);
    await takeBack(other);
    expect(await open()).to.deep.equal([]);
    expect((await store.reread(other)).status).to.equal('failed');
    expect((await store.reread(payout)).status).to.equal('completed');
    await compare(back());
    expect(await open()).to.deep.equal([]);
  });

  it('is not assigned to a payout that is back already: a dismissed row counts for that', async () => {
    await tell(other, FAILURE, at(4));
    await takeBack(other);
    await compare(back());
    expect((await rejection(assign(other))).message).to.match(/called back already, dismiss/);
    await store.resolve((await open())[0]!, 'dismissed');
    await compare(back(), back({ of: newReceipt() }));
    expect(await kinds()).to.deep.equal(['failure_after_success']);
  });

  it('is added to the question that the gateway’s own failure has opened', async () => {
    await tell(other, FAILURE, at(4));
    await compare(back());
    await assign(other);
    expect(await kinds()).to.deep.equal(['failure_after_success']);
    await takeBack(other);
    expect(await open()).to.deep.equal([]);
    await compare(back());
    expect(await open()).to.deep.equal([]);
  });

  it('gives no second person for the question of the same failure that the gateway opens', async () => {
    await compare(back());
    await assign(other);
    await tell(other, FAILURE, new Date());
    const all = await casesOf(store.database, other);
    const { id } = all.find((each) => each.trans_id === null && !each.resolved_at)!;
    const foreseen = await preview(id, 'undo');
    const asked = askedDecision((await findCase(store.database, id))!, 'undo', null, foreseen);
    const by = { requested_by: 'baraka@x.example', approved_by: 'amina@x.example', reason: 'x' };
    const approved = store.transaction((trx) => resolveAsAsked(trx, asked, by, RESOLVING));
    expect((await rejection(approved)).message).to.include('You have said whose money');
  });

  it('is assigned by the account that is right, if two files show two', async () => {
    const right = await begun('+254722999885');
    await paid(newReceipt(), at(1), right);
    await compare(back());
    await compare(back({ party: '254722999885 - JOE' }));
    await assign(right);
    await takeBack(right);
    expect((await store.reread(right)).status).to.equal('failed');
    expect(await open()).to.deep.equal([]);
  });

  it('cannot be booked by hand besides', async () => {
    await compare(back());
    await assign(other);
    const byHand = store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', wallet: 'payout', against: 'losses', reason: 'Back' },
        ...{ merchant_id: store.merchantId, reference: row, amount_cents: 10_250 },
      }),
    );
    expect((await rejection(byHand)).message).to.include(`names the payout ${other.id}`);
  });

  it('is of no payout to another phone, or of another amount', async () => {
    const stranger = await begun('+254722999888');
    await paid(newReceipt(), at(1), stranger);
    await compare(back());
    expect((await rejection(assign(stranger))).message).to.match(
      /has no money out of this amount, account and time/,
    );
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('says who has assigned it, and that member cannot be the second person', async () => {
    await compare(back());
    await assign(other);
    const { id } = await store.discrepancyOf('failure_after_success', other);
    const foreseen = await preview(id, 'undo');
    const found = (await findCase(store.database, id))!;
    expect(found.details).to.include({ assigned_by: 'amina@x.example' });
    expect(await whyTwo(id, 'undo')).to.include('Nobody but amina@x.example has said');
    const asked = askedDecision(found, 'undo', null, foreseen);
    const approve = (approved_by: string) =>
      store.transaction((trx) => {
        const by = { requested_by: 'baraka@x.example', approved_by, reason: 'because' };
        return resolveAsAsked(trx, asked, by, RESOLVING);
      });
    const refused = await rejection(approve('amina@x.example'));
    expect(refused.message).to.include('You have said whose money the row brings back');
    await approve('chebet@x.example');
  });

  it('is asked about there again after support has said that it was of another one', async () => {
    await compare(back());
    for (let count = 1; count <= 2; count += 1) {
      await assign(other);
      await store.resolve(await store.discrepancyOf('failure_after_success', other), 'dismissed');
      expect(await kinds()).to.deep.equal(['money_back']);
    }
    await assign(payout);
    await takeBack();
    expect(await open()).to.deep.equal([]);
    expect((await store.reread(other)).status).to.equal('completed');
  });

  it('waits for the end of a payout of which no money is told', async () => {
    const waiting = await begun(payout.payto);
    await compare(back());
    const refused = await rejection(assign(waiting));
    expect(refused.message).to.match(/has no money out of this amount/);
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('brings one payment back, though its question is about other rows of its name, too', async () => {
    const line: StatementLine = {
      ...{ kind: 'reversal', reference: 'RTN20261105', transId: null, account: null },
      ...{ amountCents: 10_000, completedAt: at(5), hasComeBack: true, isUndecided: true },
    };
    await rowsBack.read([line, { ...line, amountCents: 4_200 }], 'batch.csv');
    await assign(other);
    expect((await kinds()).sort()).to.deep.equal(['failure_after_success', 'money_back']);
    expect((await rejection(assign(payout))).message).to.match(/has no money out of this amount/);
  });

  it('is not of a payment for which it is booked by hand', async () => {
    await compare(back());
    await store.transaction((trx) =>
      bookOperatorEntry(trx, {
        ...{ kind: 'adjustment', wallet: 'payout', against: 'losses', reason: 'Back' },
        ...{ merchant_id: store.merchantId, reference: row, amount_cents: 10_250 },
      }),
    );
    expect((await rejection(assign(payout))).message).to.match(/is booked by hand/);
    expect(await kinds()).to.deep.equal(['money_back']);
  });

  it('is of one payment, though it is assigned while a file that has it is compared', async () => {
    const alone = await begun('+254722999886');
    await paid(newReceipt(), at(1), alone);
    await compare(back({ party: '' }));
    const [question] = await open();
    let compared: Promise<void> | undefined;
    await store.transaction(async (trx) => {
      await lockPayment(trx, refOf(alone));
      compared = compare(back({ party: '254722999886 - JOE' }));
      await eventually('the file to wait', () => waitsForLock(store.database));
      const by = 'amina@x.example';
      await store.transaction((trx2) => assignRow(trx2, question!.id, other, by));
    });
    await compared;
    const asked = (await kinds()).filter((kind) => kind === 'failure_after_success');
    expect(asked).to.have.length(1);
  });

  it('is assigned once', async () => {
    await compare(back());
    const [question] = await open();
    const asked = [payout, other].map((of) =>
      store
        .transaction((trx) => assignRow(trx, question!.id, of, 'amina@x.example'))
        .then(
          () => 'assigned',
          ({ message }: Error) => message,
        ),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === 'assigned')).to.have.length(1);
    expect(await kinds()).to.deep.equal(['failure_after_success']);
  });
});
