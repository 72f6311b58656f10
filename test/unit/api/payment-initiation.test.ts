import { expect } from 'chai';
import { gatewayFor } from '../../../src/api/routes/payments.ts';
import { rejection } from '../../support/payments.ts';

const MPESA = 63902;
const AMOUNTS = { minCents: 10_00, maxCents: 250_000_00, stepCents: 100 };
const WHOLE = new Map([[MPESA, { payout: { gateway: 'daraja', amounts: AMOUNTS } }]]);

describe('A channel with rules of its own', () => {
  it('carries them', () => {
    expect(gatewayFor(WHOLE, 'payout', MPESA, '12.00')).to.deep.equal({
      channel: MPESA,
      gateway: 'daraja',
      amount_cents: 1_200,
    });
  });

  const refusalOf = (amount: string, kind: 'payout' | 'collection' = 'payout') =>
    rejection((async () => gatewayFor(WHOLE, kind, MPESA, amount))());

  for (const amount of ['10.50', '249999.99', '11.01']) {
    it(`does not carry ${amount}`, async () => {
      expect(await refusalOf(amount)).to.include({ name: 'Refusal', code: 'amount_not_whole' });
    });
  }

  it('carries nothing below its least and above its largest amount', async () => {
    expect(await refusalOf('9.00')).to.include({ code: 'amount_below_channel' });
    expect(await refusalOf('250001.00')).to.include({ code: 'amount_above_channel' });
  });

  it('carries nothing in a direction that it does not have', async () => {
    expect(await refusalOf('12.00', 'collection')).to.include({ code: 'channel_not_available' });
  });
});
