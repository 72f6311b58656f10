import { expect } from 'chai';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import {
  MAX_CALLBACKS_A_DAY,
  MAX_LONG_BYTES_A_DAY,
} from '../../src/domain/settlement/callback-store.ts';
import { type AddressUse, callbackUrl } from '../../src/gateways/callback-address.ts';
import { successBody } from '../support/callbacks.ts';
import { scrape, sumOf } from '../support/metrics.ts';
import { request, useService } from '../support/world.ts';

describe('Callbacks at one address of a payment', () => {
  const service = useService({ merchant: 'all' });
  let collection: Collection;

  beforeEach(async () => {
    collection = await service.newCollection();
  });

  const addressOf = (use?: AddressUse) =>
    callbackUrl(service.origin, service.config.secretsKeys, 'simulator', refOf(collection), use);

  async function send(body: unknown, url = addressOf()): Promise<void> {
    expect((await request('POST', url, { body })).status).to.equal(200);
  }

  const sendMany = async (count: number, body: (number: number) => unknown) => {
    for (let number = 0; number < count; number += 1) await send(body(number));
  };
  const stored = async () =>
    (await service.callbacksOf(collection)).filter(({ status }) => status === 'stored');
  const isHeard = async (text: string) => (await stored()).some(({ body }) => body.includes(text));
  const events = () =>
    service.rows(
      `SELECT merchant_id, detail ->> 'payment_id' AS payment_id FROM security_events
       WHERE kind = 'callbacks_dropped' AND detail ->> 'payment_id' = :id`,
      { id: collection.id },
    );

  it('are kept up to a number a day, answered as ever, and noted once when there are more', async () => {
    await sendMany(MAX_CALLBACKS_A_DAY + 3, (number) => `flood ${number}`);
    expect(await stored()).to.have.length(MAX_CALLBACKS_A_DAY);
    const dropped = (await service.callbacksOf(collection)).filter(
      ({ status }) => status === 'rejected',
    );
    expect(dropped.map(({ body }) => body)).to.deep.equal(['']);
    expect(dropped[0]!.problem).to.match(/^more callbacks came/);
    const { merchant_id, id: payment_id } = collection;
    expect(await events()).to.deep.equal([{ merchant_id, payment_id }]);
    const samples = await scrape(service.meters.registry);
    expect(sumOf(samples, 'malipo_gateway_callbacks_dropped_total')).to.equal(3);
  });

  it('are heard when they say something new after many copies, and again the next day', async () => {
    await sendMany(MAX_CALLBACKS_A_DAY + 2, () => 'the same again and again');
    expect(await stored()).to.have.length(MAX_CALLBACKS_A_DAY);
    await send(successBody(collection));
    expect(await isHeard('succeeded')).to.equal(true);
    await service.rewrite(
      `UPDATE callbacks SET received_at = received_at - interval '1 day' WHERE payment_id = :id`,
      { id: collection.id },
    );
    await send('the same again and again');
    expect(await stored()).to.have.length(MAX_CALLBACKS_A_DAY + 2);
  });

  it('do not keep those at another address of the payment from being heard', async () => {
    await sendMany(MAX_CALLBACKS_A_DAY, (number) => `flood ${number}`);
    await send('an outcome', addressOf());
    expect(await isHeard('an outcome')).to.equal(false);
    const askedAt = new Date();
    await send('an answer', addressOf({ address: 'answer', askedAt }));
    expect(await isHeard('an answer')).to.equal(true);
  });

  it('share some bytes a day when they are long, and are heard when they are short', async () => {
    const long = 60_000;
    await sendMany(MAX_LONG_BYTES_A_DAY / long + 2, (number) => `${number}${'x'.repeat(long)}`);
    expect(await stored()).to.have.length(Math.floor(MAX_LONG_BYTES_A_DAY / long));
    await send(successBody(collection));
    expect(await isHeard('succeeded')).to.equal(true);
  });
});
