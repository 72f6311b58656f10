import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import {
  announceWorker,
  type Walk,
  withdrawWorker,
} from '../../src/domain/webhooks/admit-deliveries.ts';
import { findDelivery, recordAttempt } from '../../src/domain/webhooks/delivery.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { makeEndpoint, OPEN } from '../support/endpoints.ts';
import { deliveriesOf, newEvent, outcomeOf } from '../support/events.ts';
import { useStore } from '../support/world.ts';

/** An endpoint gets 2 of these at once, a merchant 2 of each half, and each half is 8. */
const SLOTS = 16;
const SHOP = 'http://shop.example';

describe('Webhooks are admitted for delivery', () => {
  const store = useStore();

  beforeEach(async () => {
    await store.rows(`UPDATE webhook_deliveries SET status = 'delivered',
      next_step = NULL, next_step_at = NULL, admitted_at = NULL`);
    await proven(SHOP);
  });

  const proven = (endpoint: string, owner = store.merchant, state = {}) =>
    makeEndpoint(store.database, owner.merchant_id, endpoint, state);

  async function numbered(
    count: number,
    endpoint = SHOP,
    owner = store.merchant,
  ): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push(await newEvent(store.database, owner, `${endpoint}/hook`));
    await prepareDeliveries(store.database, 0);
    return ids;
  }

  const admit = (slots = SLOTS) => prepareDeliveries(store.database, slots);

  async function admittedOf(owner = store.merchant): Promise<string[]> {
    const deliveries = await deliveriesOf(store.database, owner.merchant_id);
    return deliveries.filter(({ admitted }) => admitted).map(({ event_id }) => event_id);
  }

  async function attempt(
    eventId: string,
    status: number | null,
    owner = store.merchant,
  ): Promise<void> {
    const { step_no } = await store.deliveryOf(eventId);
    const ref = { merchant_id: owner.merchant_id, event_id: eventId, step_no };
    const delivery = await findDelivery(store.database, ref);
    await recordAttempt(
      store.database,
      delivery!,
      outcomeOf({ status, timedOut: status === null, error: status === null ? 'timeout' : null }),
    );
  }

  /** As if it had been under way for longer than an endpoint that answers takes. */
  const makeSlow = (eventId: string) =>
    store.rows(
      `UPDATE webhook_deliveries SET admitted_at = now() - interval '3 seconds'
       WHERE event_id = :eventId AND admitted_at IS NOT NULL`,
      { eventId },
    );

  it('after their events have numbers, which they get even if the admission fails', async () => {
    const eventId = await newEvent(store.database, store.merchant, `${SHOP}/hook`);
    await rows(
      store.owner,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
         AS $$ BEGIN RAISE 'no admission'; END $$`,
    );
    await rows(
      store.owner,
      `CREATE TRIGGER refuse BEFORE UPDATE ON webhook_deliveries FOR EACH STATEMENT
         EXECUTE FUNCTION refuse()`,
    );
    try {
      const refused = await admit().catch((error) => error.message);
      expect(refused).to.include('no admission');
    } finally {
      await rows(store.owner, 'DROP FUNCTION refuse CASCADE');
    }
    const [event] = await store.rows('SELECT sequence FROM events WHERE id = :eventId', {
      eventId,
    });
    expect(event).to.deep.equal({ sequence: 1 });
    expect(await admittedOf()).to.deep.equal([]);
    expect(await admit()).to.equal(1);
    expect(await admittedOf()).to.deep.equal([eventId]);
  });

  it('oldest first, so many at once, each with its job', async () => {
    const ids = await numbered(5);
    expect(await admit()).to.equal(2);
    expect(await admittedOf()).to.deep.equal(ids.slice(0, 2));
    expect(await admit()).to.equal(0);
    const { step_no } = await store.deliveryOf(ids[0]!);
    expect(await store.outboxOf(ids[0]!)).to.deep.equal([
      { queue: 'webhooks', kind: 'webhook', step: 'deliver', row_id: ids[0], step_no },
    ]);
    expect(await store.outboxOf(ids[4]!)).to.deep.equal([]);
  });

  it('one more when one has ended, and when one has failed and waits', async () => {
    const ids = await numbered(4);
    await admit();
    await attempt(ids[1]!, 200);
    expect(await admit()).to.equal(1);
    expect(await admittedOf()).to.deep.equal([ids[0], ids[2]]);
    await attempt(ids[0]!, 500);
    expect(await admit()).to.equal(1);
    expect(await admittedOf()).to.deep.equal([ids[2], ids[3]]);
  });

  it('again only when their time has come', async () => {
    const [id] = await numbered(1);
    await admit();
    await attempt(id!, 500);
    expect(await admit()).to.equal(0);
    await store.makeDue(id!);
    expect(await admit()).to.equal(1);
  });

  it('first attempts before retries, however long these have been due', async () => {
    const old = await numbered(2);
    await admit();
    for (const id of old) await attempt(id, 500);
    for (const id of old) await store.makeDue(id);
    await proven(SHOP);
    const fresh = await numbered(1);
    expect(await admit()).to.equal(2);
    expect(await admittedOf()).to.have.members([fresh[0], old[0]]);
  });

  it('for each endpoint by itself, however long the line before another is', async () => {
    const slow = await numbered(4);
    const others = [];
    for (const endpoint of ['http://quick.example', `${SHOP}:8080`]) {
      await proven(endpoint);
      others.push(...(await numbered(1, endpoint)));
    }
    await proven(SHOP, store.merchant, { concurrency: 1 });
    await admit(SLOTS * 2);
    expect(await admittedOf()).to.deep.equal([slow[0], ...others]);
  });

  it('for each merchant by itself, even at one endpoint', async () => {
    const other = await store.newMerchant();
    await proven(SHOP, other);
    const mine = await numbered(3);
    const theirs = await numbered(1, SHOP, other);
    await admit();
    expect(await admittedOf()).to.deep.equal(mine.slice(0, 2));
    expect(await admittedOf(other)).to.deep.equal(theirs);
  });

  it('to all endpoints of a merchant up to its share', async () => {
    for (const name of ['a', 'b', 'c']) {
      await proven(`http://${name}.example`);
      await numbered(2, `http://${name}.example`);
    }
    expect(await admit()).to.equal(2);
  });

  it('to a proven endpoint though the merchant’s doubtful ones wait in line', async () => {
    for (const name of ['a', 'b', 'c']) await numbered(1, `http://${name}.example`);
    const ids = await numbered(1);
    expect(await admit()).to.equal(3);
    expect(await admittedOf()).to.include(ids[0]);
  });

  it('to a merchant that has nothing under way before others that hold many slots', async () => {
    const busy = [];
    for (let n = 0; n < 4; n += 1) {
      const owner = await store.newMerchant();
      await proven(SHOP, owner);
      busy.push({ owner, ids: await numbered(4, SHOP, owner) });
    }
    expect(await admit()).to.equal(SLOTS / 2);
    const ids = await numbered(1);
    const [{ owner, ids: held }] = busy as [(typeof busy)[0]];
    await attempt(held[0]!, 200, owner);
    expect(await admit()).to.equal(1);
    expect(await admittedOf()).to.deep.equal(ids);
  });

  it('to a probe before the first attempts of others, though its delivery is a retry', async () => {
    const [id] = await numbered(1);
    await admit();
    await attempt(id!, 500);
    await store.makeDue(id!);
    await proven(SHOP, store.merchant, OPEN);
    for (let n = 0; n < SLOTS; n += 1) {
      await numbered(1, 'http://new.example', await store.newMerchant());
    }
    expect(await admit()).to.equal(SLOTS / 2);
    expect(await admittedOf()).to.deep.equal([id]);
  });

  it('a retry that has been due for long before a first attempt', async () => {
    const old = await numbered(2);
    await admit();
    for (const id of old) await attempt(id, 500);
    await store.rows(
      `UPDATE webhook_deliveries SET next_step_at = now() - interval '2 minutes'
       WHERE event_id = ANY(:old)`,
      { old },
    );
    await proven(SHOP);
    const other = await store.newMerchant();
    await proven(SHOP, other);
    await numbered(1, SHOP, other);
    expect(await admit(2)).to.equal(1);
    expect(await admittedOf()).to.have.length(1);
  });

  it('to ever more endpoints, round by round, when there are too many for one', async () => {
    await store.rewrite(
      `INSERT INTO events (merchant_id, id, app_code, payment_kind, payment_id, type,
         callback_url, endpoint, body)
       SELECT :merchant_id, gen_random_uuid(), :app_code, 'collection', gen_random_uuid(),
         'transaction.completed', 'http://x/', 'http://' || n || '.example', '{}'
       FROM generate_series(10000, 15100) n`,
      { merchant_id: store.merchantId, app_code: store.merchant.app_code },
    );
    while ((await prepareDeliveries(store.database, 0)) > 0);
    // None of the first is due, so only a round that goes on finds the last one.
    await store.rows(
      `UPDATE webhook_deliveries SET next_step_at = now() + interval '1 day'
       WHERE merchant_id = :merchant_id AND endpoint < 'http://15100'`,
      { merchant_id: store.merchantId },
    );
    const walk: Walk = { after: null, inMs: null };
    const rounds = [];
    for (let round = 0; round < 2; round += 1) {
      rounds.push(await prepareDeliveries(store.database, SLOTS, () => {}, walk));
    }
    expect(rounds).to.deep.equal([0, 1]);
    expect(walk.after).to.equal(null);
  });

  it('one at first to an endpoint that nothing is known of, then ever more', async () => {
    const endpoint = 'http://new.example';
    await numbered(7, endpoint);
    const counts = [];
    for (let round = 0; round < 3; round += 1) {
      counts.push(await admit(SLOTS * 4));
      for (const id of await admittedOf()) await attempt(id, 200);
    }
    expect(counts).to.deep.equal([1, 2, 4]);
  });

  it('one at a time to an endpoint that times out', async () => {
    const ids = await numbered(4);
    await admit();
    for (const id of ids.slice(0, 2)) await attempt(id, null);
    await proven(SHOP, store.merchant, { times_out: true, failures: 1, failing_since: new Date() });
    expect(await admit()).to.equal(1);
    expect(await admit()).to.equal(0);
  });

  it('to half of the slots at once, and to the other half when those in it begin to hang', async () => {
    const hanging = [];
    for (let n = 0; n < SLOTS; n += 1) {
      const owner = await store.newMerchant();
      await proven(SHOP, owner);
      hanging.push({ owner, ids: await numbered(1, SHOP, owner) });
    }
    expect(await admit()).to.equal(SLOTS / 2);
    for (const { ids } of hanging) await makeSlow(ids[0]!);
    // What hangs has moved to the doubtful half. The other half takes as many again.
    const owners = hanging.map(({ owner }) => owner);
    const underWay = async () =>
      (await Promise.all(owners.map((owner) => admittedOf(owner)))).flat().length;
    expect(await admit()).to.equal(SLOTS / 2);
    expect(await underWay()).to.equal(SLOTS);
    expect(await admit()).to.equal(0);
  });

  it('to proven endpoints while unproven ones fill their half', async () => {
    for (let n = 0; n < SLOTS; n += 1) {
      await numbered(1, 'http://new.example', await store.newMerchant());
    }
    expect(await admit()).to.equal(SLOTS / 2);
    const ids = await numbered(2);
    expect(await admit()).to.equal(2);
    expect(await admittedOf()).to.deep.equal(ids);
  });

  it('in turns of the merchants, so that one with much to send is not before all others', async () => {
    const endpoints = ['a', 'b', 'c', 'd'].map((name) => `http://${name}.example`);
    const busy = [await store.newMerchant(), await store.newMerchant()];
    for (const owner of busy) {
      for (const endpoint of endpoints) {
        await proven(endpoint, owner);
        await numbered(1, endpoint, owner);
      }
    }
    const others = [await store.newMerchant(), await store.newMerchant()];
    for (const owner of others) {
      await proven(SHOP, owner);
      await numbered(1, SHOP, owner);
    }
    // Half of 8 slots: one for each of the four merchants.
    expect(await admit(8)).to.equal(4);
    for (const owner of [...busy, ...others]) expect(await admittedOf(owner)).to.have.length(1);
  });

  describe('where the breaker is open', () => {
    it('not at all before a probe is due, and no attempt is spent', async () => {
      const ids = await numbered(2);
      await proven(SHOP, store.merchant, { ...OPEN, probe_at: new Date(Date.now() + 60_000) });
      expect(await admit()).to.equal(0);
      for (const id of ids) {
        expect(await store.deliveryOf(id)).to.include({ attempts: 0, status: 'pending' });
      }
    });

    it('one at a time when a probe is due, and others only after it has succeeded', async () => {
      const ids = await numbered(5);
      await proven(SHOP, store.merchant, OPEN);
      expect(await admit()).to.equal(1);
      expect(await admit()).to.equal(0);
      await attempt(ids[0]!, 500);
      expect(await admit()).to.equal(0);
      await makeProbeDue();
      expect(await admit()).to.equal(1);
      const [probe] = await admittedOf();
      await attempt(probe!, 200);
      const counts = [];
      for (let round = 0; round < 2; round += 1) {
        counts.push(await admit());
        for (const id of await admittedOf()) await attempt(id, 200);
      }
      expect(counts).to.deep.equal([1, 2]);
    });

    it('no probe while a delivery from before the opening is still under way', async () => {
      const ids = await numbered(2);
      await admit(8);
      await proven(SHOP, store.merchant, OPEN);
      expect(await admit()).to.equal(0);
      await attempt(ids[0]!, 500);
      await makeProbeDue();
      expect(await admit()).to.equal(1);
    });

    const makeProbeDue = () =>
      store.rows('UPDATE webhook_endpoints SET probe_at = now() WHERE probe_at > now()');
  });

  it('never above the share when several dispatchers admit at once', async () => {
    await numbered(8);
    const counts = await Promise.all(Array.from({ length: 6 }, () => admit()));
    expect(counts.reduce((sum, count) => sum + count)).to.equal(2);
    expect(await admittedOf()).to.have.length(2);
  });

  it('by the slots of the workers that say that they run', async () => {
    const workers = [randomUUID(), randomUUID()];
    for (const id of workers) await announceWorker(store.database, { id, slots: 16 });
    await numbered(6);
    expect(await admit(8)).to.equal(4);
    await withdrawWorker(store.database, workers[0]!);
    await withdrawWorker(store.database, workers[1]!);
  });

  it('not by the slots of a worker that has not been seen for long', async () => {
    const gone = { id: randomUUID(), slots: 160 };
    await announceWorker(store.database, gone);
    await store.rows(`UPDATE webhook_workers SET seen_at = now() - interval '1 minute'`);
    await numbered(3);
    expect(await admit(8)).to.equal(1);
    await announceWorker(store.database, { id: randomUUID(), slots: 16 });
    expect(await store.countOf('webhook_workers')).to.equal(1);
    await store.rows('DELETE FROM webhook_workers');
  });

  it('not at all when there are none', async () => {
    expect(await admit()).to.equal(0);
    const ref = { merchant_id: store.merchantId, event_id: randomUUID(), step_no: 1 };
    expect(await findDelivery(store.database, ref)).to.equal(null);
  });
});
