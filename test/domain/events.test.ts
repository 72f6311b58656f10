import { expect } from 'chai';
import { isCallbackUrl } from '../../src/domain/address.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { createEvent } from '../../src/domain/webhooks/create-event.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { deliveriesOf, newEvent } from '../support/events.ts';
import { failed, rejection, succeeded, useStore } from '../support/world.ts';

describe('Settlement events', () => {
  const store = useStore();

  afterEach(async () => {
    for (const table of ['outbox', 'webhook_deliveries', 'events']) {
      await store.rewrite(`DELETE FROM ${table}`);
    }
  });

  /** Events in the order of their numbers; those without one at the end. */
  const eventsOf = (merchant_id: number) =>
    store.rows<{
      id: string;
      sequence: number | null;
      payment_id: string;
      body: string;
      callback_url: string;
    }>('SELECT * FROM events WHERE merchant_id = :id ORDER BY sequence, id', { id: merchant_id });

  const sequencesOf = async (merchant_id: number) =>
    (await eventsOf(merchant_id)).map(({ sequence }) => sequence);

  function countUpTo(last: number): number[] {
    return Array.from({ length: last }, (_, index) => index + 1);
  }

  /** Ends a payment without its event. */
  async function endAs(
    collection: Collection,
    status: 'completed' | 'failed',
  ): Promise<Collection> {
    await store.rewrite(
      'UPDATE collections SET status = :status, result_code = :code WHERE id = :id',
      {
        ...{ status, code: status === 'completed' ? 0 : 1, id: collection.id },
      },
    );
    return store.reread(collection);
  }

  it('say what their payments are: whoever has the role of the service adds no other one', async () => {
    const paid = await store.newCollection();
    await store.learn(paid, succeeded());
    const victim = await store.newCollection();
    const forged = (amount: string) =>
      store.rows(
        `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, change_no, type, callback_url,
           endpoint, body)
         SELECT merchant_id, gen_random_uuid(), app_code, 'collection', CAST(:victim AS uuid), 1, type, callback_url,
           endpoint, replace(replace(body, CAST(payment_id AS text), CAST(:victim AS text)), '"100.00"', CAST(:amount AS text))
         FROM events WHERE payment_id = :id`,
        { ...paid, victim: victim.id, amount },
      );
    expect((await rejection(forged('"100.00"'))).message).to.include(
      'does not say what its payment is',
    );
    await endAs(victim, 'completed');
    expect((await rejection(forged('"900.00"'))).message).to.include(
      'does not say what its payment is',
    );
  });

  const LIES: Record<string, (event: { body: string; callback_url: string }) => void> = {
    'another end': (event) => {
      event.body = event.body.replace('transaction.failed', 'transaction.completed');
    },
    'the result of a payment that was made': (event) => {
      event.body = event.body.replace(/"result_code":\d+/, '"result_code":0');
    },
    'a receipt': (event) => {
      event.body = event.body.replace('"trans_id":""', '"trans_id":"SKL4X1Y2Z3"');
    },
    'another order': (event) => {
      event.body = event.body.replace(/"ref_no":"[^"]+"/, '"ref_no":"inv-2"');
    },
    'another phone': (event) => {
      event.body = event.body.replace(/"account":"[^"]+"/, '"account":"+254799999999"');
    },
    'somebody else': (event) => {
      event.callback_url = 'https://thief.example/hook';
    },
  };
  for (const [what, lie] of Object.entries(LIES)) {
    it(`tell nobody what is not so: ${what}`, async () => {
      const unpaid = await store.newCollection();
      await store.learn(unpaid, failed());
      const [told] = await eventsOf(store.merchantId);
      const forged = { body: told!.body, callback_url: told!.callback_url };
      lie(forged);
      expect(forged).to.not.deep.equal({ body: told!.body, callback_url: told!.callback_url });
      const inserted = store.rows(
        `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, change_no, type, callback_url, endpoint, body)
         SELECT merchant_id, gen_random_uuid(), app_code, payment_kind, payment_id, 2, type, :callback_url, endpoint, :body
         FROM events WHERE payment_id = :id`,
        { ...forged, id: unpaid.id },
      );
      expect((await rejection(inserted)).message).to.include('does not say what its payment is');
    });
  }

  describe('are numbered', () => {
    it('from one on, in the order of their creation, each with its delivery', async () => {
      const ids = [];
      for (let count = 0; count < 4; count += 1) ids.push(await store.newEvent());
      expect(await prepareDeliveries(store.database, 0)).to.equal(4);
      expect((await eventsOf(store.merchantId)).map(({ id }) => id)).to.deep.equal(ids);
      const deliveries = await store.deliveriesOf();
      expect(deliveries.map(({ event_id }) => event_id)).to.deep.equal(ids);
      expect(await prepareDeliveries(store.database, 0)).to.equal(0);
    });

    it('per merchant', async () => {
      const other = await store.newMerchant();
      for (const owner of [store.merchant, other, other, store.merchant, other]) {
        await newEvent(store.database, owner);
      }
      await prepareDeliveries(store.database, 0);
      await store.newEvent();
      await prepareDeliveries(store.database, 0);
      expect(await sequencesOf(store.merchantId)).to.deep.equal([1, 2, 3]);
      expect(await sequencesOf(other.merchant_id)).to.deep.equal([1, 2, 3]);
    });

    it('without gaps or repeats while many are made and several number at once', async () => {
      const merchants = [store.merchant, await store.newMerchant(), await store.newMerchant()];
      let making = true;
      const numberer = async () => {
        while (making) await prepareDeliveries(store.database, 0);
      };
      const numberers = [numberer(), numberer(), numberer()];
      await Promise.all(
        countUpTo(60).map((count) => newEvent(store.database, merchants[count % 3]!)),
      );
      making = false;
      await Promise.all(numberers);
      await prepareDeliveries(store.database, 0);
      for (const { merchant_id } of merchants) {
        expect(await sequencesOf(merchant_id)).to.deep.equal(countUpTo(20));
        expect(await deliveriesOf(store.database, merchant_id)).to.have.length(20);
      }
    });

    it('after their commit, so that a late one never comes below what was read', async () => {
      const late = await store.newCollection();
      const ended = await endAs(late, 'completed');
      const open = await store.database.transaction();
      await createEvent(open, ended);
      const early = await store.newEvent();
      expect(await prepareDeliveries(store.database, 0)).to.equal(1);
      expect(await prepareDeliveries(store.database, 0)).to.equal(0);
      await open.commit();
      expect(await prepareDeliveries(store.database, 0)).to.equal(1);
      const events = await eventsOf(store.merchantId);
      expect(events.map(({ sequence }) => sequence)).to.deep.equal([1, 2]);
      expect(events[0]!.id).to.equal(early);
      expect(events[1]!.payment_id).to.equal(late.id);
    });

    it('in batches, and completely however many there are', async () => {
      await store.rewrite(
        `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type,
           callback_url, endpoint, body)
         SELECT :merchant_id, gen_random_uuid(), :app_code, 'collection', gen_random_uuid(),
           'transaction.completed', 'http://shop.example/', 'http://shop.example', '{}'
         FROM generate_series(1, 1200)`,
        { merchant_id: store.merchantId, app_code: store.merchant.app_code },
      );
      let rounds = 0;
      while ((await prepareDeliveries(store.database, 0)) > 0) rounds += 1;
      expect(rounds).to.be.greaterThan(1);
      expect(await sequencesOf(store.merchantId)).to.deep.equal(countUpTo(1_200));
    });

    const ENDPOINTS: Readonly<Record<string, string>> = {
      'http://shop.example': 'http://shop.example',
      'http://shop.example/hook': 'http://shop.example',
      'https://shop.example/hook?url=http://x/': 'https://shop.example',
      'https://shop.example?x=/y': 'https://shop.example',
      'https://shop.example#x': 'https://shop.example',
      'https://shop.example:8443/': 'https://shop.example:8443',
      'HTTPS://Shop.Example/Hook': 'https://shop.example',
      'http://127.0.0.1:9/hook': 'http://127.0.0.1:9',
      'http://203.0.113.2:8022/hook': 'http://203.0.113.2:8022',
      'http://2go.example/hook': 'http://2go.example',
      'http://[2001:db8::1]:8080/hook': 'http://[2001:db8::1]:8080',
    };
    for (const [callbackUrl, endpoint] of Object.entries(ENDPOINTS)) {
      it(`with a delivery to ${endpoint} when the callback address is ${callbackUrl}`, async () => {
        const id = await store.newEvent(callbackUrl);
        await prepareDeliveries(store.database, 0);
        expect((await store.deliveryOf(id)).endpoint).to.equal(endpoint);
      });
    }

    it('whatever callback address was accepted: one never holds up the rest', async () => {
      const STRANGE = [
        'http:///shop.example/hook',
        'http:////shop.example/hook',
        'http:///203.0.113.2',
        'http://@/x',
        'http://@shop.example/x',
        'http://shop.example:/x',
        'http://$hop.example/x',
        'http://?x',
        'http://#x',
        'http://%73hop.example/x',
        'http://shop.example%2fx/',
        "http://shop.example/'; DROP TABLE events; --".replaceAll(' ', ''),
      ];
      for (const callback_url of STRANGE) {
        if (!isCallbackUrl(callback_url)) continue;
        await store.newEvent(callback_url);
        expect(await prepareDeliveries(store.database, 0), callback_url).to.equal(1);
      }
    });
  });

  it('exist once for each end of a payment that the merchant has not been told', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded());
    const tell = async (status: 'completed' | 'failed') => {
      const ended = await endAs(collection, status);
      await store.transaction((trx) => createEvent(trx, ended));
    };
    expect((await rejection(tell('completed'))).message).to.include('was told as');
    expect(await eventsOf(store.merchantId)).to.have.length(1);
    await tell('failed');
    expect((await rejection(tell('failed'))).message).to.include('was told as');
    expect(await eventsOf(store.merchantId)).to.have.length(2);
  });
});
