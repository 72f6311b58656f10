import { expect } from 'chai';
import { gatewayFor } from '../../../src/api/routes/payment-initiation.ts';
import { rejection } from '../../support/payments.ts';

const MPESA = 63902;
const WHOLE = new Map([[MPESA, { gateway: 'daraja', amountStepCents: 100 }]]);

describe('A channel that knows whole shillings only', () => {
  it('carries them', () => {
    expect(gatewayFor(WHOLE, MPESA, '12.00')).to.deep.equal({
      channel: MPESA,
      gateway: 'daraja',
      amount_cents: 1_200,
    });
  });

  for (const amount of ['1.50', '999999.99', '1.01']) {
    it(`does not carry ${amount}`, async () => {
      const refused = await rejection((async () => gatewayFor(WHOLE, MPESA, amount))());
      expect(refused).to.include({ name: 'Refusal', code: 'amount_not_whole' });
    });
  }
});
