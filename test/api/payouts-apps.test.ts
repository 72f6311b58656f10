import { expect } from 'chai';
import type { createTestApp } from '../support/test-merchant.ts';
import { expectRefusal, payoutBody, useService } from '../support/world.ts';

const FUNDS_CENTS = 1_000_000;
const WITHOUT_PRODUCT = 'App does not have payouts product enabled';

describe('The app of a payout', () => {
  const service = useService();

  beforeEach(async () => {
    await service.topUp(FUNDS_CENTS, 'T1');
  });

  const another = (products?: Parameters<typeof createTestApp>[2]) => service.newApp(products);
  const person = () => service.newUser('Finance');
  const initiate = (caller: { access: string }, app_code: number) =>
    service.clientOf(caller).post('/payouts/initiate', payoutBody({ app_code }));

  async function bookedOn(id: string): Promise<number | undefined> {
    const row = await service.firstRow<{ app_code: number }>(
      'SELECT app_code FROM payouts WHERE id = :id',
      { id },
    );
    return row?.app_code;
  }

  it('is the one that the body names, whoever asks', async () => {
    const other = await another(['payouts']);
    for (const caller of [service.merchant, other, await person()]) {
      for (const { app_code } of [service.merchant, other]) {
        const { status, body } = await initiate(caller, app_code);
        expect(status, JSON.stringify(body)).to.equal(200);
        expect(await bookedOn(body.id)).to.equal(app_code);
      }
    }
  });

  it('must be named, whoever asks, before anything that is wrong is looked at', async () => {
    for (const caller of [service.merchant, await person()]) {
      const { post } = service.clientOf(caller);
      for (const wrong of [{}, { amount: '0.01' }]) {
        for (const missing of [undefined, null, '']) {
          const body = payoutBody(service.merchant, { ...wrong, app_code: missing });
          expectRefusal(await post('/payouts/initiate', body), 400, 'app_code field is required', {
            code: 'field_required',
            field: 'app_code',
          });
        }
      }
    }
  });

  it('must be the merchant’s, active and have the product', async () => {
    const stranger = await service.newMerchant();
    const without = await another(['collections', 'disbursements']);
    const inactive = await another(['payouts']);
    await service.rows('UPDATE apps SET active = false WHERE code = :code', {
      code: inactive.app_code,
    });
    for (const caller of [service.merchant, await person()]) {
      for (const [app_code, status, text] of [
        [stranger.app_code, 404, 'App not found'],
        [Number.MAX_SAFE_INTEGER, 404, 'App not found'],
        [inactive.app_code, 403, 'App is not active'],
        [without.app_code, 403, WITHOUT_PRODUCT],
      ] as const) {
        expectRefusal(await initiate(caller, app_code), status, text);
      }
    }
    const { body } = await service.client.get('/wallets/balance');
    expect(body.payout_wallet_balance).to.equal('10000.00');
  });

  it('does not let a token of an app without the product pay', async () => {
    const without = await another(['collections']);
    expectRefusal(await initiate(without, service.merchant.app_code), 403, WITHOUT_PRODUCT);
  });
});
