import { Readable } from 'node:stream';
import { expect } from 'chai';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import {
  bookCharges,
  hearCharge,
  settleCharges,
} from '../../src/domain/gateway-accounts/charges.ts';
import {
  largestCharges,
  type Tariff,
  tariffsFromText,
} from '../../src/domain/gateway-accounts/tariffs.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { matchStatement } from '../../src/domain/reconciliation/match-statement.ts';
import { importStatement, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { readStatement } from '../../src/domain/reconciliation/statement-file.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { insertAttempt } from '../../src/domain/submission/attempts.ts';
import { journalsOf } from '../../src/domain/support/payment-file.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { failed, parserOf, rejection, succeeded, useStore } from '../support/world.ts';
import { aConfig, aGateway, aResult, clientOf } from '../unit/gateways/daraja/daraja-support.ts';

const DAY = { from: '2026-11-20', to: '2026-11-20' };

describe("The charges of a gateway's tariff", () => {
  const store = useStore();
  let gateway = '';
  let tariffs: Tariff[] = [];

  beforeEach(async () => {
    gateway = `gateway-${store.merchantId}`;
    tariffs = tariffsFromText(`${gateway} payout 50=1.00,100=5.40,200=7`);
    await store.topUp(1_000_000, 'bank');
  });

  const paid = async (name: string, amount_cents: number): Promise<Payout> => {
    const payout = await store.newPayout({ gateway, amount_cents });
    const word = { transId: `${name}${store.merchantId}`, amountCents: amount_cents };
    await store.learn(payout, succeeded({ ...word, externalRef: null }));
    return store.reread(payout);
  };

  /** The ledger's float of the charges' account, which is below zero. */
  async function charged(told = 0): Promise<number> {
    const balance = { sub_account: 'charges', current_cents: told, available_cents: 0 } as const;
    await hearBalances(store.database, gateway, [balance], new Date(Date.now() + 60_000));
    const proofs = await latestProofs(store.database);
    return proofs.find((each) => each.gateway === gateway)!.ledger_cents;
  }

  const booked = () =>
    store.rows<{ booked_cents: number; told_cents: number | null }>(
      'SELECT booked_cents, told_cents FROM charges WHERE gateway = :gateway ORDER BY learned_at',
      { gateway },
    );

  it('are booked once for each payment: up to an amount, and the last one beyond', async () => {
    for (const [name, cents] of [
      ['A', 5_000],
      ['B', 5_001],
      ['C', 900_000],
    ] as const) {
      await paid(name, cents);
    }
    for (let time = 1; time <= 2; time += 1) {
      await bookCharges(store.database, tariffs);
      expect(await charged()).to.equal(-(100 + 540 + 700));
    }
    expect((await booked()).map((row) => row.booked_cents)).to.deep.equal([100, 540, 700]);
    await store.expectRightBooks();
  });

  describe('that the gateway has taken, and the books do not have yet,', () => {
    async function tell(cents: number) {
      const told = { sub_account: 'charges', current_cents: cents, available_cents: 0 } as const;
      const largest = largestCharges(tariffs, gateway);
      // A Date has no microseconds, so the present one may lie before what was booked just now.
      const askedAt = new Date(Date.now() + 1);
      await hearBalances(store.database, gateway, [told], askedAt, largest);
      const proofs = await latestProofs(store.database);
      return proofs.find((each) => each.gateway === gateway)!;
    }

    it('explain its balance from payment to payment, also if the run always comes after it', async () => {
      for (const times of [1, 2, 3]) {
        await paid(`P${times}-`, 10_000);
        expect(await tell(-540 * times)).to.include({ differs_since: null });
        await bookCharges(store.database, tariffs);
      }
      expect(await tell(-540 * 3)).to.include({ difference_cents: 0, may_fall_cents: 0 });
    });

    it('explain it while a payout is on its way, and not a cent beyond', async () => {
      const payout = await store.newPayout({ gateway, amount_cents: 10_000 });
      await store.transaction((trx) => insertAttempt(trx, payout));
      expect(await tell(-540)).to.include({ differs_since: null, may_fall_cents: 700 });
      expect((await tell(-701)).differs_since).to.not.equal(null);
    });

    it('explain it until a file lists a payout that support has completed', async () => {
      await paid('FIRST', 10_000);
      await bookCharges(store.database, tariffs);
      await store.owner.raw(
        `UPDATE charges SET learned_at = learned_at - interval '1 day' WHERE gateway = ?`,
        [gateway],
      );
      const payout = await store.newPayout({ gateway, amount_cents: 10_000 });
      const word = succeeded({ transId: `H${store.merchantId}`, externalRef: null });
      await store.learn(payout, word, 'support');
      await store.rewrite(
        `UPDATE movements SET learned_at = learned_at - interval '20 hours' WHERE payment_id = :id`,
        payout,
      );
      await bookCharges(store.database, tariffs);
      expect(await tell(-1_080)).to.include({ differs_since: null, may_fall_cents: 700 });
      const line = lineOf(payout, { transId: word.transId });
      await runStatement(store.database, [line], DAY, { gateway, covers: [] }, 'file.csv');
      await bookCharges(store.database, tariffs);
      expect(await tell(-1_080)).to.include({ difference_cents: 0, may_fall_cents: 0 });
    });

    it('explain it when an answer has told another charge than the tariff', async () => {
      const payout = await paid('P', 10_000);
      await bookCharges(store.database, tariffs);
      const told = { transId: payout.trans_id, amountCents: 10_000, chargeCents: 900 };
      await store.transaction((trx) => hearCharge(trx, refOf(payout), succeeded(told)));
      expect(await tell(-900)).to.include({ differs_since: null, may_fall_cents: 360 });
      await bookCharges(store.database, tariffs);
      expect(await tell(-900)).to.include({ difference_cents: 0, may_fall_cents: 0 });
      const less = await paid('Q', 10_000);
      await bookCharges(store.database, tariffs);
      const toldLess = { transId: less.trans_id, amountCents: 10_000, chargeCents: 300 };
      await store.transaction((trx) => hearCharge(trx, refOf(less), succeeded(toldLess)));
      expect(await tell(-1_200)).to.include({ differs_since: null, may_rise_cents: 240 });
    });
  });

  it('are booked once by dispatchers that run at once', async () => {
    for (const name of ['A', 'B', 'C', 'D']) await paid(name, 10_000);
    await Promise.all([1, 2, 3].map(() => bookCharges(store.database, tariffs)));
    expect(await charged()).to.equal(-4 * 540);
  });

  it('are not booked for other kinds, other gateways and the word of support alone', async () => {
    await store.learn(await store.newCollection({ gateway }), succeeded());
    await store.learn(await store.newPayout(), succeeded({ transId: `O${store.merchantId}` }));
    const byHand = succeeded({ transId: `H${store.merchantId}`, externalRef: null });
    await store.learn(await store.newPayout({ gateway }), byHand, 'support');
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(0);
  });

  it('are booked for all payments of a long stop, and of a day that a statement has told of', async () => {
    await paid('FIRST', 10_000);
    await bookCharges(store.database, tariffs);
    const older = await paid('OLDER', 10_000);
    const newer = await paid('NEWER', 10_000);
    await store.rewrite(
      `UPDATE movements SET learned_at = learned_at + interval '1 day' WHERE payment_id = :id`,
      { id: newer.id },
    );
    // The dispatcher stood still, and the statement came first.
    const import_id = await readFile(newer, ['6.00']);
    await settleCharges(store.database, { import_id, gateway });
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-540 - 540 - 600);
    const [row] = await store.rows(
      `SELECT booked_cents FROM charges JOIN movements m ON m.id = movement_id
       WHERE m.payment_id = :id`,
      { id: older.id },
    );
    expect(row).to.deep.equal({ booked_cents: 540 });
  });

  it('are booked in batches, each payment once', async () => {
    for (const name of ['A', 'B', 'C', 'D', 'E']) await paid(name, 10_000);
    await bookCharges(store.database, tariffs, 2);
    expect(await charged()).to.equal(-5 * 540);
    const runs = 'SELECT FROM charge_runs WHERE gateway = :gateway';
    expect(await store.rows(runs, { gateway })).to.have.length(3);
  });

  it('are settled to the end of a long statement', async () => {
    const payout = await paid('A', 10_000);
    const { trans_id: transId } = await store.reread(payout);
    const line = lineOf(payout, { transId, reference: null });
    const lines = [...Array<StatementLine>(10_000).fill(line), { ...line, chargeCents: 600 }];
    const statement = { gateway, channel: 63902, period: DAY, source: 'file.csv', lines };
    const import_id = await store.transaction((trx) => importStatement(trx, statement));
    await matchStatement(store.database, { import_id, gateway, parserOf });
    await settleCharges(store.database, { import_id, gateway });
    expect(await charged()).to.equal(-600);
  });

  it('are booked for the word of support once a file has listed it, or the gateway has confirmed it', async () => {
    await paid('FIRST', 10_000);
    await bookCharges(store.database, tariffs);
    const payout = await store.newPayout({ gateway, amount_cents: 10_000 });
    const word = succeeded({ transId: `H${store.merchantId}`, externalRef: null });
    await store.learn(payout, word, 'support');
    await store.owner.raw(
      `UPDATE charges SET learned_at = learned_at - interval '1 day' WHERE gateway = ?`,
      [gateway],
    );
    await store.rewrite(
      `UPDATE movements SET learned_at = learned_at - interval '1 hour' WHERE payment_id = :id`,
      payout,
    );
    await paid('SECOND', 10_000);
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-540 * 2);
    const line = lineOf(payout, { transId: word.transId });
    await runStatement(store.database, [line], DAY, { gateway, covers: [] }, 'file.csv');
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-540 * 3);
    await store.learn(payout, word, 'poll');
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-540 * 3);
  });

  it('are booked for a confirmed word of support that is older than all other charges', async () => {
    const payout = await store.newPayout({ gateway, amount_cents: 10_000 });
    const word = succeeded({ transId: `H${store.merchantId}`, externalRef: null });
    await store.learn(payout, word, 'support');
    await paid('FIRST', 10_000);
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-540);
    await store.learn(payout, word, 'poll');
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-540 * 2);
  });

  it('that a file has told are replaced by those of a later file or of the gateway, and never the other way', async () => {
    const payout = await paid('A', 10_000);
    await bookCharges(store.database, tariffs);
    for (const [source, charge, cents] of [
      ['file.csv', '9000.00', 900_000],
      ['file.csv', '1.00', 100],
      ['gateway', '6.00', 600],
      ['file.csv', '1.00', 600],
      ['gateway', '5.00', 600],
    ] as const) {
      const import_id = await readFile(payout, [charge], source);
      await settleCharges(store.database, { import_id, gateway });
      expect(await charged(), `${source} ${charge}`).to.equal(-cents);
    }
  });

  /** An answer of the gateway about the payout, which says what it charged. */
  const hear = async (payout: Payout, chargeCents: number, amountCents = payout.amount_cents) => {
    const { trans_id: transId } = await store.reread(payout);
    const told = { transId, amountCents, externalRef: null, chargeCents };
    await store.learn(payout, succeeded(told), 'poll');
  };

  it('are settled by an answer, once, whatever comes before and after', async () => {
    const [tariff, file, none, statement] = await Promise.all(
      ['A', 'B', 'C', 'D'].map((name) => paid(name, 10_000)),
    );
    await hear(none!, 600);
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-3 * 540 - 600);
    await settleCharges(store.database, {
      import_id: await readFile(file!, ['9.00']),
      gateway,
    });
    await settleCharges(store.database, {
      import_id: await readFile(statement!, ['5.00'], 'gateway'),
      gateway,
    });
    for (const payout of [tariff!, file!, none!, statement!]) {
      await hear(payout, 700);
      await hear(payout, 800);
    }
    // A statement that comes before the next run says it again, and a file says something else.
    for (const [source, charge] of [
      ['gateway', '8.00'],
      ['file.csv', '1.00'],
    ] as const) {
      const import_id = await readFile(tariff!, [charge], source);
      await settleCharges(store.database, { import_id, gateway });
    }
    await Promise.all([1, 2].map(() => bookCharges(store.database, tariffs)));
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(-700 - 700 - 600 - 500);
    const told = await store.rows<{ told_by: string }>(
      `SELECT c.told_by FROM charges c JOIN movements m ON m.id = movement_id
       WHERE c.gateway = :gateway ORDER BY m.trans_id`,
      { gateway },
    );
    expect(told.map(({ told_by }) => told_by)).to.deep.equal([
      ...['answer', 'answer', 'answer', 'statement'],
    ]);
    await store.expectSoundLedger();
  });

  it('are told by the callback that completes the payment, which does not wait for them', async () => {
    const payout = await store.newPayout({ gateway, amount_cents: 10_000 });
    const told = succeeded({ transId: `A${store.merchantId}`, externalRef: null });
    const word = { ...told, amountCents: 10_000, account: payout.payto, chargeCents: 650 };
    const kept = await store.keepCallback(gateway, payout, JSON.stringify(word));
    const callback = await findStoredCallback(store.database, store.merchantId, kept);
    expect(await processCallback(store.database, callback!, parserOf)).to.equal('completed');
    expect(await charged()).to.equal(0);
    await bookCharges(store.database, []);
    expect(await charged()).to.equal(-650);
    await store.expectSoundLedger();
  });

  it('are heard in an answer of Daraja, and are no trouble if nobody understands them', async () => {
    const daraja = aGateway(clientOf('http://127.0.0.1:9'), aConfig());
    const answer = async (DebitPartyCharges: string) => {
      const payout = await store.newPayout({ gateway, amount_cents: 10_000 });
      const parameters = {
        ...{ TransactionStatus: 'Completed', Amount: '100.00', DebitPartyCharges },
        ...{ OriginatorConversationID: payout.reference, ReceiptNo: newReceipt() },
      };
      const place = { ...refOf(payout), address: 'answer', askedAt: new Date() } as const;
      const body = JSON.stringify(aResult({ OriginatorConversationID: 'question' }, parameters));
      const kept = await store.keepCallback(gateway, place, body);
      const callback = await findStoredCallback(store.database, store.merchantId, kept);
      return processCallback(store.database, callback!, () => daraja.parseCallback);
    };
    expect(await answer('Fee For B2C Payment|KES|6.00&Duty|KES|0.50')).to.equal('completed');
    expect(await answer('Fee For B2C Payment|USD|9.00')).to.equal('completed');
    expect(await answer('')).to.equal('completed');
    await bookCharges(store.database, []);
    expect(await charged()).to.equal(-650);
    await store.expectSoundLedger();
  });

  it('are not heard of another amount or receipt, or below zero, and the payment is unharmed', async () => {
    const payout = await paid('A', 10_000);
    await bookCharges(store.database, tariffs);
    await hear(payout, -100);
    await hear(payout, 0.5);
    await hear(payout, 700, 9_000);
    const other = succeeded({ transId: `Z${store.merchantId}`, amountCents: 10_000 });
    await store.learn(payout, { ...other, externalRef: null, chargeCents: 700 }, 'poll');
    await bookCharges(store.database, []);
    // The second receipt has a charge of its own.
    expect(await charged()).to.equal(-540 - 700);
    expect((await store.reread(payout)).status).to.equal('completed');
    await store.expectSoundLedger();
  });

  it('count against what was agreed, by their difference to what is booked', async () => {
    const [first, second] = [await paid('A', 10_000), await paid('B', 10_000)];
    await bookCharges(store.database, tariffs);
    const spent: [string, number][] = [];
    const spend = (what: string, cents: number) => spent.push([what, cents]);
    for (const [payout, charge] of [
      [first, '6.00'],
      [second, '5.00'],
    ] as const) {
      const import_id = await readFile(payout, [charge]);
      await settleCharges(store.database, { import_id, gateway }, spend);
    }
    expect(spent.map(([, cents]) => cents)).to.deep.equal([60, 40]);
    const third = await paid('C', 10_000);
    const refuse = () => {
      throw new Error('More than was agreed');
    };
    const before = await charged();
    const statement = { import_id: await readFile(third, ['700.00']), gateway };
    const refused = await rejection(settleCharges(store.database, statement, refuse));
    expect(refused.message).to.equal('More than was agreed');
    expect(await charged()).to.equal(before);
  });

  /** A file of the gateway with the payout, and what it charged. */
  async function readFile(payout: Payout, charges: string[], source = 'file.csv'): Promise<string> {
    const receipt = (await store.reread(payout)).trans_id;
    const now = new Date().toISOString().slice(0, 'YYYY-MM-DD hh:mm:ss'.length).replace('T', ' ');
    const row = (kind: string, amount: string) =>
      `${receipt},${amount},${now},${kind},${payout.payto}`;
    const text = [
      'trans_id,amount,completed_at,kind,account',
      row('payout', '100.00'),
      ...charges.map((amount) => row('charge', amount)),
    ].join('\n');
    const form = { columns: {}, kind: undefined, utcOffset: 'Z', isMobileMoney: true };
    const { lines } = await readStatement(Readable.from([text]), form, 10);
    expect(lines).to.have.length(1);
    const statement = { gateway, channel: 63902, period: DAY, source, lines };
    const import_id = await store.transaction((trx) => importStatement(trx, statement));
    await matchStatement(store.database, { import_id, gateway, parserOf });
    return import_id;
  }

  it('are settled by the charge rows of a statement, once', async () => {
    const payout = await paid('A', 10_000);
    await bookCharges(store.database, tariffs);
    for (let time = 1; time <= 2; time += 1) {
      const import_id = await readFile(payout, ['-6.00', '-1.25', '-6.00', '0.00']);
      for (let run = 1; run <= 2; run += 1) {
        await settleCharges(store.database, { import_id, gateway });
        expect(await charged()).to.equal(-725);
      }
    }
    expect(await booked()).to.deep.equal([{ booked_cents: 540, told_cents: 725 }]);
  });

  it('are less after a statement that tells less, and booked by it without a tariff', async () => {
    const [payout, other] = [await paid('A', 10_000), await paid('B', 10_000)];
    await bookCharges(store.database, tariffs);
    const less = await readFile(payout, ['5.00']);
    await settleCharges(store.database, { import_id: less, gateway });
    expect(await charged()).to.equal(-500 - 540);
    await store.owner.raw('DELETE FROM charges WHERE gateway = ? AND told_cents IS NULL', [
      gateway,
    ]);
    const told = await readFile(other, ['5.40']);
    await settleCharges(store.database, { import_id: told, gateway });
    expect(await charged()).to.equal(-500 - 540 - 540);
  });

  const undo = async (payout: Payout) => {
    await store.hear(payout, failed({ externalRef: null }));
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    return store.discrepancyOf('undone_money', payout);
  };

  it('are taken back with the movement that did not happen, and booked for it no more', async () => {
    const [payout, early] = [await paid('A', 10_000), await paid('B', 5_000)];
    await store.resolve(await undo(early), 'returned');
    await bookCharges(store.database, tariffs);
    expect(await charged(), 'before the money is back').to.equal(-540);
    const question = await undo(payout);
    expect(await charged()).to.equal(-540);
    await store.resolve(question, 'returned');
    for (let time = 1; time <= 2; time += 1) {
      expect(await charged()).to.equal(0);
      await bookCharges(store.database, tariffs);
    }
    const journals = await journalsOf(store.database, refOf(payout));
    expect(journals.map(({ source_kind }) => source_kind)).to.include('charge_run');
    await store.expectRightBooks();
  });

  for (const [source, left] of [
    ['file.csv', 0],
    ['gateway', 600],
  ] as const) {
    it(`are ${left} for an undone movement whose charge ${source} has told`, async () => {
      const payout = await paid('A', 10_000);
      await bookCharges(store.database, tariffs);
      const import_id = await readFile(payout, ['6.00'], source);
      await settleCharges(store.database, { import_id, gateway });
      await store.resolve(await undo(payout), 'returned');
      expect(await charged()).to.equal(0 - left);
      await store.expectRightBooks();
    });
  }

  it('go with their receipt to the payment that it belongs to', async () => {
    const [wrong, right] = [await store.newPayout({ gateway }), await store.newPayout({ gateway })];
    const receipt = newReceipt();
    const success = succeeded({ transId: receipt, externalRef: null });
    const tell = (payout: Payout, cause: string) =>
      store.transaction(async (trx) => {
        const locked = await lockPayment(trx, refOf(payout));
        return settle(trx, locked!, success, { cause, parserOf });
      });
    await tell(wrong, 'support');
    const told = await readFile(await store.reread(wrong), ['6.00'], 'gateway');
    await settleCharges(store.database, { import_id: told, gateway });
    await tell(right, 'callback');
    await store.resolve(await store.discrepancyOf('receipt_of_another', wrong), 'undo');
    await tell(right, 'callback');
    await bookCharges(store.database, tariffs);
    expect(await charged(), 'before a statement tells it again').to.equal(-600);
    const again = await readFile(await store.reread(right), ['6.00'], 'gateway');
    await settleCharges(store.database, { import_id: again, gateway });
    expect(await charged()).to.equal(-600);
    await store.expectRightBooks();
  });

  it('are taken back also when they are booked at the same moment', async () => {
    const questions = [];
    for (const name of 'ABCDEFGH') questions.push(await undo(await paid(name, 10_000)));
    await Promise.all([
      ...questions.map((question) => store.resolve(question, 'returned')),
      ...[1, 2, 3].map(() => bookCharges(store.database, tariffs, 1)),
    ]);
    await bookCharges(store.database, tariffs);
    expect(await charged()).to.equal(0);
    await store.expectRightBooks();
  });

  it('are read from a list, which is refused where it is wrong', () => {
    expect(tariffsFromText('one payout 10=1.50,20=2; two reversal 150000=0')).to.deep.equal([
      {
        ...{ gateway: 'one', kind: 'payout' },
        bands: [
          { up_to_cents: 1_000, charge_cents: 150 },
          { up_to_cents: 2_000, charge_cents: 200 },
        ],
      },
      { gateway: 'two', kind: 'reversal', bands: [{ up_to_cents: 15_000_000, charge_cents: 0 }] },
    ]);
    for (const wrong of [
      '',
      'one',
      'one gift 1=1',
      'one payout 2=1,1=1',
      'one payout 1=x',
      'a payout',
    ]) {
      expect(() => tariffsFromText(wrong), wrong).to.throw('must be a list such as');
    }
  });
});
