import { expect } from 'chai';
import type { createTestApp } from '../support/test-merchant.ts';
import { type Client, expectRefusal, useService } from '../support/world.ts';

const WITHOUT_PRODUCT = 'App does not have collections product enabled';

describe('A person who initiates a collection', () => {
  const service = useService();
  let person: Client;

  beforeEach(async () => {
    const user = await service.newUser('Finance');
    person = service.clientOf(user);
  });

  const anotherApp = (products?: Parameters<typeof createTestApp>[2]) => service.newApp(products);
  const set = (table: 'apps' | 'merchants', assignment: string) =>
    service.assign(table, assignment);

  async function bookedOn(fields: Record<string, unknown> = {}): Promise<number> {
    const { status, body } = await person.initiate(fields);
    expect(status, JSON.stringify(body)).to.equal(200);
    const row = await service.firstRow<{ app_code: number }>(
      'SELECT app_code FROM collections WHERE id = :id',
      { id: body.id },
    );
    return row!.app_code;
  }

  it('books it on the only app', async () => {
    expect(await bookedOn()).to.equal(service.merchant.app_code);
    expect(await bookedOn({ app_code: null })).to.equal(service.merchant.app_code);
  });

  it('must name one of several apps', async () => {
    const other = await anotherApp();
    expectRefusal(await person.initiate(), 400, 'app_code field is required');
    expect(await bookedOn({ app_code: other.app_code })).to.equal(other.app_code);
    expect(await bookedOn({ app_code: service.merchant.app_code })).to.equal(
      service.merchant.app_code,
    );
  });

  it('books it on the only one that is active and has the product', async () => {
    await anotherApp(['payouts']);
    const inactive = await anotherApp();
    await service.database.raw('UPDATE apps SET active = false WHERE code = ?', [
      inactive.app_code,
    ]);
    expect(await bookedOn()).to.equal(service.merchant.app_code);
  });

  it('cannot without an app that has the product', async () => {
    await set('apps', `products = '{payouts,disbursements}'`);
    expectRefusal(await person.initiate(), 403, WITHOUT_PRODUCT);
    const named = await person.initiate({ app_code: service.merchant.app_code });
    expectRefusal(named, 403, WITHOUT_PRODUCT);
  });

  it('cannot name an app that is not active, not there or another merchant’s', async () => {
    const other = await service.newMerchant();
    for (const app_code of [other.app_code, 1, Number.MAX_SAFE_INTEGER]) {
      expectRefusal(await person.initiate({ app_code }), 404, 'App not found');
    }
    await set('apps', 'active = false');
    const named = await person.initiate({ app_code: service.merchant.app_code });
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

  it('differs from an app, whose token says which app it is, and which may name no other', async () => {
    const other = await anotherApp();
    for (const app_code of [other.app_code, 1]) {
      const answer = await service.client.initiate({ app_code });
      expectRefusal(answer, 400, 'Invalid app_code', { code: 'invalid_field', field: 'app_code' });
    }
    const { app_code } = service.merchant;
    expect((await service.client.initiate({ app_code })).status).to.equal(200);
  });
});
