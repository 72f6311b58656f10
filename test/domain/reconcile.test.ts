import { expect } from 'chai';
import { type Database, inTransaction, rows } from '../../src/database.ts';
import { type AnyPayment, accountOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/payouts/refund-payout.ts';
import { type Reconciliation, reconcile } from '../../src/domain/reconciliation/reconcile.ts';
import { importStatement, type StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayment, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import {
  AMOUNT_CENTS,
  createTestStore,
  discrepanciesOf,
  failed,
  learn,
  PAYER,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

const CHANNEL = 63902;
const GATEWAY = 'simulator';
const COMPLETED_AT = succeeded().completedAt!;
const NOVEMBER = { from: '2026-11-01', to: '2026-11-30' };
/** Covers everything that is made now, until well after. */
const AROUND_NOW = { from: '2000-01-01', to: '2999-12-31' };
const STATEMENT_KINDS = {
  collection: 'collection',
  payout: 'payout',
  reversal: 'reversal',
  return: 'reversal',
} as const;

let receipts = 0;

function newReceipt(): string {
  receipts += 1;
  return `RECON${receipts}`;
}

/** What the gateway's statement has about a payment that succeeded as it was asked for. */
function lineOf(payment: AnyPayment, overrides: Partial<StatementLine> = {}): StatementLine {
  return {
    kind: STATEMENT_KINDS[payment.kind],
    reference: payment.id,
    account: accountOf(payment),
    amountCents: payment.amount_cents,
    transId: newReceipt(),
    completedAt: COMPLETED_AT,
    ...overrides,
  };
}

describe('Reconciling a statement', () => {
  let store: TestStore;
  let database: Database;
  let merchant: TestMerchant;

  beforeEach(async () => {
    store = await createTestStore();
    database = store.database;
    merchant = await store.newMerchant();
  });

  afterEach(async () => {
    await expectSoundLedger(database);
    await store.drop();
  });

  async function run(
    lines: StatementLine[],
    period = NOVEMBER,
    settlingWindowMs = 0,
  ): Promise<Reconciliation> {
    const importId = await inTransaction(database, (trx) =>
      importStatement(trx, { gateway: GATEWAY, channel: CHANNEL, period, source: 'test', lines }),
    );
    const options = { importId, gateway: GATEWAY, channel: CHANNEL, period, settlingWindowMs };
    return reconcile(database, options);
  }

  async function completed(kind: (typeof PAYMENT_KINDS)[number]) {
    const payment = await newPayment(kind, database, merchant);
    const line = lineOf(payment);
    await learn(database, payment, succeeded({ transId: line.transId, account: line.account }));
    return { payment: await reread(database, payment), line };
  }

  /** Lines of the collections that reversals and returns were made from. */
  async function otherLines(known: StatementLine[]): Promise<StatementLine[]> {
    const others = await rows<{ id: string; payfrom: string; trans_id: string }>(
      database,
      `SELECT c.id, c.payfrom, m.trans_id FROM collections c JOIN movements m
         ON m.merchant_id = c.merchant_id AND m.payment_id = c.id`,
    );
    return others
      .filter(({ id }) => !known.some(({ reference }) => reference === id))
      .map(({ id, payfrom, trans_id }) => ({
        kind: 'collection',
        reference: id,
        account: payfrom,
        amountCents: AMOUNT_CENTS,
        transId: trans_id,
        completedAt: COMPLETED_AT,
      }));
  }

  async function openDiscrepancies(): Promise<string[]> {
    const found = await rows<{ kind: string }>(
      database,
      'SELECT kind FROM discrepancies WHERE resolved_at IS NULL ORDER BY id',
    );
    return found.map(({ kind }) => kind);
  }

  it('finds no break where every movement is booked as the gateway lists it', async () => {
    const lines: StatementLine[] = [];
    for (const kind of PAYMENT_KINDS) lines.push((await completed(kind)).line);
    lines.push(...(await otherLines(lines)));
    const result = await run(lines);
    expect(result).to.deep.include({ unknown: [], contradicting: [], missing: [], ruledOut: [] });
    expect(result.lines).to.deep.equal({
      matched: lines.length,
      settled: 0,
      contradicts: 0,
      unknown: 0,
    });
    expect(await openDiscrepancies()).to.deep.equal([]);
  });

  for (const kind of PAYMENT_KINDS) {
    it(`settles an open ${kind} that the statement shows`, async () => {
      const payment = await newPayment(kind, database, merchant);
      const line = lineOf(payment);
      const { lines } = await run([line, ...(await otherLines([line]))]);
      expect(lines).to.include({ settled: 1, contradicts: 0, unknown: 0 });
      expect(await reread(database, payment)).to.include({
        status: 'completed',
        trans_id: line.transId,
      });
    });
  }

  it('lists a movement that no payment here explains, once however often it is run', async () => {
    const line = lineOf(await newPayment('payout', database, merchant), {
      reference: '01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f',
    });
    const first = await run([line]);
    const second = await run([line]);
    for (const { unknown } of [first, second]) {
      expect(unknown.map(({ trans_id }) => trans_id)).to.deep.equal([line.transId]);
    }
    expect(await openDiscrepancies()).to.deep.equal(['unknown_movement']);
  });

  it('lists what is booked here and missing there', async () => {
    const { payment } = await completed('payout');
    const { line } = await completed('collection');
    const { missing } = await run([line]);
    expect(missing.map(({ payment_id }) => payment_id)).to.deep.equal([payment.id]);
    expect(await discrepanciesOf(database, payment.id)).to.deep.equal(['missing_at_gateway']);
  });

  it('asks for nothing outside of its period or of another channel', async () => {
    await completed('payout');
    const outside = { from: '2026-10-01', to: '2026-10-31' };
    expect(await run([], outside)).to.deep.include({ missing: [], ruledOut: [] });
    await rows(database, 'UPDATE payouts SET channel = 63903');
    expect(await run([])).to.deep.include({ missing: [], ruledOut: [] });
  });

  it('leaves out the lines of a statement that are outside of the period', async () => {
    const payment = await newPayment('payout', database, merchant);
    const late = lineOf(payment, { completedAt: new Date('2026-12-01T00:00:00Z') });
    const { lines } = await run([late]);
    expect(lines).to.deep.equal({ matched: 0, settled: 0, contradicts: 0, unknown: 0 });
    expect(await reread(database, payment)).to.include({ status: 'pending' });
  });

  it('lists another amount, another account and a second receipt as differing', async () => {
    const first = await completed('payout');
    const second = await completed('payout');
    const third = await completed('payout');
    const { contradicting } = await run([
      { ...first.line, amountCents: AMOUNT_CENTS + 1 },
      { ...second.line, account: '+254722000000' },
      third.line,
      { ...third.line, transId: newReceipt() },
    ]);
    expect(contradicting.map(({ reference }) => reference)).to.deep.equal([
      first.payment.id,
      second.payment.id,
      third.payment.id,
    ]);
    expect(await openDiscrepancies()).to.have.members([
      'other_amount',
      'other_account',
      'second_success',
    ]);
  });

  it('books a success after the failure: a collection goes back, a payout is for support', async () => {
    const collection = await newPayment('collection', database, merchant);
    const payout = await newPayment('payout', database, merchant);
    for (const payment of [collection, payout]) await learn(database, payment, failed());
    const { step_no } = await reread(database, payout);
    const ref = { kind: 'payout', merchantId: merchant.merchantId, id: payout.id } as const;
    await refundPayout(database, ref, step_no);
    const { lines } = await run([lineOf(collection), lineOf(payout)]);
    expect(lines).to.include({ settled: 1, contradicts: 1 });
    expect(await openDiscrepancies()).to.deep.equal(['paid_after_refund']);
    const [back] = await rows<{ account: string }>(database, 'SELECT account FROM returns');
    expect(back).to.deep.equal({ account: PAYER });
  });

  it('finds a payment by the gateway’s own reference, or by the receipt alone', async () => {
    const { line } = await completed('payout');
    const open = await newPayment('payout', database, merchant);
    await rows(database, `UPDATE payouts SET external_ref = 'GW-77' WHERE id = :id`, {
      id: open.id,
    });
    const byRef = lineOf(open, { reference: 'GW-77' });
    const { lines } = await run([{ ...line, reference: null }, byRef]);
    expect(lines).to.include({ matched: 1, settled: 1, unknown: 0 });
  });

  describe('that covers the life of an overdue payment', () => {
    async function overdue(kind: (typeof PAYMENT_KINDS)[number]): Promise<AnyPayment> {
      const payment = await newPayment(kind, database, merchant);
      const table = `${kind}s`;
      await rows(
        database,
        `UPDATE ${table} SET deadline_at = now() - interval '1 hour', next_step = 'poll'
         WHERE id = :id`,
        { id: payment.id },
      );
      return payment;
    }

    for (const kind of PAYMENT_KINDS) {
      it(`fails the ${kind} that it does not list`, async () => {
        const payment = await overdue(kind);
        const { ruledOut } = await run(await otherLines([]), AROUND_NOW);
        expect(ruledOut.map(({ id }) => id)).to.deep.equal([payment.id]);
        expect(await reread(database, payment)).to.include({ status: 'failed' });
      });
    }

    it('leaves alone what is not overdue, not long enough, or still to be sent', async () => {
      await newPayment('payout', database, merchant);
      const waiting = await overdue('payout');
      await rows(database, `UPDATE payouts SET next_step = 'submit' WHERE id = :id`, {
        id: waiting.id,
      });
      const recent = await overdue('payout');
      expect(await run([], AROUND_NOW, 2 * 3_600_000)).to.deep.include({ ruledOut: [] });
      expect(await reread(database, recent)).to.include({ status: 'pending' });
      const { ruledOut } = await run([], AROUND_NOW);
      expect(ruledOut.map(({ id }) => id)).to.deep.equal([recent.id]);
    });

    it('leaves alone what was sent a moment ago', async () => {
      const payment = await overdue('payout');
      await rows(
        database,
        `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no)
         VALUES (:merchant_id, 'payout', :id, 1)`,
        { merchant_id: merchant.merchantId, id: payment.id },
      );
      expect(await run([], AROUND_NOW, 60_000)).to.deep.include({ ruledOut: [] });
    });

    it('leaves alone what a line that nothing explains may be about', async () => {
      const payment = await overdue('payout');
      const line = lineOf(payment, { reference: 'somebody-elses' });
      expect(await run([line], AROUND_NOW)).to.deep.include({ ruledOut: [] });
    });

    it('leaves alone what has begun before it', async () => {
      await overdue('payout');
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
      const period = { from: tomorrow, to: '2999-12-31' };
      expect(await run([], period)).to.deep.include({ ruledOut: [] });
    });
  });
});
