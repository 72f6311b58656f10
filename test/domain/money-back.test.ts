import { Readable } from 'node:stream';
import { expect } from 'chai';
import { hearBalances } from '../../src/domain/gateway-accounts/balances.ts';
import { proveWorld } from '../../src/domain/gateway-accounts/prove-world.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { readStatement } from '../../src/domain/reconciliation/statement-file.ts';
import { nameOf } from '../../src/domain/settlement/contrary-news.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { HOUR_MS } from '../../src/time.ts';
import { newReceipt } from '../support/statements.ts';
import { toldIn } from '../support/told.ts';
import { failed, succeeded, useStore } from '../support/world.ts';

const FORM = { columns: {}, kind: undefined, utcOffset: undefined, isMobileMoney: true };
const HEADER =
  'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Reason Type,Other Party Info';

describe('A payout that comes back', () => {
  const store = useStore({ fresh: true });
  const { at, read, tell } = toldIn(store);
  let phone = 0;
  let payout: Payout;
  let receipt: string;

  beforeEach(async () => {
    phone += 1;
    payout = await paid(`+2547120000${String(phone).padStart(2, '0')}`);
    receipt = newReceipt();
  });

  async function paid(payto: string): Promise<Payout> {
    const made = await store.newPayout({ payto });
    const transId = newReceipt();
    await tell(
      made,
      succeeded({ transId, externalRef: null, account: payto, completedAt: at(1) }),
      at(1),
    );
    return made;
  }

  /** The row of the portal's export. */
  async function backIn(
    more: { status?: string; party?: string; details?: string; moment?: Date } = {},
  ) {
    const { status = 'Completed', details = 'Business Payment Reversal', moment = at(5) } = more;
    const { party = `${payout.payto.slice(1)} - JANE DOE` } = more;
    const nairobi = new Date(moment.getTime() + 3 * 3_600_000);
    const time = nairobi.toISOString().slice(0, 19).replace('T', ' ');
    const row = `${receipt},${time},${details},${status},100.00,,1000.00,Business Payment Reversal,${party}`;
    const file = await readStatement(Readable.from([`${HEADER}\n${row}\n`]), FORM, 10);
    return file.lines;
  }

  const open = async () =>
    (await casesOf(store.database, payout)).filter(({ resolved_at }) => resolved_at === null);

  const unknown = () =>
    store.rows<{ candidates: string[] | null }>(
      `SELECT details->'candidates' AS candidates FROM discrepancies
       WHERE kind = 'money_back' AND resolved_at IS NULL AND trans_id = :receipt`,
      { receipt },
    );

  const compare = (lines: StatementLine[], source = 'portal.csv') => read(lines, source);

  it('is a question at the payout, once in all files', async () => {
    for (const source of ['monday.csv', 'tuesday.csv']) await compare(await backIn(), source);
    const [found, ...more] = await open();
    expect(more).to.deep.equal([]);
    expect(found).to.include({ kind: 'failure_after_success', trans_id: receipt });
    expect(found!.evidence).to.have.length(1);
    expect(await unknown()).to.deep.equal([]);
  });

  it('gives the merchant its money when support agrees, and is asked no more', async () => {
    await compare(await backIn());
    const before = (await store.walletBalance('payout'))!;
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
    await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
    await store.refund(payout);
    expect(await store.walletBalance('payout')).to.equal(before + 10_000 + payout.fee_cents);
    await compare(await backIn(), 'again.csv');
    expect(await open()).to.deep.equal([]);
    expect(await unknown()).to.deep.equal([]);
    await store.expectRightBooks();
  });

  it('is a question of its own once support has said that it was another payout, until that is dismissed', async () => {
    await compare(await backIn());
    await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'dismissed');
    await compare(await backIn(), 'again.csv');
    expect(await open()).to.deep.equal([]);
    expect(await unknown()).to.deep.equal([{ candidates: null }]);
    const found = await store.firstRow<{ id: string }>(
      "SELECT id FROM discrepancies WHERE kind = 'money_back' AND trans_id = :receipt",
      { receipt },
    );
    await store.resolve(found!, 'dismissed');
    await compare(await backIn(), 'once-more.csv');
    expect(await open()).to.deep.equal([]);
    expect(await unknown()).to.deep.equal([]);
  });

  describe('of which the gateway has told itself', () => {
    const FAILURE = failed({ externalRef: null });

    async function undone(): Promise<void> {
      await tell(payout, FAILURE, at(3));
      await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
      await store.refund(payout);
    }

    it('is no second question', async () => {
      await tell(payout, FAILURE, at(3));
      await compare(await backIn());
      const [found, ...more] = await open();
      expect(more).to.deep.equal([]);
      expect(found).to.include({ kind: 'failure_after_success', trans_id: null });
      // Who decides about it sees the row.
      expect(found!.evidence.map(({ details }) => details.receipt)).to.deep.equal([
        undefined,
        receipt,
      ]);
      expect(await unknown()).to.deep.equal([]);
    });

    it('is explained by that, when the merchant has its money already', async () => {
      await undone();
      const { lines } = await compare(await backIn());
      expect(lines).to.include({ matched: 1 });
      expect(await open()).to.deep.equal([]);
      expect(await unknown()).to.deep.equal([]);
    });

    it('is news after people have called the money lost', async () => {
      await tell(payout, FAILURE, at(3));
      await store.resolve(await store.discrepancyOf('failure_after_success', payout), 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', payout), 'failed');
      await compare(await backIn());
      const candidates = [`payout ${payout.id} of merchant ${payout.merchant_id}`];
      expect(await unknown()).to.deep.equal([{ candidates }]);
    });

    it('explains one row: another one is a question', async () => {
      await undone();
      await compare(await backIn());
      receipt = newReceipt();
      await compare(await backIn(), 'other.csv');
      expect(await unknown()).to.deep.equal([{ candidates: [nameOf(payout)] }]);
    });

    it('explains one row, so the next one asks about a payout that was sent after it', async () => {
      await undone();
      await compare(await backIn());
      const again = await paid(payout.payto);
      receipt = newReceipt();
      await compare(await backIn(), 'tuesday.csv');
      await compare(await backIn(), 'wednesday.csv');
      expect(await store.discrepanciesOf(again.id)).to.deep.equal(['failure_after_success']);
      expect(await unknown()).to.deep.equal([]);
    });

    it('explains as many rows as payouts have come back, of one recipient and amount', async () => {
      await undone();
      payout = await paid(payout.payto);
      await undone();
      await compare(await backIn());
      receipt = newReceipt();
      await compare(await backIn(), 'other.csv');
      expect(await unknown()).to.deep.equal([]);
      expect(await open()).to.deep.equal([]);
    });

    it('is answered once, also if a statement has told it first', async () => {
      await compare(await backIn());
      await tell(payout, FAILURE, at(6));
      expect(await open()).to.have.length(2);
      const [first] = await open();
      await store.resolve(first!, 'undo');
      expect((await open()).map(({ kind }) => kind)).to.deep.equal(['undone_money']);
      await compare(await backIn(), 'again.csv');
      expect((await open()).map(({ kind }) => kind)).to.deep.equal(['undone_money']);
      expect(await unknown()).to.deep.equal([]);
    });

    it('is asked about as a row of nobody, with the payout, after somebody has dismissed it there', async () => {
      await compare(await backIn());
      const [asked] = await open();
      await store.resolve(asked!, 'dismissed');
      await tell(payout, FAILURE, at(6));
      const [told] = await open();
      await store.resolve(told!, 'undo');
      await store.resolve(await store.discrepancyOf('undone_money', payout), 'returned');
      await compare(await backIn(), 'again.csv');
      expect(await open()).to.deep.equal([]);
      // Two may have come back. The person sees the one that is known.
      const candidates = [`payout ${payout.id} of merchant ${payout.merchant_id}`];
      expect(await unknown()).to.deep.equal([{ candidates }]);
    });

    it('asks about no other payout of the same recipient and amount', async () => {
      await undone();
      const other = await paid(payout.payto);
      await compare(await backIn());
      expect(await store.discrepanciesOf(other.id)).to.deep.equal([]);
      const [found] = await unknown();
      expect(found!.candidates).to.have.length(2);
    });
  });

  it('is one question when a payout comes to fit that none fitted before', async () => {
    const lines = await backIn({ party: '254712999888 - JANE' });
    await compare(lines);
    expect(await unknown()).to.have.length(1);
    payout = await paid('+254712999888');
    await compare(lines, 'again.csv');
    expect(await unknown()).to.deep.equal([]);
    expect(await open()).to.have.length(1);
  });

  it('stays dismissed, also when another file shows its phone', async () => {
    await compare(await backIn({ party: '' }));
    const found = await store.firstRow<{ id: string }>(
      "SELECT id FROM discrepancies WHERE kind = 'money_back' AND trans_id = :receipt",
      { receipt },
    );
    await store.resolve(found!, 'dismissed');
    await compare(await backIn(), 'again.csv');
    expect(await open()).to.deep.equal([]);
    expect(await unknown()).to.deep.equal([]);
  });

  it('is found on its own day in a file that has days alone', async () => {
    const nairobi = new Date(at(1).getTime() + 3 * HOUR_MS);
    const midnight = new Date(nairobi.setUTCHours(0, 0, 0, 0) - 3 * HOUR_MS);
    await compare(await backIn({ moment: midnight }));
    expect(await open()).to.have.length(1);
  });

  it('shows the newest of many payouts that it may be', async () => {
    let newest = payout;
    for (let count = 0; count < 7; count += 1) newest = await paid(payout.payto);
    await compare(await backIn());
    const [found] = await unknown();
    expect(found!.candidates![0]).to.equal(`payout ${newest.id} of merchant ${newest.merchant_id}`);
  });

  it('is found by the digits that are shown, and by our reference', async () => {
    const masked = `2547*****${payout.payto.slice(-3)} - JANE`;
    await compare(await backIn({ party: masked }));
    expect(await open()).to.have.length(1);
    payout = await paid(payout.payto);
    receipt = newReceipt();
    const details = `Reversal. Original conversation ID is ${payout.reference}.`;
    await compare(await backIn({ details }));
    expect(await open()).to.have.length(1);
  });

  it('is a question of its own, with the payouts that it fits, if there are several', async () => {
    const other = await paid(payout.payto);
    await compare(await backIn());
    expect(await open()).to.deep.equal([]);
    const [found] = await unknown();
    expect(found!.candidates).to.have.members(
      [payout, other].map(({ id, merchant_id }) => `payout ${id} of merchant ${merchant_id}`),
    );
  });

  it('is a question of its own if nothing shows whose it was, with the payouts of its amount and time', async () => {
    await compare(await backIn({ party: '' }));
    expect(await open()).to.deep.equal([]);
    const name = `payout ${payout.id} of merchant ${payout.merchant_id}`;
    expect(await unknown()).to.deep.equal([{ candidates: [name] }]);
  });

  describe('after its refund', () => {
    /** The payout has failed and is refunded. A file lists its money, and that it has come back. */
    async function outAndBack(): Promise<StatementLine[]> {
      await tell(payout, failed({ externalRef: null }), at(2));
      await store.refund(payout);
      const { reference, payto: account, amount_cents: amountCents } = payout;
      const went = { account, amountCents, transId: newReceipt(), completedAt: at(1) };
      return [{ kind: 'payout', reference, ...went }, ...(await backIn())];
    }

    beforeEach(async () => {
      payout = await store.newPayout({ payto: `+2547130000${String(phone).padStart(2, '0')}` });
    });

    it('is shown beside the row while support has not decided', async () => {
      await compare(await outAndBack());
      expect(await open()).to.have.length(1);
      const { id, merchant_id } = payout;
      const candidates = [`payout ${id} of merchant ${merchant_id}`];
      expect(await unknown()).to.deep.equal([{ candidates }]);
    });

    it('explains the row after support has answered `returned`', async () => {
      const lines = await outAndBack();
      await compare(lines);
      await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'returned');
      for (const source of ['tuesday.csv', 'wednesday.csv']) {
        await compare(lines.slice(1), source);
        expect(await unknown()).to.deep.equal([]);
        expect(await open()).to.deep.equal([]);
      }
    });

    it('explains no row after support has said that the file was wrong', async () => {
      const lines = await outAndBack();
      await compare(lines);
      await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'undo');
      await compare(lines.slice(1), 'tuesday.csv');
      expect(await unknown()).to.deep.equal([{ candidates: null }]);
    });

    it('is news after support has called the money lost', async () => {
      const lines = await outAndBack();
      await compare(lines);
      await store.resolve(await store.discrepancyOf('paid_after_refund', payout), 'failed');
      await compare(lines, 'tuesday.csv');
      expect(await unknown()).to.have.length(1);
    });
  });

  it('is none yet while its row is pending', async () => {
    await compare(await backIn({ status: 'Pending' }));
    expect(await open()).to.deep.equal([]);
    expect(await unknown()).to.deep.equal([]);
    await compare(await backIn(), 'later.csv');
    expect(await open()).to.have.length(1);
  });

  it('is among what may explain a difference of the balance', async () => {
    await compare(await backIn());
    const told = { sub_account: 'utility', current_cents: 0, available_cents: 0 } as const;
    await hearBalances(store.database, 'simulator', [told], new Date(Date.now() + 60_000));
    const { differences } = await proveWorld(store.database, []);
    const kinds = differences.flatMap(({ candidates }) => candidates.map(({ kind }) => kind));
    expect(kinds).to.include('failure_after_success');
  });
});
