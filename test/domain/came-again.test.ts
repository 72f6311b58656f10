import { expect } from 'chai';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { DAY_MS } from '../../src/time.ts';
import { newReceipt } from '../support/statements.ts';
import { ACKNOWLEDGED, workOn } from '../support/submissions.ts';
import { toldIn } from '../support/told.ts';
import { failed, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const PHONE = '+254712001001';
const BY = { requested_by: 'amina@x.example', reason: 'Restore' };
const MARK = { actor: 'operator', action: 'restore.mark', reason: 'Restore', subject: 'service' };
/** Minutes: the money had moved two hours before its merchant sent the request again. */
const BEFORE = -120;

describe('A payment that a restore has forgotten, and that its merchant sends again,', () => {
  const store = useStore({ fresh: true });
  const { at, read, tell } = toldIn(store);
  let receipt: string;

  beforeEach(async () => {
    receipt = newReceipt();
    await store.topUp(1_000_000, 'more');
    await store.transaction((trx) => recordAudit(trx, { ...MARK, merchant_id: null, details: {} }));
  });

  const line = (kind: StatementLine['kind'], more: Partial<StatementLine> = {}): StatementLine => ({
    ...{ kind, reference: null, account: PHONE, amountCents: 10_000, transId: receipt },
    ...{ completedAt: at(BEFORE), ...more },
  });
  const inFile = (of: StatementLine) => read([of], `${newReceipt()}.csv`);

  const plan = () =>
    planAdoption(store.database, { merchant_id: store.merchantId, receipts: [receipt] }, RESOLVING);

  async function adopt(): Promise<void> {
    const planned = await plan();
    await store.transaction((trx) => adoptAsAsked(trx, planned, BY, RESOLVING));
  }

  async function again(kind: 'collection' | 'payout'): Promise<AnyPayment> {
    const payment =
      kind === 'payout'
        ? await store.newPayout({ payto: PHONE })
        : await store.newCollection({ payfrom: PHONE });
    const work = workOn(store.database, payment);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    return payment;
  }

  /** Most answers have neither receipt nor time. */
  const SUCCESS = succeeded({ transId: null, account: null, completedAt: null });

  for (const kind of ['collection', 'payout'] as const) {
    it(`keeps its line from being adopted: ${kind}`, async () => {
      await inFile(line(kind));
      const payment = await again(kind);
      expect((await rejection(plan())).message).to.include(`it may be that of ${kind}`);
      await tell(payment, SUCCESS, null, 'poll');
      expect((await rejection(plan())).message).to.include(`it may be that of ${kind}`);
    });
  }

  it('gives no money back by itself that was adopted before', async () => {
    await inFile(line('collection'));
    await adopt();
    const collection = await again('collection');
    await tell(collection, failed({ externalRef: 'GW-1' }), null);
    await tell(collection, SUCCESS, null, 'poll');
    expect(await store.rows('SELECT FROM returns')).to.have.length(0);
    const open = (await casesOf(store.database, collection)).filter((each) => !each.resolved_at);
    expect(open.map(({ kind }) => kind).sort()).to.deep.equal([
      'paid_after_failure',
      'receipt_of_another',
    ]);
  });

  it('is no other payment of its customer, once the restore is old', async () => {
    await store.rewrite(
      `UPDATE audit_log SET happened_at = happened_at - interval '30 days' WHERE action = 'restore.mark'`,
    );
    await inFile(line('collection', { completedAt: new Date(at(BEFORE).getTime() - 31 * DAY_MS) }));
    await adopt();
    const collection = await again('collection');
    await tell(collection, failed({ externalRef: 'GW-1' }), null);
    await tell(collection, SUCCESS, null, 'poll');
    expect(await store.rows('SELECT FROM returns')).to.have.length(1);
  });

  it('shows the older row that may bring it back to whoever undoes it', async () => {
    const row = newReceipt();
    const back = {
      transId: row,
      isUndecided: true,
      hasComeBack: true,
      completedAt: at(1),
    } as const;
    await inFile(line('reversal', back));
    const [question] = await store.rows<{ id: string }>('SELECT id FROM discrepancies');
    await store.resolve(question!, 'dismissed');
    const payout = await again('payout');
    const told = succeeded({ transId: receipt, account: PHONE, completedAt: at(BEFORE) });
    await tell(payout, told, null, 'poll');
    await tell(payout, failed({ externalRef: 'GW-1' }), null);
    const found = (await casesOf(store.database, payout)).find((each) => !each.resolved_at);
    expect(found).to.include({ kind: 'failure_after_success' });
    expect(found!.rows_back).to.deep.equal([`${row} (dismissed)`]);
  });

  it('is asked about by its row, which was dismissed while nobody knew of it', async () => {
    const back = { transId: newReceipt(), isUndecided: true, hasComeBack: true } as const;
    const row = line('reversal', { ...back, completedAt: at(5) });
    await inFile(row);
    const [question] = await store.rows<{ id: string }>('SELECT id FROM discrepancies');
    await store.resolve(question!, 'dismissed');
    await inFile(row);
    const payout = await again('payout');
    const told = succeeded({ transId: receipt, account: PHONE, completedAt: at(1) });
    await tell(payout, told, null, 'poll');
    await inFile(row);
    const open = (await casesOf(store.database, payout)).filter((each) => !each.resolved_at);
    expect(open.map(({ kind }) => kind)).to.deep.equal(['failure_after_success']);
  });
});
