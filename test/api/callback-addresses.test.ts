import { expect } from 'chai';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { callbackUrl } from '../../src/gateways/callback-address.ts';
import { keyRingFromText } from '../../src/process/key-ring.ts';
import { successBody } from '../support/callbacks.ts';
import { type Answer, expectRefusal, request, useService } from '../support/world.ts';

describe('A callback to an address that we did not give out', () => {
  const service = useService({ env: { TRUST_PROXY: 'loopback' } });
  let collection: Collection;

  beforeEach(async () => {
    collection = await service.newCollection();
  });

  const addressOf = (payment: Collection, keys = service.config.secretsKeys) =>
    callbackUrl(service.origin, keys, 'simulator', refOf(payment));

  let senders = 0;
  const newSender = () => {
    senders += 1;
    return `203.0.113.${senders}`;
  };
  /** Each comes from a sender of its own, because few of one are kept. */
  const post = (url: string, body: unknown, sender = newSender()) =>
    request('POST', url, { body, headers: { 'x-forwarded-for': sender } });

  const kept = () => service.countOf('stray_callbacks');

  async function expectStray(answer: Answer, before: number): Promise<void> {
    expectRefusal(answer, 404, 'Not found');
    expect(await kept()).to.equal(before + 1);
    const last = await service.firstRow<{ problem: string; body: string }>(
      'SELECT problem, body FROM stray_callbacks ORDER BY id DESC LIMIT 1',
    );
    expect(last!.problem).to.equal('wrong token');
    expect(last!.body).to.include(collection.reference);
    expect(await service.callbacksOf(collection)).to.deep.equal([]);
    expect(await service.reread(collection)).to.deep.equal(collection);
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
    'another merchant': (url) => url.replace(`~${service.merchantId}~`, '~1~'),
    'the merchant written otherwise': (url) =>
      url.replace(`~${service.merchantId}~`, `~0${service.merchantId}~`),
    'another gateway': (url) => url.replace('/simulator/', '/daraja/'),
    'a name of another key': (url) => url.replace('~dev~', '~old~'),
    'a NUL for a token': (url) => url.replace(/[^/]+$/, '%00'),
  };
  for (const [what, forge] of Object.entries(FORGERIES)) {
    it(`moves nothing and is kept for a while: ${what}`, async () => {
      const before = await kept();
      const url = forge(addressOf(collection));
      await expectStray(await post(url, successBody(collection)), before);
    });
  }

  it('moves nothing and is kept for a while: a proof by a key that is not ours', async () => {
    const before = await kept();
    const keys = keyRingFromText(`dev:${Buffer.alloc(32, 'x').toString('base64')}`);
    const url = addressOf(collection, keys);
    await expectStray(await post(url, successBody(collection)), before);
  });

  it('moves nothing and is kept for a while: another receipt than was asked about', async () => {
    const use = { address: 'receipt', askedAt: new Date(), receipt: 'SJK3ABCDE1' } as const;
    const keys = service.config.secretsKeys;
    const genuine = callbackUrl(service.origin, keys, 'simulator', refOf(collection), use);
    const hex = (receipt: string) => Buffer.from(receipt).toString('hex');
    const before = await kept();
    const forged = genuine.replace(hex('SJK3ABCDE1'), hex('SJK3ABCDE2'));
    await expectStray(await post(forged, successBody(collection)), before);
    expect((await post(genuine, successBody(collection))).status).to.equal(200);
    const [stored] = await service.callbacksOf(collection);
    expect(stored).to.include({ address: 'receipt', receipt: 'SJK3ABCDE1' });
  });

  it('is never our failure, whatever the path', async () => {
    for (const gateway of ['%00', '%ff', '%E0%A4%A', '__proto__', "'", 'x'.repeat(5_000)]) {
      const { status } = await post(`${service.origin}/gateway/callbacks/${gateway}/x`, '{}');
      expect(status, gateway.slice(0, 20)).to.be.within(400, 499);
    }
  });

  it('cannot fill the disk, and one sender leaves room for the others', async () => {
    const url = `${service.origin}/gateway/callbacks/simulator/nonsense`;
    const long = 'é'.repeat(30_000);
    const flood = (count: number, sender?: string) =>
      Promise.all(Array.from({ length: count }, () => post(url, long, sender)));
    const before = await kept();
    for (const answer of await flood(20, '198.51.100.1')) expectRefusal(answer, 404, 'Not found');
    expect(await kept()).to.equal(before + 15);
    await flood(1);
    expect(await kept()).to.equal(before + 16);
    await flood(60);
    expect(await kept()).to.be.at.most(60);
    const longest = await service.firstRow<{ bytes: number }>(
      'SELECT max(octet_length(body)) AS bytes FROM stray_callbacks',
    );
    expect(longest!.bytes).to.be.within(4_000, 4_100);
    const genuine = await post(addressOf(collection), successBody(collection));
    expect(genuine.status).to.equal(200);
  });
});
