import { expect } from 'chai';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import {
  countRecoverable,
  type Recovery,
  recoverDeliveries,
} from '../../src/domain/webhooks/recover-deliveries.ts';
import { resendWebhook } from '../../src/domain/webhooks/resend-webhook.ts';
import { endpointOf, makeEndpoint, OPEN } from '../support/endpoints.ts';
import { newEvent } from '../support/events.ts';
import { useStore } from '../support/world.ts';

const SHOP = 'http://shop.example';
const LIMIT = 100;
const LONG_AGO = new Date('2026-01-01T00:00:00Z');

describe('Recovering webhooks', () => {
  const store = useStore();

  async function webhook(status: string, { owner = store.merchant, endpoint = SHOP } = {}) {
    const id = await newEvent(store.database, owner, `${endpoint}/hook`);
    await prepareDeliveries(store.database, 0);
    const ended = status !== 'pending';
    await store.rows(
      `UPDATE webhook_deliveries SET status = :status, attempts = 3,
         next_step = CASE WHEN :ended THEN NULL ELSE next_step END,
         next_step_at = CASE WHEN :ended THEN NULL ELSE now() + interval '1 hour' END,
         delivered_at = CASE WHEN :status = 'delivered' THEN now() END
       WHERE event_id = :id`,
      { id, status, ended },
    );
    return id;
  }

  const run = (recovery: Partial<Recovery> = {}, options: object = {}) =>
    store.transaction((trx) =>
      recoverDeliveries(
        trx,
        { merchant_id: store.merchantId, since: LONG_AGO, ...recovery },
        { limit: LIMIT, ...options },
      ),
    );

  const recover = async (recovery: Partial<Recovery> = {}, limit = LIMIT) =>
    (await run(recovery, { limit })).resent;

  const isDue = async (id: string) => {
    const { status, next_step, next_step_at } = await store.deliveryOf(id);
    return status === 'pending' && next_step === 'deliver' && next_step_at! <= new Date();
  };

  it('sends those again that were given up, and those whose next attempt is not due', async () => {
    const ids = [await webhook('exhausted'), await webhook('pending')];
    const stopped = await webhook('stopped');
    const taken = await webhook('delivered');
    const recovery = { merchant_id: store.merchantId, since: LONG_AGO };
    expect(await countRecoverable(store.database, recovery, LIMIT)).to.equal(2);
    expect(await countRecoverable(store.database, recovery, 1), 'up to a limit').to.equal(1);
    expect(await recover()).to.equal(2);
    for (const id of ids) expect(await isDue(id)).to.equal(true);
    expect(await store.deliveryOf(taken)).to.include({ status: 'delivered' });
    expect(await store.deliveryOf(stopped)).to.include({ status: 'stopped' });
    expect(await recover()).to.equal(0);
  });

  it('leaves alone what is due or under way', async () => {
    const id = await webhook('exhausted');
    await recover();
    const due = await store.deliveryOf(id);
    expect(await recover()).to.equal(0);
    await prepareDeliveries(store.database, 1_000);
    expect(await recover()).to.equal(0);
    expect((await store.deliveryOf(id)).step_no).to.equal(due.step_no + 1);
  });

  it('leaves alone what is another merchant’s, another endpoint’s, or of another time', async () => {
    const id = await webhook('exhausted');
    await webhook('exhausted', { owner: await store.newMerchant() });
    await webhook('exhausted', { endpoint: 'http://other.example' });
    const later = new Date(Date.now() + 60_000);
    expect(await recover({ since: later })).to.equal(0);
    expect(await recover({ until: LONG_AGO })).to.equal(0);
    expect(await recover({ endpoint: SHOP, until: later })).to.equal(1);
    expect(await isDue(id)).to.equal(true);
  });

  it('sends the oldest first, so many at most', async () => {
    const ids = [
      await webhook('exhausted'),
      await webhook('exhausted'),
      await webhook('exhausted'),
    ];
    expect(await recover({}, 2)).to.equal(2);
    expect(await Promise.all(ids.map(isDue))).to.deep.equal([true, true, false]);
  });

  it('does not put off again what waits for its turn after it was sent again', async () => {
    const id = await webhook('exhausted');
    const later = async () => (await run({}, { delayMs: 60_000 })).resent;
    expect(await later()).to.equal(1);
    const waiting = await store.deliveryOf(id);
    expect(waiting.next_step_at!.getTime()).to.be.above(Date.now());
    expect(await later()).to.equal(0);
    expect(await recover()).to.equal(0);
    expect(await store.deliveryOf(id)).to.deep.equal(waiting);
  });

  describe('when the breaker of an endpoint is open', () => {
    const probe_at = new Date(Date.now() + 600_000);
    const hold = (endpoint: string, owner = store.merchant) =>
      makeEndpoint(store.database, owner.merchant_id, endpoint, { ...OPEN, probe_at });
    const isProbed = async (endpoint: string, owner = store.merchant) =>
      (await endpointOf(store.database, owner.merchant_id, endpoint))!.probe_at! < probe_at;

    async function due() {
      const id = await store.newEvent(`${SHOP}/hook`);
      await prepareDeliveries(store.database, 0);
      expect(await isDue(id)).to.equal(true);
      return id;
    }

    it('has it probed at once', async () => {
      await webhook('exhausted');
      await hold(SHOP);
      expect(await run()).to.deep.equal({ resent: 1, probed: 1 });
      expect(await isProbed(SHOP)).to.equal(true);
    });

    it('has it probed at once, also when all that waits is due and nothing is sent again', async () => {
      const id = await due();
      await hold(SHOP);
      expect(await run()).to.deep.equal({ resent: 0, probed: 1 });
      expect(await isProbed(SHOP)).to.equal(true);
      await hold(SHOP);
      const resend = () => store.transaction((trx) => resendWebhook(trx, id));
      expect(await resend()).to.include({ isResent: false, isProbed: true });
      expect(await isProbed(SHOP)).to.equal(true);
      expect(await resend(), 'once').to.include({ isResent: false, isProbed: false });
    });

    it('has no other probed: of another merchant, or not the one that is named', async () => {
      const [other, owner] = ['http://other.example', await store.newMerchant()];
      for (const endpoint of [SHOP, other]) await hold(endpoint);
      await hold(SHOP, owner);
      expect(await run({ endpoint: SHOP })).to.include({ probed: 1 });
      expect(await isProbed(other)).to.equal(false);
      expect(await run()).to.include({ probed: 1 });
      expect(await isProbed(SHOP, owner)).to.equal(false);
    });
  });

  it('sends each once, when it is asked for many times while each is sent again by itself', async () => {
    const ids = [];
    for (let n = 0; n < 6; n += 1) ids.push(await webhook('exhausted'));
    const before = await Promise.all(ids.map((id) => store.deliveryOf(id)));
    await Promise.all([
      ...ids.map((id) => store.transaction((trx) => resendWebhook(trx, id))),
      ...[1, 2, 3].map(() => recover()),
    ]);
    for (const [index, id] of ids.entries()) {
      const { step_no } = await store.deliveryOf(id);
      expect(step_no).to.equal(before[index]!.step_no + 1);
    }
  });
});
