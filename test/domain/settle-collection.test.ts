import { expect } from 'chai';
import fc from 'fast-check';
import { inTransaction, rows } from '../../src/connections/database.ts';
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
import { accountBalance, expectRightBooks } from '../support/ledger-check.ts';
import {
  AMOUNT_CENTS,
  COMMISSION_CENTS,
  createTestStore,
  discrepanciesOf,
  failed,
  learn,
  NET_CENTS,
  newCollection,
  receiptOf,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import type { TestMerchant } from '../support/test-merchant.ts';
import { walletBalance } from '../support/wallet-balance.ts';

describe('News of a collection', () => {
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  beforeEach(async () => {
    merchant = await store.newMerchant();
  });

  afterEach(() => expectRightBooks(store.database, merchant.merchant_id));

  const balance = (account: string) =>
    accountBalance(store.database, merchant.merchant_id, account);

  const eventsOf = (collection: Collection) =>
    rows<{ type: string; body: string }>(
      store.database,
      'SELECT type, body FROM events WHERE payment_id = :id',
      { id: collection.id },
    );

  const returnsOf = (collection: Collection) =>
    rows<Return>(store.database, 'SELECT * FROM returns WHERE collection_id = :id', {
      id: collection.id,
    });

  async function acknowledged(): Promise<Collection> {
    const collection = await newCollection(store.database, merchant);
    return inTransaction(store.database, (trx) =>
      transition(trx, collection, {
        to: 'processing',
        step: { next: 'poll', queue: 'polling-simulator', delayMs: 0 },
        cause: 'submission',
      }),
    );
  }

  /** Everything that the news must and must not have done. */
  async function expectOutcome(collection: Collection, row: Story): Promise<void> {
    const settled = await reread(store.database, collection);
    expect(settled.status).to.equal(row.status);
    expect(settled.parked_reason !== null, 'is on the support list').to.equal(row.parked ?? false);
    const events = await eventsOf(collection);
    expect(events.map(({ type }) => type)).to.deep.equal(row.event ? [row.event] : []);
    const completed = row.status === 'completed';
    const wallet = await walletBalance(store.database, merchant.merchant_id, 'collection');
    expect(wallet, 'wallet').to.equal(completed ? NET_CENTS : 0);
    const commission = completed ? COMMISSION_CENTS : 0;
    expect(await balance('commission'), 'commission').to.equal(commission);
    expect(await balance('suspense'), 'suspense').to.equal(row.suspense ?? 0);
    const moved = (completed ? AMOUNT_CENTS : 0) + (row.suspense ?? 0);
    expect(await balance('gateway_float'), 'float').to.equal(moved === 0 ? 0 : -moved);
    const discrepancies = await discrepanciesOf(store.database, collection.id);
    expect(discrepancies).to.deep.equal(row.discrepancies ?? []);
    const returns = await returnsOf(collection);
    expect(returns.map(({ amount_cents }) => amount_cents)).to.deep.equal(row.returns ?? []);
    for (const each of returns) {
      expect(each).to.include({ account: collection.payfrom, status: 'pending' });
    }
  }

  for (const [story, row] of Object.entries(COLLECTION_STORIES)) {
    it(`is understood: ${story}`, async () => {
      const collection = await newCollection(store.database, merchant);
      for (const verdict of row.known) await learn(store.database, collection, verdict);
      expect(await learn(store.database, collection, row.news)).to.equal(row.gives);
      await expectOutcome(collection, row);
    });
  }

  for (const story of ['nothing, then success', 'nothing, then failure']) {
    it(`ends one that the gateway has acknowledged: ${story}`, async () => {
      const row = COLLECTION_STORIES[story]!;
      const collection = await acknowledged();
      expect(await learn(store.database, collection, row.news)).to.equal(row.gives);
      await expectOutcome(collection, row);
    });
  }

  it('ends one that stands on the support list, and takes it off', async () => {
    const collection = await newCollection(store.database, merchant);
    await changeStep(store.database, refOf(collection), { park: 'job failed: whatever' });
    expect(await learn(store.database, collection, SUCCESS)).to.equal('completed');
    await expectOutcome(collection, COLLECTION_STORIES['nothing, then success']!);
  });

  it('is written down with the end, and told to the merchant in these words', async () => {
    const collection = await newCollection(store.database, merchant);
    await learn(store.database, collection, SUCCESS);
    const settled = await reread(store.database, collection);
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
    const collection = await newCollection(store.database, merchant);
    await learn(store.database, collection, failed({ externalRef: null }));
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
    const collection = await newCollection(store.database, merchant);
    await learn(store.database, collection, WITHOUT_RECEIPT);
    await learn(store.database, collection, SUCCESS);
    await learn(store.database, collection, succeeded({ description: 'No' }));
    const settled = await reread(store.database, collection);
    expect(settled).to.include({
      trans_id: receiptOf(collection),
      external_ref: 'GW-1',
      result_description: 'Done',
    });
  });

  it('that brings the receipt of a late success gives it to the return, too', async () => {
    const collection = await newCollection(store.database, merchant);
    await learn(store.database, collection, FAILURE);
    await learn(store.database, collection, WITHOUT_RECEIPT);
    const returnedReceipt = async () => (await returnsOf(collection))[0]!.original_trans_id;
    expect(await returnedReceipt()).to.equal(null);
    await learn(store.database, collection, SUCCESS);
    expect(await returnedReceipt()).to.equal(receiptOf(collection));
  });

  it('that comes many times at once counts once', async () => {
    const collection = await newCollection(store.database, merchant);
    const settlements = await Promise.all(
      Array.from({ length: 10 }, () => learn(store.database, collection, SUCCESS)),
    );
    expect(settlements.filter((settlement) => settlement === 'completed')).to.have.length(1);
    expect(settlements.filter((settlement) => settlement === 'repeat')).to.have.length(9);
    await expectOutcome(collection, COLLECTION_STORIES['nothing, then success']!);
  });

  it('of a late success that comes many times at once leads to one return', async () => {
    const collection = await newCollection(store.database, merchant);
    await learn(store.database, collection, FAILURE);
    await Promise.all(Array.from({ length: 10 }, () => learn(store.database, collection, SUCCESS)));
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
        merchant = await store.newMerchant();
        const collection = await newCollection(store.database, merchant);
        for (const verdict of news) await learn(store.database, collection, verdict);
        const receipts = new Map(
          news.flatMap((verdict) =>
            verdict.outcome === 'succeeded' ? [[verdict.transId, verdict.amountCents ?? 0]] : [],
          ),
        );
        const total = [...receipts.values()].reduce<number>((sum, cents) => sum + Number(cents), 0);
        expect((await balance('gateway_float')) + total).to.equal(0);
        expect((await eventsOf(collection)).length).to.be.at.most(1);
        expect((await returnsOf(collection)).length).to.be.at.most(1);
        await expectRightBooks(store.database, merchant.merchant_id);
      }),
      { numRuns: 25 },
    );
  });
});
