import { expect } from 'chai';
import type { ReconcileOptions } from '../../src/domain/reconciliation/reconcile.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { SO_FAR } from '../support/so-far.ts';
import {
  COMPLETED_AT,
  lineOf,
  newReceipt,
  otherLines,
  runStatement,
} from '../support/statements.ts';
import {
  AMOUNT_CENTS,
  failed,
  PAYER,
  PAYMENT_KINDS,
  parserOf,
  succeeded,
  useStore,
} from '../support/world.ts';

describe('Reconciling a statement', () => {
  const store = useStore({ fresh: true });

  afterEach(async () => {
    await store.expectSoundLedger();
  });

  const run = (
    lines: StatementLine[],
    period = SO_FAR,
    overrides: Partial<ReconcileOptions> = {},
  ) => runStatement(store.database, lines, period, overrides);

  async function completed(kind: (typeof PAYMENT_KINDS)[number]) {
    const payment = await store.newPayment(kind);
    const line = lineOf(payment);
    await store.learn(payment, succeeded({ transId: line.transId, account: line.account }));
    return { payment: await store.reread(payment), line };
  }

  async function openDiscrepancies(): Promise<string[]> {
    const found = await store.rows<{ kind: string }>(
      'SELECT kind FROM discrepancies WHERE resolved_at IS NULL ORDER BY id',
    );
    return found.map(({ kind }) => kind);
  }

  it('finds no break where every movement is booked as the gateway lists it', async () => {
    const lines: StatementLine[] = [];
    for (const kind of PAYMENT_KINDS) lines.push((await completed(kind)).line);
    lines.push(...(await otherLines(store.database, lines)));
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
      const payment = await store.newPayment(kind);
      const line = lineOf(payment);
      const { lines } = await run([line, ...(await otherLines(store.database, [line]))]);
      expect(lines).to.include({ settled: 1, contradicts: 0, unknown: 0 });
      expect(await store.reread(payment)).to.include({
        status: 'completed',
        trans_id: line.transId,
      });
    });
  }

  it('lists a movement that no payment here explains, once however often it is run', async () => {
    const line = lineOf(await store.newPayment('payout'), {
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
    expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['missing_at_gateway']);
  });

  it('ends no more money than was agreed, and goes on where it has stopped', async () => {
    const payments = [await store.newPayment('payout'), await store.newPayment('payout')];
    const lines = payments.map((payment) => lineOf(payment));
    const agreed = { agreed_cents: AMOUNT_CENTS };
    const stopped = await run(lines, SO_FAR, agreed).catch((error: Error) => error.message);
    expect(stopped).to.match(/would settle or fail more than the KES 100.00 that were agreed/);
    const statuses = async () =>
      Promise.all(payments.map(async (each) => (await store.reread(each)).status));
    expect(await statuses()).to.deep.equal(['completed', 'pending']);
    await run(lines, SO_FAR, agreed);
    expect(await statuses()).to.deep.equal(['completed', 'completed']);
  });

  it('counts money once whose transaction is repeated', async () => {
    await store.owner.raw(`
      CREATE SEQUENCE deadlocks;
      GRANT USAGE ON deadlocks TO PUBLIC;
      CREATE FUNCTION deadlock_once() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('deadlocks') = 1 THEN RAISE EXCEPTION 'once' USING ERRCODE = '40P01'; END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER deadlock_once AFTER UPDATE ON statement_lines
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION deadlock_once()`);
    const payout = await store.newPayout();
    await run([lineOf(payout)], SO_FAR, { agreed_cents: AMOUNT_CENTS });
    expect(await store.reread(payout)).to.include({ status: 'completed' });
    const tries = await store.owner.raw('SELECT last_value FROM deadlocks');
    expect(tries.rows).to.deep.equal([{ last_value: 2 }]);
    await store.owner.raw('DROP TRIGGER deadlock_once ON statement_lines');
  });

  it('hides a movement without a receipt only behind a contradicting line of its time', async () => {
    const missedWith = async (completedAt: Date) => {
      const payout = await store.newPayout();
      const news = succeeded({ transId: null, account: null, completedAt: null });
      await store.learn(payout, news, 'poll');
      const { line } = await completed('payout');
      const odd = { ...line, account: null, completedAt };
      // Its receipt is that of one payment, and its reference that of another.
      const other = await store.newPayout();
      const today = new Date().toISOString().slice(0, 10);
      const { missing } = await run(
        [{ ...odd, reference: other.reference }],
        { from: today, to: today },
        { covers: ['payout'] },
      );
      return missing.map(({ payment_id }) => payment_id).includes(payout.id);
    };
    expect(await missedWith(new Date()), 'of its time').to.equal(false);
    expect(await missedWith(COMPLETED_AT), 'of another day').to.equal(true);
  });

  it('asks for nothing outside of its period or of another channel', async () => {
    await completed('payout');
    const outside = { from: '2026-10-01', to: '2026-10-31' };
    expect(await run([], outside)).to.deep.include({ missing: [], ruledOut: [] });
    await store.rewrite('UPDATE payouts SET channel = 63903');
    expect(await run([])).to.deep.include({ missing: [], ruledOut: [] });
  });

  it('applies the lines that are outside of its period too, and counts them', async () => {
    const payment = await store.newPayment('payout');
    const early = lineOf(payment, { completedAt: new Date('2026-10-31T23:59:59Z') });
    const { lines, outside } = await run([early]);
    expect([lines.settled, outside]).to.deep.equal([1, 1]);
    expect(await store.reread(payment)).to.include({ status: 'completed' });
  });

  it('misses nothing of a kind that it does not cover', async () => {
    const { payment } = await completed('payout');
    const { line } = await completed('collection');
    expect((await run([line], SO_FAR, { covers: ['collection'] })).missing).to.deep.equal([]);
    expect((await run([line], SO_FAR, { covers: [] })).missing).to.deep.equal([]);
    const { missing } = await run([line], SO_FAR, { covers: ['payout'] });
    expect(missing.map(({ payment_id }) => payment_id)).to.deep.equal([payment.id]);
  });

  it('misses nothing that moved after it was complete, or after its newest line', async () => {
    await completed('payout');
    const { line } = await completed('collection');
    expect((await run([], SO_FAR, { complete_until: COMPLETED_AT })).missing).to.deep.equal([]);
    for (const [offsetMs, missed] of [
      [0, 0],
      [1_000, 1],
    ] as const) {
      const newest = { ...line, completedAt: new Date(COMPLETED_AT.getTime() + offsetMs) };
      const { missing } = await run([newest], SO_FAR, { complete_until: null });
      expect(missing, `newest line ${offsetMs} ms later`).to.have.length(missed);
    }
  });

  it('gives a movement that was learned without a time the one of its line', async () => {
    for (const account of [PAYER, null]) {
      const payment = await store.newPayment('payout');
      const line = lineOf(payment);
      const news = succeeded({ transId: account && line.transId, account, completedAt: null });
      await store.learn(payment, news, 'poll');
      await run([line]);
      const [movement] = await store.rows<{ completed_at: Date }>(
        'SELECT completed_at FROM movements WHERE payment_id = :id',
        { id: payment.id },
      );
      expect(movement!.completed_at).to.deep.equal(COMPLETED_AT);
    }
  });

  it('misses nothing that the statement of another period has listed', async () => {
    const { payment, line } = await completed('payout');
    await run([line]);
    await store.rewrite(
      `UPDATE movements SET completed_at = '2026-10-31T23:59:59Z' WHERE payment_id = :id`,
      { id: payment.id },
    );
    expect((await run([], { from: '2026-10-01', to: '2026-10-31' })).missing).to.deep.equal([]);
  });

  it('does not open anew what is dismissed when the statement of another period misses it', async () => {
    const { payment } = await completed('payout');
    await run([]);
    await store.rows(
      `UPDATE discrepancies SET resolved_at = now(), resolution = 'dismissed'
       WHERE payment_id = :id`,
      { id: payment.id },
    );
    const { missing } = await run([], { ...SO_FAR, from: '2026-11-19' });
    expect(missing).to.have.length(1);
    expect(await openDiscrepancies()).to.deep.equal([]);
  });

  for (const kind of ['collection', 'payout'] as const) {
    it(`settles nothing by a line that names a ${kind} and the receipt of another payment`, async () => {
      const { payment: paid, line } = await completed(kind);
      const open = await store.newPayment(kind);
      const { lines, contradicting } = await run([
        line,
        lineOf(open, { transId: line.transId, account: null }),
      ]);
      expect(lines).to.include({ matched: 1, contradicts: 1, settled: 0 });
      expect(contradicting.map(({ reference }) => reference)).to.deep.equal([open.reference]);
      expect(await store.reread(open)).to.include({ status: 'pending' });
      for (const { id } of [paid, open]) {
        expect(await store.discrepanciesOf(id)).to.deep.equal(['receipt_of_another']);
      }
    });
  }

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
      first.payment.reference,
      second.payment.reference,
      third.payment.reference,
    ]);
    expect(await openDiscrepancies()).to.have.members([
      'other_amount',
      'other_account',
      'second_success',
    ]);
  });

  it('books a success after the failure: a collection goes back, a payout is for support', async () => {
    const collection = await store.newPayment('collection');
    const payout = await store.newPayment('payout');
    for (const payment of [collection, payout]) await store.learn(payment, failed());
    const { step_no } = await store.reread(payout);
    const ref = { kind: 'payout', merchant_id: store.merchantId, id: payout.id } as const;
    await refundPayout(store.database, ref, step_no, { parserOf });
    const late = { completedAt: new Date() };
    const { lines } = await run([lineOf(collection, late), lineOf(payout, late)]);
    expect(lines).to.include({ settled: 1, contradicts: 1 });
    expect(await openDiscrepancies()).to.deep.equal(['paid_after_refund']);
    const [back] = await store.rows<{ account: string }>('SELECT account FROM returns');
    expect(back).to.deep.equal({ account: PAYER });
  });

  it('returns money of a failed collection only by the gateway’s own word about phone and amount', async () => {
    const lateLine = async (of: Partial<StatementLine>, source?: string) => {
      const collection = await store.newPayment('collection');
      await store.learn(collection, failed());
      await runStatement(
        store.database,
        [lineOf(collection, { completedAt: new Date(), ...of })],
        SO_FAR,
        { covers: [] },
        source,
      );
      return store.discrepanciesOf(collection.id);
    };
    expect(await lateLine({})).to.deep.equal([]);
    expect(await lateLine({ account: '+2547*****678' })).to.deep.equal([]);
    expect(await store.countOf('returns')).to.equal(2);
    const undecided = ['paid_after_failure'];
    // It moved before the gateway failed it, and may have bounced.
    expect(await lateLine({ completedAt: new Date(Date.now() - 60_000) })).to.deep.equal(undecided);
    expect(await lateLine({}, 'file.csv')).to.deep.equal(undecided);
    expect(await lateLine({ amountCents: 99_999_00 })).to.deep.equal(undecided);
    expect(await lateLine({ account: null })).to.deep.equal(undecided);
    expect(await lateLine({ account: '+254722000000' })).to.deep.equal(['other_account']);
    expect(await store.countOf('returns'), 'by a person only').to.equal(2);
  });

  for (const as of ['returned', 'undo'] as const) {
    it(`lets a person end what a file says of a failed collection as ${as}`, async () => {
      const collection = await store.newPayment('collection');
      await store.learn(collection, failed());
      const line = lineOf(collection, { completedAt: new Date() });
      await runStatement(store.database, [line], SO_FAR, {}, 'file.csv');
      await store.resolve(await store.discrepancyOf('paid_after_failure'), as);
      expect(await store.countOf('returns')).to.equal(as === 'returned' ? 1 : 0);
      expect(await store.countOf('receipts')).to.equal(as === 'returned' ? 1 : 0);
      await store.expectSoundLedger();
      // The gateway itself may tell of it later. Nobody knows whether it has gone back before.
      await run([line]);
      expect(await store.countOf('returns')).to.equal(as === 'returned' ? 1 : 0);
      if (as === 'undo')
        await store.resolve(await store.discrepancyOf('paid_after_failure'), 'returned');
      expect(await store.countOf('returns')).to.equal(1);
    });
  }

  it('finds a payment by the gateway’s own reference, or by the receipt alone', async () => {
    const { line } = await completed('payout');
    const open = await store.newPayment('payout');
    await store.rows(`UPDATE payouts SET external_ref = 'GW-77' WHERE id = :id`, {
      id: open.id,
    });
    const byRef = lineOf(open, { reference: 'GW-77' });
    const { lines } = await run([{ ...line, reference: null }, byRef]);
    expect(lines).to.include({ matched: 1, settled: 1, unknown: 0 });
  });

  it('neither settles nor rules out by a row that is undecided, nor takes a movement for listed', async () => {
    const open = await store.newPayment('payout');
    const { payment, line } = await completed('payout');
    const { lines, missing } = await run(
      [lineOf(open), line].map((each) => ({ ...each, isUndecided: true })),
    );
    expect(lines).to.deep.equal({ matched: 0, settled: 0, contradicts: 0, unknown: 0 });
    expect(missing.map(({ payment_id }) => payment_id)).to.deep.equal([payment.id]);
    expect(await store.reread(open)).to.include({ status: 'pending' });
  });

  it('reads a long statement to its end', async () => {
    const { payment, line } = await completed('payout');
    const open = await store.newPayment('payout');
    const length = 10_001;
    const { lines } = await run([...Array<StatementLine>(length).fill(line), lineOf(open), line]);
    expect(lines).to.deep.equal({ matched: length + 1, settled: 1, contradicts: 0, unknown: 0 });
    expect(await store.discrepanciesOf(payment.id)).to.deep.equal([]);
  });
});
