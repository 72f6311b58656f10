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

  it('is the token’s own when the body names none', async () => {
    const other = await another(['payouts']);
    for (const caller of [service.merchant, other]) {
      for (const missing of [undefined, null, '']) {
        const body = payoutBody({ app_code: 0 }, { app_code: missing });
        const answer = await service.clientOf(caller).post('/payouts/initiate', body);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        expect(await bookedOn(answer.body.id)).to.equal(caller.app_code);
      }
    }
  });

  it('must be named by people, as before anything that is wrong', async () => {
    const { post } = service.clientOf(await person());
    for (const wrong of [{}, { amount: '0.01' }]) {
      const answer = await post(
        '/payouts/initiate',
        payoutBody(service.merchant, { ...wrong, app_code: null }),
      );
      expectRefusal(answer, 400, 'app_code field is required', {
        code: 'field_required',
        field: 'app_code',
      });
    }
  });

  it('makes one request with a key of those that name the token’s own and that name none', async () => {
    const key = { 'idempotency-key': 'k' };
    const named = payoutBody(service.merchant);
    const { app_code: _own, ...bare } = named;
    const { post } = service.client;
    const first = await post('/payouts/initiate', bare, key);
    expect(first.status).to.equal(200);
    const again = await post('/payouts/initiate', named, key);
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    // From another app the same words are another payout.
    const other = service.clientOf(await another(['payouts']));
    const reused = 'Idempotency key was used with a different request';
    expectRefusal(await other.post('/payouts/initiate', bare, key), 422, reused);
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
