import { expect } from 'chai';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { callbackUrl } from '../../src/gateways/callback-address.ts';
import { successBody } from '../support/callbacks.ts';
import { newCollection, request, useService } from '../support/world.ts';

describe('With a list of the addresses from which gateways call back', () => {
  const service = useService({
    env: { GATEWAY_CALLBACK_SOURCES: '196.201.212.0/24', TRUST_PROXY: 'loopback' },
    merchant: 'none',
  });
  let collection: Collection;
  beforeEach(async () => {
    collection = await newCollection(service.database, await service.newMerchant());
  });

  const tell = async (source: string) => {
    const { secretsKeys } = service.config;
    const url = callbackUrl(service.origin, secretsKeys, 'simulator', refOf(collection));
    const headers = { 'x-forwarded-for': source };
    return (await request('POST', url, { body: successBody(collection), headers })).status;
  };

  it('a callback from one of them is stored', async () => {
    expect(await tell('196.201.212.69')).to.equal(200);
    expect(await service.callbacksOf(collection)).to.have.length(1);
  });

  it('a callback from elsewhere is refused like any unknown path, and kept for support', async () => {
    expect(await tell('196.201.213.1')).to.equal(404);
    expect(await service.callbacksOf(collection)).to.have.length(0);
    const kept = await service.rows(
      "SELECT problem FROM stray_callbacks WHERE body LIKE '%' || :reference || '%'",
      { reference: collection.reference },
    );
    expect(kept).to.deep.equal([{ problem: 'wrong source' }]);
  });
});
