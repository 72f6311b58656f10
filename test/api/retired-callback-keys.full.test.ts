import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { retiredCallbackKey } from '../../src/domain/settlement/retired-callback-keys.ts';
import { callbackUrl } from '../../src/gateways/callback-address.ts';
import { keyRingFromText } from '../../src/process/key-ring.ts';
import { runHere, type ShownAnswer } from '../support/admin.ts';
import { request } from '../support/api-client.ts';
import { callbacksOf, successBody } from '../support/callbacks.ts';
import { newCollection, rejection } from '../support/payments.ts';
import { expectRefusal } from '../support/refusals.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const keyOf = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const K1 = keyOf('k1', 1);
const K2 = keyOf('k2', 2);
const K3 = keyOf('k3', 3);

describe('A callback to an address of a key that SECRETS_KEY has no more', () => {
  let first: TestService;
  let merchant: TestMerchant;
  let collection: Collection;
  const services: TestService[] = [];

  beforeEach(async () => {
    first = await startTestService({ workers: [], env: { SECRETS_KEY: K1 } });
    merchant = await createTestMerchant(first);
    collection = await newCollection(first.database, merchant);
  });

  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
    await first.close();
  });

  /** The service after a restart with other keys. */
  async function withKeys(...keys: string[]): Promise<TestService> {
    const env = { SECRETS_KEY: keys.join(',') };
    const service = await startTestService({ workers: [], env, beside: first });
    services.push(service);
    return service;
  }

  const rekey = async (...keys: string[]): Promise<ShownAnswer> =>
    runHere(await withKeys(...keys), 'secrets rekey');

  const hear = (service: TestService, signedBy = K1, named = signedBy.split(':')[0]) => {
    const keys = keyRingFromText(signedBy);
    const url = callbackUrl(service.origin, keys, 'simulator', refOf(collection));
    const body = successBody(collection);
    return request('POST', url.replace(`~${keys.current.id}~`, `~${named}~`), { body });
  };
  const heard = async () => (await callbacksOf(first.database, collection)).length;

  it('is taken once the secrets were encrypted with the new key', async () => {
    expectRefusal(await hear(await withKeys(K2)), 404, 'Not found');
    expect((await rekey(K2, K1)).data).to.include({ key_id: 'k2' });
    expect((await hear(await withKeys(K2))).status).to.equal(200);
    expect(await heard()).to.equal(1);
  });

  it('is taken after every later change of keys', async () => {
    await rekey(K2, K1);
    const { data, lines } = await rekey(K3, K2);
    expect(data).to.deep.include({ callback_keys: ['k1', 'k2'] });
    expect(lines).to.include('Callback keys kept for addresses that were given out before: k1, k2');
    const last = await withKeys(K3);
    expect((await hear(last)).status).to.equal(200);
    expect((await hear(last, K2)).status).to.equal(200);
    expect(await heard()).to.equal(2);
    const kept = await rows<{ key_id: string }>(
      last.database,
      'SELECT DISTINCT key_id FROM retired_callback_keys',
    );
    expect(kept).to.deep.equal([{ key_id: 'k3' }]);
  });

  it('is taken when the command ran while the newer key was still behind the older one', async () => {
    await rekey(K1, K2);
    await rekey(K2, K1);
    await rekey(K3, K2);
    const last = await withKeys(K3);
    for (const key of [K1, K2, K3]) expect((await hear(last, key)).status, key).to.equal(200);
  });

  it('is refused when its proof is of another key', async () => {
    await rekey(K2, K1);
    const service = await withKeys(K2);
    expectRefusal(await hear(service, K3, 'k1'), 404, 'Not found');
    expectRefusal(await hear(service, K3), 404, 'Not found');
    expect(await heard()).to.equal(0);
  });

  it('needs no key of the ring: only the key that was derived for callbacks is kept', async () => {
    await rekey(K2, K1);
    const service = await withKeys(K2);
    const kept = await retiredCallbackKey(service.database, service.config.secretsKeys, 'k1');
    expect(kept).to.have.length(32);
    expect(kept!.equals(keyRingFromText(K1).current.secret.export())).to.equal(false);
    const dump = JSON.stringify(
      await rows(service.database, 'SELECT * FROM retired_callback_keys'),
    );
    for (const secret of [kept!, keyRingFromText(K1).current.secret.export()]) {
      expect(dump)
        .to.not.include(secret.toString('base64'))
        .and.not.include(secret.toString('hex'));
    }
  });

  it('stays provable when somebody gives the name of its key to another key: the command refuses that', async () => {
    await rekey(K2, K1);
    const other = await rejection(rekey(K2, keyOf('k1', 9)));
    expect(other.message).to.include(
      'k1 was the name of another key: give the new one another name',
    );
    await rekey(K2, K1);
    expect((await hear(await withKeys(K2))).status).to.equal(200);
  });

  it('is a problem that the command names, if the key that they are encrypted with is gone', async () => {
    await rekey(K2, K1);
    const refusal = await rejection(rekey(K3));
    expect(refusal.message).to.include(
      'the callback keys k1 cannot be decrypted with the keys of SECRETS_KEY',
    );
    expect((await rekey(K3, K2)).data).to.deep.include({ callback_keys: ['k1', 'k2'] });
    expect((await hear(await withKeys(K3))).status).to.equal(200);
  });

  it('leaves a line in the audit log for what was kept, and none when nothing changed', async () => {
    await rekey(K2, K1);
    await rekey(K2, K1);
    await rekey(K2);
    const audits = await rows<{ details: object }>(
      first.database,
      `SELECT details FROM audit_log WHERE subject = 'callback keys'`,
    );
    expect(audits).to.deep.equal([{ details: { keys: ['k1'], to_key: 'k2' } }]);
  });
});
