import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { updateApp } from '../../src/domain/merchants/app.ts';
import { updateMerchant } from '../../src/domain/merchants/merchant.ts';
import { AMOUNT_CENTS, payoutBody, type TestMerchant, useService } from '../support/world.ts';

/** Longer than a body may take without a second look at its caller. */
const SLOW_MS = 800;

describe('A request whose body comes slowly', () => {
  const service = useService({ merchant: 'each' });

  /** Sends all of a request but the end of its body. @returns what sends the end, and gives the status */
  async function begin({ access }: TestMerchant, body: object) {
    const text = JSON.stringify(body);
    const request = httpRequest(`${service.origin}/api/v1/payouts/initiate`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${access}`, 'content-type': 'application/json' },
        'content-length': Buffer.byteLength(text),
      },
    });
    const answered = new Promise<number>((resolve, reject) => {
      request.on('response', (response) => resolve(response.resume().statusCode!));
      request.on('error', reject);
    });
    await new Promise<void>((resolve) => request.write(text.slice(0, 1), () => resolve()));
    await sleep(SLOW_MS);
    return () => {
      request.end(text.slice(1));
      return answered;
    };
  }

  const shutOut = {
    'its app is suspended': (trx, { app_code }) => updateApp(trx, app_code, { active: false }),
    'its merchant is suspended': (trx, { merchant_id }) =>
      updateMerchant(trx, merchant_id, { active: false }),
  } satisfies Record<string, (trx: Parameters<typeof updateApp>[0], m: TestMerchant) => unknown>;

  for (const [when, change] of Object.entries(shutOut)) {
    it(`is refused if ${when} before the body has come`, async () => {
      const { merchant, database } = service;
      await topUpPayoutWallet(database, merchant.merchant_id, 2 * AMOUNT_CENTS, 'T1');
      const end = await begin(merchant, payoutBody(merchant));
      await service.transaction(async (trx) => {
        await change(trx, merchant);
      });
      expect(await end()).to.be.oneOf([401, 403]);
      expect(await service.rows('SELECT id FROM payouts')).to.deep.equal([]);
    });
  }

  it('is carried out if its caller may still call', async () => {
    const { merchant, database } = service;
    await topUpPayoutWallet(database, merchant.merchant_id, 2 * AMOUNT_CENTS, 'T1');
    const end = await begin(merchant, payoutBody(merchant));
    expect(await end()).to.equal(200);
  });
});
