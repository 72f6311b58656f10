import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import type { Period, StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { refuseDoubt } from '../../src/domain/support/doubt-payment.ts';
import { areProvenParts } from '../../src/domain/support/join-parts.ts';
import type { Resolution } from '../../src/domain/support/resolution.ts';
import { DAY_MS } from '../../src/time.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { parserOf, rejection, succeeded, useStore } from '../support/world.ts';

const dayIn = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
const TODAY: Period = { from: dayIn(-DAY_MS), to: dayIn(DAY_MS) };
const WHOLE_CENTS = 15_000;
const FIRST_CENTS = 10_000;
const SECOND_CENTS = 5_000;

describe('A payout that the gateway has paid in parts', () => {
  const store = useStore();
  let payout: Payout;
  let receipts: [string, string];

  beforeEach(async () => {
    await store.topUp(1_000_000, 'bank');
    payout = await store.newPayout({ amount_cents: WHOLE_CENTS });
    receipts = [newReceipt(), newReceipt()];
  });

  afterEach(async () => {
    await store.expectRightBooks();
    await store.expectSoundLedger();
  });

  const partLines = (overrides: Partial<StatementLine> = {}): StatementLine[] =>
    [FIRST_CENTS, SECOND_CENTS].map((amountCents, index) =>
      lineOf(payout, {
        ...{ amountCents, transId: receipts[index]! },
        // Not in the time of the payouts' beginning, which an earlier day would prove.
        completedAt: new Date(),
        ...overrides,
      }),
    );
  const compare = (lines: StatementLine[]) =>
    runStatement(store.database, lines, TODAY, { covers: ['payout'], complete_until: null });
  const told = (transId: string | null, amountCents: number) =>
    succeeded({ transId, amountCents, externalRef: null, account: payout.payto });
  const join = async (
    kind: Parameters<typeof store.discrepancyOf>[0],
    text = receipts.join(','),
    as: Resolution = 'parts',
  ) => store.resolve(await store.discrepancyOf(kind, payout), as, text);

  const openOf = async () =>
    (await store.discrepanciesOf(payout.id)).filter((kind) => !kind.endsWith(' (resolved)'));
  const unknownOf = () =>
    store.countOf(
      `discrepancies WHERE kind = 'unknown_movement' AND resolved_at IS NULL
         AND trans_id IN ('${receipts.join("','")}')`,
    );
  const ownersOf = async () =>
    (
      await store.rows<{ payment_id: string }>(
        'SELECT payment_id FROM receipts WHERE receipt = ANY (:receipts)',
        { receipts },
      )
    ).map(({ payment_id }) => payment_id);

  /** The payout is completed as any other, and nothing asks or answers about it any more. */
  async function expectJoined(status = 'completed'): Promise<void> {
    const now = await store.reread(payout);
    expect(now).to.include({ status, trans_id: receipts[0], amount_cents: WHOLE_CENTS });
    expect(await openOf()).to.deep.equal([]);
    const cases = (await casesOf(store.database, payout)).map(({ id }) => id);
    expect(cases, 'each one once').to.have.length(new Set(cases).size);
    expect(await unknownOf()).to.equal(0);
    expect(await ownersOf()).to.deep.equal([payout.id, payout.id]);
    expect(await store.suspenseOwed()).to.equal(0);
    expect(await store.accountBalance('suspense')).to.equal(0);
    expect(await store.accountBalance('payouts_in_flight')).to.equal(0);
    expect(await store.accountBalance('gateway_float')).to.equal(WHOLE_CENTS);
  }

  /** The statement again, and the gateway's news again, are nothing new. */
  async function expectSilence(): Promise<void> {
    const again = await compare([...partLines()]);
    expect(again.lines).to.include({ matched: 2, settled: 0, contradicts: 0, unknown: 0 });
    expect(again.missing).to.deep.equal([]);
    const bare = await compare(partLines({ reference: null }));
    expect(bare.lines).to.include({ matched: 2 });
    for (const news of [
      told(receipts[1], SECOND_CENTS),
      told(receipts[0], WHOLE_CENTS),
      told(null, WHOLE_CENTS),
    ]) {
      expect(await store.learn(payout, news)).to.equal('repeat');
    }
    await expectJoined();
  }

  it('are joined by the amount that the gateway answers, though a file has another one', async () => {
    const [first, second] = receipts;
    const wrong = {
      ...{ transId: second, amountCents: 3_000 },
      ...{ reference: null, account: null },
    };
    await runStatement(store.database, [lineOf(payout, wrong)], TODAY, { covers: [] }, 'file.csv');
    await store.learn(payout, told(first, FIRST_CENTS));
    const place = { address: 'receipt', askedAt: new Date(), receipt: second } as const;
    const facts = { amountCents: SECOND_CENTS, account: null, reference: payout.reference };
    const answer = { ...facts, externalRef: null, isOfKind: true, completedAt: new Date() };
    await store.keepCallback(
      payout.gateway,
      { ...refOf(payout), ...place },
      JSON.stringify({ outcome: 'receipt', transId: second, told: answer }),
    );
    await join('other_amount');
    expect(await store.reread(payout)).to.include({ status: 'completed', trans_id: first });
    await compare(partLines());
  });

  it('are joined although the line of a file has one of them with another amount', async () => {
    const other = await store.newPayout({ amount_cents: FIRST_CENTS });
    const wrong = { transId: receipts[1], amountCents: FIRST_CENTS, completedAt: new Date() };
    await runStatement(store.database, [lineOf(other, wrong)], TODAY, { covers: [] }, 'file.csv');
    await compare(partLines());
    await store.resolve(await store.discrepancyOf('receipt_of_another', other), 'undo');
    await join('other_amount');
    await store.learn(other, succeeded({ transId: newReceipt(), externalRef: null }));
    expect(await store.reread(payout)).to.include({ status: 'completed', trans_id: receipts[0] });
  });

  it('are not joined at the question of other money, which would wait for ever', async () => {
    const other = newReceipt();
    await store.learn(payout, told(receipts[0], FIRST_CENTS));
    await store.learn(payout, told(receipts[1], SECOND_CENTS));
    await store.learn(payout, told(other, FIRST_CENTS));
    const cases = await casesOf(store.database, refOf(payout));
    const ofOther = cases.find(({ trans_id }) => trans_id === other)!;
    const why = await rejection(store.resolve(ofOther, 'parts', receipts.join(',')));
    expect(why.message).to.include(`about ${other}, which is none of the parts`);
    await join('other_amount');
    await store.resolve(ofOther, 'returned');
    await expectJoined();
  });

  it('completes by both parts in suspense, once, and stays silent', async () => {
    await compare(partLines());
    expect(await openOf()).to.have.members(['other_amount', 'second_success']);
    const [one, other] = await Promise.allSettled([join('second_success'), join('other_amount')]);
    expect([one.status, other.status].toSorted()).to.deep.equal(['fulfilled', 'rejected']);
    expect(await store.eventsOf(payout)).to.deep.equal(['completed']);
    await expectJoined();
    await expectSilence();
    // Support has said it, so somebody may doubt it.
    await refuseDoubt(store.database, await store.reread(payout));
  });

  it('completes by one part of a callback and an unknown line', async () => {
    await store.learn(payout, told(receipts[0], FIRST_CENTS));
    await compare(partLines({ reference: null }).slice(1));
    expect(await unknownOf()).to.equal(1);
    await join('other_amount');
    await expectJoined();
    await expectSilence();
  });

  it('completes by two callbacks, and a statement that lacks a part is asked about', async () => {
    for (const [index, cents] of [FIRST_CENTS, SECOND_CENTS].entries()) {
      const news = { ...told(receipts[index]!, cents), completedAt: new Date() };
      await store.learn(payout, news);
    }
    await join('other_amount');
    await expectJoined();
    const { missing } = await compare(partLines().slice(0, 1));
    expect(missing.map(({ trans_id }) => trans_id)).to.deep.equal([receipts[1]]);
    expect(await openOf()).to.deep.equal(['missing_at_gateway']);
    await store.resolve(await store.discrepancyOf('missing_at_gateway'), 'dismissed');
    await expectSilence();
  });

  it('completes by two unknown lines when it is overdue', async () => {
    await store.makeOverdue(payout);
    await compare(partLines({ reference: null }));
    expect(await unknownOf()).to.equal(2);
    await join('overdue');
    await expectJoined();
    await expectSilence();
  });

  it('completes by the gateway’s answers about two receipts, and by nothing less', async () => {
    await store.makeOverdue(payout);
    const answer = async (index: number, account: string | null) => {
      const [transId, amountCents] = [receipts[index]!, [FIRST_CENTS, SECOND_CENTS][index]!];
      const asked = { address: 'receipt', askedAt: new Date(), receipt: transId } as const;
      const said = {
        amountCents,
        account,
        reference: null,
        externalRef: null,
        isOfKind: true,
        completedAt: new Date(),
      };
      const body = JSON.stringify({ outcome: 'receipt', transId, told: said });
      await store.keepCallback('simulator', { ...refOf(payout), ...asked }, body);
    };
    await answer(0, payout.payto);
    expect((await rejection(join('overdue'))).message).to.include('Nothing tells');
    await answer(1, null);
    const asked = { transId: receipts.join(), parserOf, decider: null };
    expect(await areProvenParts(store.database, payout, asked)).to.equal(false);
    await join('overdue');
    await expectJoined();
    const told_by = await store.rows(
      'SELECT told_by FROM movements WHERE trans_id = ANY (:receipts) ORDER BY trans_id',
      { receipts },
    );
    expect(told_by).to.deep.equal([{ told_by: 'poll' }, { told_by: 'support' }]);
    await expectSilence();
  });

  it('is not proved by parts of which only a file has told, whoever compares it', async () => {
    await store.makeOverdue(payout);
    const lines = partLines({ account: null });
    await runStatement(store.database, lines, TODAY, { covers: [] }, 'own.csv');
    await store.rewrite(
      "UPDATE statement_imports SET brought_by = 'amina' WHERE source = 'own.csv'",
    );
    const asked = { transId: receipts.join(), parserOf, decider: 'amina' };
    expect(await areProvenParts(store.database, payout, asked)).to.equal(false);
    await compare(partLines());
    expect(await areProvenParts(store.database, payout, asked)).to.equal(true);
  });

  it('completes after its refund, and takes the money from the wallet again', async () => {
    const failure = { outcome: 'failed', code: 1, description: 'No', externalRef: null } as const;
    await store.learn(payout, failure);
    await store.refund(payout);
    const before = Number(await store.walletBalance('payout'));
    await compare(partLines());
    await join('second_success');
    const after = Number(await store.walletBalance('payout'));
    expect(before - after).to.equal(WHOLE_CENTS + payout.fee_cents);
    await expectJoined();
    await expectSilence();
  });

  it('gets the parts in place of a receipt that support has given wrongly', async () => {
    await store.makeOverdue(payout);
    const wrong = newReceipt();
    await join('overdue', wrong, 'completed');
    await compare(partLines({ reference: null }));
    expect(await openOf()).to.deep.equal(['missing_at_gateway']);
    await join('missing_at_gateway');
    await expectJoined();
    await expectSilence();
    expect(await store.countOf('receipts WHERE receipt = :wrong', { wrong })).to.equal(0);
  });

  it('gets the other part if the first has completed it as the whole', async () => {
    await store.learn(payout, told(receipts[0], WHOLE_CENTS));
    await compare(partLines());
    expect(await openOf()).to.have.members(['other_amount', 'second_success']);
    await join('other_amount');
    await expectJoined();
    await expectSilence();
    expect(await store.eventsOf(payout)).to.deep.equal(['completed']);
  });

  it('gets the gateway’s part in place of one that a file told wrongly', async () => {
    await store.learn(payout, told(receipts[0], FIRST_CENTS));
    const mistyped = newReceipt();
    const line = lineOf(payout, { transId: mistyped, amountCents: SECOND_CENTS });
    await runStatement(store.database, [line], TODAY, { covers: [] }, 'file.csv');
    await join('other_amount', `${receipts[0]},${mistyped}`);
    await store.learn(payout, told(receipts[1], SECOND_CENTS));
    const open = (await casesOf(store.database, payout)).find(({ resolved_at }) => !resolved_at);
    await store.resolve(open!, 'parts', receipts.join(','));
    await expectJoined();
    expect(await store.countOf(`receipts WHERE receipt = '${mistyped}'`)).to.equal(0);
  });

  it('is undone as a whole, and each part is decided about', async () => {
    await compare(partLines());
    await join('second_success');
    const failure = { outcome: 'failed', code: 1, description: 'No', externalRef: null } as const;
    await store.learn(payout, failure);
    await store.resolve(await store.discrepancyOf('failure_after_success'), 'undo');
    expect(await openOf()).to.deep.equal(['undone_money', 'undone_money']);
    expect(await store.accountBalance('suspense')).to.equal(-WHOLE_CENTS);
    const waiting = await store.rows<{ id: string }>(
      `SELECT id FROM discrepancies WHERE payment_id = :id AND kind = 'undone_money'`,
      payout,
    );
    for (const each of waiting) await store.resolve(each, 'returned');
    await store.refund(payout);
    expect(await openOf()).to.deep.equal([]);
    expect(await ownersOf()).to.deep.equal([]);
    expect(await store.suspenseOwed()).to.equal(0);
    expect(await store.accountBalance('gateway_float')).to.equal(0);
    expect(await store.accountBalance('payouts_in_flight')).to.equal(0);
  });

  it('is undone because a part is of another payment, which gets it', async () => {
    await compare(partLines());
    await join('second_success');
    const other = await store.newPayout({ amount_cents: SECOND_CENTS });
    const theirs = { ...told(receipts[1], SECOND_CENTS), account: other.payto };
    expect(await store.learn(other, theirs)).to.equal('discrepancy');
    await store.resolve(await store.discrepancyOf('receipt_of_another', payout), 'undo');
    expect(await openOf()).to.deep.equal(['undone_money']);
    expect(await store.accountBalance('suspense')).to.equal(-FIRST_CENTS);
    expect(await store.reread(other)).to.include({ status: 'completed', trans_id: receipts[1] });
    expect(await ownersOf()).to.have.members([payout.id, other.id]);
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'failed');
    await store.refund(payout);
    expect(await store.accountBalance('gateway_float')).to.equal(WHOLE_CENTS);
    expect(await store.accountBalance('losses')).to.equal(-FIRST_CENTS);
    expect(await store.accountBalance('payouts_in_flight')).to.equal(0);
  });

  it('has its receipts alone when another payout is said to have them at the same moment', async () => {
    const other = await store.makeOverdue(await store.newPayout({ amount_cents: WHOLE_CENTS }));
    await store.makeOverdue(payout);
    await compare(partLines({ reference: null }));
    const [mine, theirs] = await Promise.all(
      [payout, other].map((each) => store.discrepancyOf('overdue', each)),
    );
    const told = await Promise.allSettled([
      store.resolve(mine!, 'parts', receipts.join()),
      store.resolve(theirs!, 'parts', receipts.toReversed().join()),
    ]);
    expect(told.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
    const refused = told.find((each) => each.status === 'rejected')!;
    expect(String(refused.reason)).to.include('belongs to payout');
    const states = [await store.reread(payout), await store.reread(other)];
    expect(states.map(({ status }) => status).toSorted()).to.deep.equal(['completed', 'pending']);
    expect(new Set(await ownersOf()).size).to.equal(1);
    expect(await store.accountBalance('gateway_float')).to.equal(WHOLE_CENTS);
  });

  it('is refused while the gateway has told of other money of it', async () => {
    await store.learn(payout, told(newReceipt(), WHOLE_CENTS));
    await compare(partLines());
    const refused = await rejection(join('second_success'));
    expect(refused.message).to.include('which is none of the parts');
    expect(await store.accountBalance('suspense')).to.equal(-WHOLE_CENTS);
  });

  it('is refused for another sum, owner, phone or decision, and changes nothing', async () => {
    const other = await store.newPayout({ amount_cents: SECOND_CENTS });
    const [taken, strange, third] = [newReceipt(), newReceipt(), newReceipt()];
    await store.learn(other, succeeded({ transId: taken, amountCents: null, account: null }));
    await compare([
      ...partLines(),
      lineOf(payout, {
        ...{ amountCents: SECOND_CENTS, transId: strange, reference: null },
        account: '+254733999999',
      }),
      lineOf(payout, { amountCents: SECOND_CENTS, transId: taken, reference: null }),
      lineOf(payout, { amountCents: 4_000, transId: third, reference: null }),
    ]);
    const [first, second] = receipts;
    for (const [text, why] of [
      ['', '2 to 5'],
      [first, '2 to 5'],
      [[...receipts, '3', '4', '5', '6'].join(), '2 to 5'],
      [`${first},${third}`, '100.00 + 40.00 come to KES 140.00, and the payout is of KES 150.00'],
      [`${first},${second},${third}`, 'name all its parts'],
      [`${first},NOBODY`, 'Nothing tells how much moved under the receipt NOBODY'],
      [`${first},${strange}`, 'another phone or account'],
      [`${first},${taken}`, 'belongs to payout'],
    ] as const) {
      const refused = await rejection(join('other_amount', text));
      expect(refused.message, text).to.include(why);
      expect(await store.reread(payout)).to.include({ status: 'pending', trans_id: null });
      expect(await store.accountBalance('suspense')).to.equal(-WHOLE_CENTS);
    }
    await store.resolve(await store.discrepancyOf('second_success', payout), 'failed');
    const late = await rejection(join('other_amount'));
    expect(late.message).to.include('decided otherwise');
    await store.resolve(await store.discrepancyOf('other_amount', payout), 'returned');
  });
});
