import { expect } from 'chai';
import { firstRow } from '../../src/connections/database.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { callbackUrl } from '../../src/gateways/callback-address.ts';
import { keyRingFromText } from '../../src/process/key-ring.ts';
import { type Answer, request } from '../support/api-client.ts';
import { callbacksOf, type StoredCallback, successBody } from '../support/callbacks.ts';
import { countOf, newCollection, reread } from '../support/payments.ts';
import { expectRefusal } from '../support/refusals.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

describe('A callback to an address that we did not give out', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let collection: Collection;

  before(async () => {
    service = await startTestService({ workers: [] });
  });

  after(() => service.close());

  beforeEach(async () => {
    merchant = await createTestMerchant(service);
    collection = await newCollection(service.database, merchant);
  });

  const addressOf = (payment: Collection, keys = service.config.secretsKeys) =>
    callbackUrl(service.origin, keys, 'simulator', refOf(payment));

  const post = (url: string, body: unknown) => request('POST', url, { body });

  const rejected = () => countOf(service.database, `callbacks WHERE problem = 'wrong token'`);

  async function expectRejected(answer: Answer, before: number): Promise<void> {
    expectRefusal(answer, 404, 'Not found');
    expect(await rejected()).to.equal(before + 1);
    const last = await firstRow<StoredCallback>(
      service.database,
      'SELECT * FROM callbacks ORDER BY id DESC LIMIT 1',
    );
    expect(last).to.include({ status: 'rejected', problem: 'wrong token', payment_id: null });
    expect(await callbacksOf(service.database, collection)).to.deep.equal([]);
    expect(await reread(service.database, collection)).to.deep.equal(collection);
  }

  /** Addresses that are not ours, made from one that is. */
  const FORGERIES: Readonly<Record<string, (genuine: string) => string>> = {
    'a token that means nothing': (url) => url.replace(/[^/]+$/, 'nonsense'),
    'a token without its proof': (url) => url.replace(/~[\w-]+$/, ''),
    'a proof that was cut': (url) => url.slice(0, -1),
    'a proof with more at its end': (url) => `${url}A`,
    'a proof with another character': (url) =>
      url.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
    'the id of another payment': (url) => url.replace(collection.id, crypto.randomUUID()),
    'the same id in capitals': (url) => url.replace(collection.id, collection.id.toUpperCase()),
    'another kind of payment': (url) => url.replace('~collection~', '~return~'),
    'another kind of callback': (url) => url.replace('result~', 'query~'),
    'another merchant': (url) => url.replace(`~${merchant.merchant_id}~`, '~1~'),
    'the merchant written otherwise': (url) =>
      url.replace(`~${merchant.merchant_id}~`, `~0${merchant.merchant_id}~`),
    'another gateway': (url) => url.replace('/simulator/', '/daraja/'),
    'a name of another key': (url) => url.replace('~dev~', '~old~'),
    'a NUL for a token': (url) => url.replace(/[^/]+$/, '%00'),
  };
  for (const [what, forge] of Object.entries(FORGERIES)) {
    it(`moves nothing and is kept as rejected: ${what}`, async () => {
      const before = await rejected();
      const url = forge(addressOf(collection));
      await expectRejected(await post(url, successBody(collection)), before);
    });
  }

  it('moves nothing and is kept as rejected: a proof by a key that is not ours', async () => {
    const before = await rejected();
    const keys = keyRingFromText(`dev:${Buffer.alloc(32, 'x').toString('base64')}`);
    const url = addressOf(collection, keys);
    await expectRejected(await post(url, successBody(collection)), before);
  });

  it('is never our failure, whatever the path', async () => {
    for (const gateway of ['%00', '%ff', '%E0%A4%A', '__proto__', "'", 'x'.repeat(5_000)]) {
      const { status } = await post(`${service.origin}/gateway/callbacks/${gateway}/x`, '{}');
      expect(status, gateway.slice(0, 20)).to.be.within(400, 499);
    }
  });

  it('cannot fill the disk', async () => {
    const url = `${service.origin}/gateway/callbacks/simulator/nonsense`;
    const answers = await Promise.all(
      Array.from({ length: 80 }, () => post(url, 'x'.repeat(60_000))),
    );
    for (const answer of answers) expectRefusal(answer, 404, 'Not found');
    expect(await rejected()).to.be.at.most(60);
    const longest = await firstRow<{ length: number }>(
      service.database,
      `SELECT max(length(body)) AS length FROM callbacks WHERE status = 'rejected'`,
    );
    expect(longest!.length).to.be.below(5_000);
    const genuine = await post(addressOf(collection), successBody(collection));
    expect(genuine.status).to.equal(200);
  });
});
