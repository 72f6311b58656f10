import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import type { Collection, Payout } from '../../src/domain/payments/kinds.ts';
import { latestTransactions } from '../../src/domain/wallets/list-transactions.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { learn, newCollection, succeeded } from '../support/payments.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('The console on money', () => {
  let test: TestConsole;
  let database: TestConsole['service']['database'];
  let viewer: ConsoleClient;
  let support: ConsoleClient;
  let merchant: TestMerchant;
  let collection: Collection;
  let payout: Payout;

  before(async () => {
    test = await startTestConsole();
    database = test.service.database;
    viewer = await logIn(test, await newMember(test, 'viewer'));
    support = await logIn(test, await newMember(test, 'support'));
    merchant = await createTestMerchant(test.service);
  });

  after(() => test.close());

  it('says that nothing is in suspense', async () => {
    expect((await viewer.get('/suspense')).text).to.include('There is nothing to do');
  });

  it('lists money in suspense, oldest first, with its discrepancy, masked and summed', async () => {
    collection = await newCollection(database, merchant);
    await learn(database, collection, succeeded({ amountCents: 12_345_600 }));
    payout = await newPayout(database, await createTestMerchant(test.service));
    await learn(database, payout, succeeded({ amountCents: 700 }));
    const { text } = await support.get('/suspense');
    const at = (words: string) => text.indexOf(words);
    const pathOf = ({ kind, merchant_id, id }: Collection | Payout) =>
      `/payments/${kind}/${merchant_id}/${id}`;
    expect(at(`"${pathOf(collection)}"`)).to.be.within(1, at(`"${pathOf(payout)}"`));
    const [discrepancy] = await rows<{ id: string }>(
      database,
      'SELECT id FROM discrepancies WHERE payment_id = :id',
      collection,
    );
    expect(text).to.include(`/discrepancies/${discrepancy!.id}`);
    expect(text).to.include('another amount moved').and.include('KES 123,456.00');
    expect(text)
      .to.match(/\+2547•••••\d{3}/)
      .and.not.match(/\+254\d{9}/);
    const [line] = await rows<object>(
      database,
      'SELECT action, details FROM audit_log WHERE reason IS NULL ORDER BY id DESC LIMIT 1',
    );
    expect(line).to.deep.include({ action: 'suspense.list' });
  });

  it('narrows it by kind and merchant, and goes on after the last one', async () => {
    const shown = async (query: string) => {
      const { text } = await viewer.get(`/suspense?${query}`);
      return [collection, payout].filter(({ id }) => text.includes(id)).map(({ kind }) => kind);
    };
    expect(await shown('kind=payout&merchant=')).to.deep.equal(['payout']);
    expect(await shown(`merchant=${collection.merchant_id}`)).to.deep.equal(['collection']);
    expect(await shown('kind=return')).to.deep.equal([]);
    const [first] = await rows<{ id: string }>(database, 'SELECT id FROM movements ORDER BY id');
    expect(await shown(`after=${first!.id}`)).to.deep.equal(['payout']);
    for (const query of ['kind=x', 'merchant=x', 'after=x']) {
      expect((await viewer.get(`/suspense?${query}`)).status, query).to.equal(400);
    }
  });

  it('shows the wallet transactions of a merchant, newest first, and goes on', async () => {
    const owner = await createTestMerchant(test.service);
    const path = `/merchants/${owner.merchant_id}/wallets`;
    expect((await viewer.get(path)).text).to.include('No money has moved yet');
    const paid = await newCollection(database, owner);
    await learn(database, paid, succeeded());
    await newPayout(database, owner);
    const { text } = await viewer.get(path);
    expect(text)
      .to.match(/KES 98\.50/)
      .and.match(/\+2547•••••\d{3}/);
    expect(text).to.not.match(/\+254\d{9}/);
    const place = { after: undefined, limit: 100 };
    const all = await latestTransactions(database, owner.merchant_id, place);
    const [newest, ...others] = all;
    const after = { createdUs: newest!.created_us, id: newest!.transaction_id };
    const rest = await latestTransactions(database, owner.merchant_id, { after, limit: 100 });
    expect(rest.map(({ transaction_id }) => transaction_id)).to.deep.equal(
      others.map(({ transaction_id }) => transaction_id),
    );
    expect((await viewer.get(`${path}?after=x`)).status).to.equal(404);
    const far = await viewer.get(`${path}?after=${after.createdUs}_${after.id}`);
    expect(far.status).to.equal(200);
  });
});
