import { expect } from 'chai';
import fc from 'fast-check';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection, Return } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { transition } from '../../src/domain/payments/transition.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import {
  COLLECTION_STORIES,
  FAILURE,
  OTHER_AMOUNT_CENTS,
  SECOND,
  STRANGER,
  type Story,
  SUCCESS,
  WITHOUT_RECEIPT,
} from '../support/collection-stories.ts';
import {
  AMOUNT_CENTS,
  COMMISSION_CENTS,
  failed,
  NET_CENTS,
  receiptOf,
  succeeded,
  useStore,
} from '../support/world.ts';

describe('News of a collection', () => {
  const store = useStore();

  afterEach(() => store.expectRightBooks());

  const balance = (account: string) => store.accountBalance(account);

  const eventsOf = (collection: Collection) =>
    store.rows<{ type: string; body: string }>(
      'SELECT type, body FROM events WHERE payment_id = :id',
      { id: collection.id },
    );

  const returnsOf = (collection: Collection) =>
    store.rows<Return>('SELECT * FROM returns WHERE collection_id = :id', {
      id: collection.id,
    });

  async function acknowledged(): Promise<Collection> {
    const collection = await store.newCollection();
    return store.transaction((trx) =>
      transition(trx, collection, {
        to: 'processing',
        step: { next: 'poll', queue: 'polling-simulator', delayMs: 0 },
        cause: 'submission',
      }),
    );
  }

  /** Everything that the news must and must not have done. */
  async function expectOutcome(collection: Collection, row: Story): Promise<void> {
    const settled = await store.reread(collection);
    expect(settled.status).to.equal(row.status);
    expect(settled.parked_reason !== null, 'is on the support list').to.equal(row.parked ?? false);
    const events = await eventsOf(collection);
    expect(events.map(({ type }) => type)).to.deep.equal(row.event ? [row.event] : []);
    const completed = row.status === 'completed';
    const wallet = await store.walletBalance('collection');
    expect(wallet, 'wallet').to.equal(completed ? NET_CENTS : 0);
    const commission = completed ? COMMISSION_CENTS : 0;
    expect(await balance('commission'), 'commission').to.equal(commission);
    expect(await balance('suspense'), 'suspense').to.equal(row.suspense ?? 0);
    const moved = (completed ? AMOUNT_CENTS : 0) + (row.suspense ?? 0);
    expect(await balance('gateway_float'), 'float').to.equal(moved === 0 ? 0 : -moved);
    const discrepancies = await store.discrepanciesOf(collection.id);
    expect(discrepancies).to.deep.equal(row.discrepancies ?? []);
    const returns = await returnsOf(collection);
    expect(returns.map(({ amount_cents }) => amount_cents)).to.deep.equal(row.returns ?? []);
    for (const each of returns) {
      expect(each).to.include({ account: collection.payfrom, status: 'pending' });
    }
  }

  for (const [story, row] of Object.entries(COLLECTION_STORIES)) {
    it(`is understood: ${story}`, async () => {
      const collection = await store.newCollection();
      for (const verdict of row.known) await store.learn(collection, verdict);
      expect(await store.learn(collection, row.news)).to.equal(row.gives);
      await expectOutcome(collection, row);
    });
  }

  for (const story of ['nothing, then success', 'nothing, then failure']) {
    it(`ends one that the gateway has acknowledged: ${story}`, async () => {
      const row = COLLECTION_STORIES[story]!;
      const collection = await acknowledged();
      expect(await store.learn(collection, row.news)).to.equal(row.gives);
      await expectOutcome(collection, row);
    });
  }

  it('ends one that stands on the support list, and takes it off', async () => {
    const collection = await store.newCollection();
    await changeStep(store.database, refOf(collection), { park: 'job failed: whatever' });
    expect(await store.learn(collection, SUCCESS)).to.equal('completed');
    await expectOutcome(collection, COLLECTION_STORIES['nothing, then success']!);
  });

  it('is written down with the end, and told to the merchant in these words', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, SUCCESS);
    const settled = await store.reread(collection);
    expect(settled).to.include({
      result_code: 0,
      result_description: 'Done',
      trans_id: receiptOf(collection),
      external_ref: 'GW-1',
      next_step: null,
    });
    const [event] = await eventsOf(collection);
    expect(JSON.parse(event!.body)).to.deep.equal({
      notification: { type: 'collection', event: 'transaction.completed' },
      data: {
        id: collection.id,
        result_code: 0,
        result_description: 'Done',
        amount: '100.00',
        ref_no: collection.ref_no,
        beneficiary: { account: '+254712345678', kyc: null },
        transaction_date: '2026-11-20T10:00:00.000Z',
        external_ref: 'GW-1',
        trans_id: receiptOf(collection),
      },
    });
  });

  it('of a failure tells the merchant the reason, and leaves empty what does not exist', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, failed({ externalRef: null }));
    const [event] = await eventsOf(collection);
    expect(JSON.parse(event!.body)).to.deep.equal({
      notification: { type: 'collection', event: 'transaction.failed' },
      data: {
        id: collection.id,
        result_code: 1032,
        result_description: 'Cancelled',
        amount: '100.00',
        ref_no: collection.ref_no,
        beneficiary: { account: '+254712345678', kyc: null },
        transaction_date: collection.created_at.toISOString(),
        external_ref: '',
        trans_id: '',
      },
    });
  });

  it('fills what was empty when it repeats, and overwrites nothing', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, WITHOUT_RECEIPT);
    await store.learn(collection, SUCCESS);
    await store.learn(collection, succeeded({ description: 'No' }));
    const settled = await store.reread(collection);
    expect(settled).to.include({
      trans_id: receiptOf(collection),
      external_ref: 'GW-1',
      result_description: 'Done',
    });
  });

  it('that brings the receipt of a late success gives it to the return, too', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, FAILURE);
    await store.learn(collection, WITHOUT_RECEIPT);
    const returnedReceipt = async () => (await returnsOf(collection))[0]!.original_trans_id;
    expect(await returnedReceipt()).to.equal(null);
    await store.learn(collection, SUCCESS);
    expect(await returnedReceipt()).to.equal(receiptOf(collection));
  });

  it('that comes many times at once counts once', async () => {
    const collection = await store.newCollection();
    const settlements = await Promise.all(
      Array.from({ length: 10 }, () => store.learn(collection, SUCCESS)),
    );
    expect(settlements.filter((settlement) => settlement === 'completed')).to.have.length(1);
    expect(settlements.filter((settlement) => settlement === 'repeat')).to.have.length(9);
    await expectOutcome(collection, COLLECTION_STORIES['nothing, then success']!);
  });

  it('of a late success that comes many times at once leads to one return', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, FAILURE);
    await Promise.all(Array.from({ length: 10 }, () => store.learn(collection, SUCCESS)));
    await expectOutcome(collection, COLLECTION_STORIES['failure, then success']!);
  });

  it('in any order books every receipt once and tells the merchant once', async () => {
    const verdicts = fc.constantFrom<Verdict>(
      SUCCESS,
      SECOND,
      FAILURE,
      succeeded({ transId: 'RCPT3', amountCents: OTHER_AMOUNT_CENTS }),
      { ...STRANGER, transId: 'RCPT4' },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(verdicts, { minLength: 1, maxLength: 7 }), async (news) => {
        store.merchant = await store.newMerchant();
        const collection = await store.newCollection();
        for (const verdict of news) await store.learn(collection, verdict);
        const receipts = new Map(
          news.flatMap((verdict) =>
            verdict.outcome === 'succeeded' ? [[verdict.transId, verdict.amountCents ?? 0]] : [],
          ),
        );
        const total = [...receipts.values()].reduce<number>((sum, cents) => sum + Number(cents), 0);
        expect((await balance('gateway_float')) + total).to.equal(0);
        expect((await eventsOf(collection)).length).to.be.at.most(1);
        expect((await returnsOf(collection)).length).to.be.at.most(1);
        await store.expectRightBooks();
      }),
      { numRuns: 25 },
    );
  });
});
