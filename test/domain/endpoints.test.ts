import { expect } from 'chai';
import {
  findDelivery,
  RETRY_DELAYS_MS,
  recordAttempt,
} from '../../src/domain/webhooks/delivery.ts';
import { OPENS_AFTER } from '../../src/domain/webhooks/endpoint.ts';
import { giveUpWaiting, prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { endpointOf, OPEN } from '../support/endpoints.ts';
import { outcomeOf } from '../support/events.ts';
import { useStore } from '../support/world.ts';

const SHOP = 'http://shop.example';
const SLOTS = 64;

describe('What is recorded of a receiver', () => {
  const store = useStore();

  const shop = () => store.endpointOf(SHOP);

  async function newDelivery(): Promise<string> {
    const id = await store.newEvent(`${SHOP}/hook`);
    await prepareDeliveries(store.database, 0);
    return id;
  }

  /** Makes an attempt of a delivery, as if its time and that of a probe had come. */
  async function attempt(id: string, status: number | null) {
    await store.makeDue(id);
    await prepareDeliveries(store.database, SLOTS);
    const { step_no } = await store.deliveryOf(id);
    const ref = { merchant_id: store.merchantId, event_id: id, step_no };
    const delivery = await findDelivery(store.database, ref);
    return recordAttempt(
      store.database,
      delivery!,
      outcomeOf({ status, timedOut: status === null, error: status === null ? 'timeout' : null }),
    );
  }

  async function fail(times: number): Promise<string> {
    const id = await newDelivery();
    for (let n = 0; n < times; n += 1) await attempt(id, 503);
    return id;
  }

  const noticesOf = async () =>
    (
      await store.rows<{ kind: string }>(
        'SELECT kind FROM webhook_notices WHERE merchant_id = :merchant_id ORDER BY id',
        { merchant_id: store.merchantId },
      )
    ).map(({ kind }) => kind);

  it('is nothing before the first attempt', async () => {
    await newDelivery();
    expect(await shop()).to.equal(undefined);
  });

  it('is the last success and the last failure, with what failed', async () => {
    await attempt(await newDelivery(), 200);
    const well = (await shop())!;
    expect(well).to.include({ breaker: 'closed', concurrency: 2, failures: 0, last_error: null });
    await attempt(await newDelivery(), null);
    const failing = (await shop())!;
    expect(failing).to.include({ failures: 1, last_error: 'timeout', times_out: true });
    expect(failing.last_success_at).to.deep.equal(well.last_success_at);
    expect(failing.failing_since).to.deep.equal(failing.last_failure_at);
  });

  it('is that it works when it answers 410', async () => {
    await fail(2);
    await attempt(await newDelivery(), 410);
    expect(await shop()).to.include({ failures: 0 });
  });

  it('belongs to one merchant, though others use the same address', async () => {
    await fail(OPENS_AFTER);
    const other = await store.newMerchant();
    expect(await shop()).to.include({ breaker: 'open' });
    expect(await endpointOf(store.database, other.merchant_id, SHOP)).to.equal(undefined);
  });

  it('counts an attempt once, though two jobs made it', async () => {
    const id = await newDelivery();
    await prepareDeliveries(store.database, SLOTS);
    const { step_no } = await store.deliveryOf(id);
    const ref = { merchant_id: store.merchantId, event_id: id, step_no };
    const delivery = (await findDelivery(store.database, ref))!;
    await Promise.all(
      [1, 2, 3].map(() => recordAttempt(store.database, delivery, outcomeOf({ status: 503 }))),
    );
    expect(await shop()).to.include({ failures: 1 });
  });

  it('counts every one of many failures at once', async () => {
    await store.makeEndpoint(SHOP);
    const ids = [];
    for (let n = 0; n < 4; n += 1) ids.push(await newDelivery());
    await prepareDeliveries(store.database, SLOTS);
    await Promise.all(
      ids.map(async (event_id) => {
        const { step_no } = await store.deliveryOf(event_id);
        const ref = { merchant_id: store.merchantId, event_id, step_no };
        const delivery = await findDelivery(store.database, ref);
        await recordAttempt(store.database, delivery!, outcomeOf({ status: 500 }));
      }),
    );
    expect(await shop()).to.include({ failures: 4, concurrency: 2 });
  });

  it('is not written when a receiver that has worked for long goes on working', async () => {
    await store.makeEndpoint(SHOP);
    const before = await shop();
    await attempt(await newDelivery(), 200);
    expect(await shop()).to.deep.equal(before);
  });

  describe('is told', () => {
    it('once when the breaker opens, however many deliveries fail', async () => {
      await fail(OPENS_AFTER + 2);
      await fail(2);
      expect(await noticesOf()).to.deep.equal(['failing']);
    });

    it('when it has recovered, after some time', async () => {
      const id = await fail(OPENS_AFTER);
      await attempt(id, 200);
      expect(await noticesOf()).to.deep.equal(['failing', 'recovered']);
      const [{ later }] = (await store.rows(
        `SELECT send_at > now() + interval '9 minutes' AS later FROM webhook_notices
         WHERE merchant_id = :merchant_id AND kind = 'recovered'`,
        { merchant_id: store.merchantId },
      )) as [{ later: boolean }];
      expect(later).to.equal(true);
    });

    it('not again when it fails soon after it had recovered', async () => {
      const id = await fail(OPENS_AFTER);
      await attempt(id, 200);
      await fail(OPENS_AFTER);
      expect(await noticesOf()).to.deep.equal(['failing']);
      await attempt(await newDelivery(), 200);
      expect(await noticesOf()).to.deep.equal(['failing', 'recovered']);
    });

    it('again when it fails after its recovery was told', async () => {
      const id = await fail(OPENS_AFTER);
      await attempt(id, 200);
      await store.rows('UPDATE webhook_notices SET send_at = now(), sent_at = now()');
      await fail(OPENS_AFTER);
      expect(await noticesOf()).to.deep.equal(['failing', 'recovered', 'failing']);
    });

    it('not by a notice that is taken back while it is being sent', async () => {
      const id = await fail(OPENS_AFTER);
      await attempt(id, 200);
      await store.rows(
        `UPDATE webhook_notices SET tries = 1, send_at = now() + interval '1 minute'
         WHERE merchant_id = :merchant_id AND kind = 'recovered'`,
        { merchant_id: store.merchantId },
      );
      await fail(OPENS_AFTER);
      expect(await noticesOf()).to.deep.equal(['failing', 'recovered', 'failing']);
    });

    it('once in an outage that deliveries were given up', async () => {
      await fail(RETRY_DELAYS_MS.length + 1);
      await fail(RETRY_DELAYS_MS.length + 1);
      expect(await noticesOf()).to.deep.equal(['failing', 'exhausted']);
    });
  });

  describe('with its breaker open', () => {
    it('lets a delivery wait for a week without an attempt, and then gives it up', async () => {
      const [young, old] = [await newDelivery(), await newDelivery()];
      await store.makeEndpoint(SHOP, {
        ...OPEN,
        probe_at: new Date(Date.now() + 60_000),
      });
      const wait = (id: string, days: number) =>
        store.rows(
          `UPDATE webhook_deliveries SET next_step_at = now() - :days * interval '1 day'
           WHERE event_id = :id`,
          { id, days },
        );
      await wait(young, 6);
      await wait(old, 8);
      expect(await giveUpWaiting(store.database)).to.equal(1);
      expect(await giveUpWaiting(store.database)).to.equal(0);
      expect(await store.deliveryOf(old)).to.include({
        ...{ status: 'exhausted', attempts: 0, next_step: null },
      });
      expect(await store.deliveryOf(young)).to.include({ status: 'pending' });
      expect(await noticesOf()).to.deep.equal(['exhausted']);
    });

    it('gives up nothing where it is closed', async () => {
      const id = await newDelivery();
      await store.makeEndpoint(SHOP);
      await store.rows(
        `UPDATE webhook_deliveries SET next_step_at = now() - interval '30 days'
         WHERE event_id = :id`,
        { id },
      );
      expect(await giveUpWaiting(store.database)).to.equal(0);
    });
  });
});
