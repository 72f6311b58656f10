import { expect } from 'chai';
import { firstRow } from '../../src/connections/database.ts';
import { type Client, clientOf } from '../support/api-client.ts';
import { assign } from '../support/assignments.ts';
import { expectRefusal } from '../support/refusals.ts';
import {
  createTestApp,
  createTestMerchant,
  createTestUser,
  type TestMerchant,
} from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const WITHOUT_PRODUCT = 'App does not have collections product enabled';

describe('A person who initiates a collection', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let person: Client;

  before(async () => {
    service = await startTestService({ workers: [] });
  });

  after(() => service.close());

  beforeEach(async () => {
    merchant = await createTestMerchant(service);
    const user = await createTestUser(service, merchant.merchant_id, 'Finance');
    person = clientOf(service, user);
  });

  const anotherApp = (products?: Parameters<typeof createTestApp>[2]) =>
    createTestApp(service, merchant.merchant_id, products);
  const set = (table: 'apps' | 'merchants', assignment: string) =>
    assign(service.database, merchant.merchant_id, table, assignment);

  async function bookedOn(fields: Record<string, unknown> = {}): Promise<number> {
    const { status, body } = await person.initiate(fields);
    expect(status, JSON.stringify(body)).to.equal(200);
    const row = await firstRow<{ app_code: number }>(
      service.database,
      'SELECT app_code FROM collections WHERE id = :id',
      { id: body.id },
    );
    return row!.app_code;
  }

  it('books it on the only app', async () => {
    expect(await bookedOn()).to.equal(merchant.app_code);
    expect(await bookedOn({ app_code: null })).to.equal(merchant.app_code);
  });

  it('must name one of several apps', async () => {
    const other = await anotherApp();
    expectRefusal(await person.initiate(), 400, 'app_code field is required');
    expect(await bookedOn({ app_code: other.app_code })).to.equal(other.app_code);
    expect(await bookedOn({ app_code: merchant.app_code })).to.equal(merchant.app_code);
  });

  it('books it on the only one that is active and has the product', async () => {
    await anotherApp(['payouts']);
    const inactive = await anotherApp();
    await service.database.raw('UPDATE apps SET active = false WHERE code = ?', [
      inactive.app_code,
    ]);
    expect(await bookedOn()).to.equal(merchant.app_code);
  });

  it('cannot without an app that has the product', async () => {
    await set('apps', `products = '{payouts,disbursements}'`);
    expectRefusal(await person.initiate(), 403, WITHOUT_PRODUCT);
    const named = await person.initiate({ app_code: merchant.app_code });
    expectRefusal(named, 403, WITHOUT_PRODUCT);
  });

  it('cannot name an app that is not active, not there or another merchant’s', async () => {
    const other = await createTestMerchant(service);
    for (const app_code of [other.app_code, 1, Number.MAX_SAFE_INTEGER]) {
      expectRefusal(await person.initiate({ app_code }), 404, 'App not found');
    }
    await set('apps', 'active = false');
    const named = await person.initiate({ app_code: merchant.app_code });
    expectRefusal(named, 403, 'App is not active');
    expectRefusal(await person.initiate(), 403, WITHOUT_PRODUCT);
  });

  for (const app_code of ['5001', 0, -1, 1.5, 1e300, true, [5001], { code: 5001 }, '']) {
    it(`cannot name the app ${JSON.stringify(app_code)}`, async () => {
      expectRefusal(await person.initiate({ app_code }), 400, 'Invalid app_code');
    });
  }

  it('cannot while the merchant is not approved', async () => {
    await set('merchants', 'approved = false');
    const { status, body } = await person.initiate();
    expect([status, body.detail]).to.deep.equal([
      403,
      'Your merchant profile is not approved. Please ensure your profile has been verified before initiating collections.',
    ]);
  });

  it('differs from an app, whose token says which app it is whatever the body says', async () => {
    const other = await anotherApp();
    const { body } = await clientOf(service, merchant).initiate({ app_code: other.app_code });
    const row = await firstRow<{ app_code: number }>(
      service.database,
      'SELECT app_code FROM collections WHERE id = :id',
      { id: body.id },
    );
    expect(row!.app_code).to.equal(merchant.app_code);
  });
});
