import { expect } from 'chai';
import { RETRY_DELAYS_MS } from '../../src/domain/webhooks/delivery.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { flowBackends } from '../support/matrix.ts';
import { eventually, PROCESS_TYPES, request, useService } from '../support/world.ts';

const AT_ONCE = 50;
const WEBHOOKS_COUNT = 3;
const ATTEMPTS_COUNT = RETRY_DELAYS_MS.length + 1;
const LONG_AGO = '2020-01-01T00:00:00Z';
/** All attempts of a ladder, on a busy machine. */
const LADDER_MS = 50_000;

interface Event {
  id: string;
  sequence: number;
  payload: { data: { ref_no: string } };
}

for (const backend of flowBackends('postgres')) {
  describe(`A merchant that catches up, with the queues in ${backend}`, () => {
    const service = useService({
      backend,
      env: { WEBHOOK_TIMEOUT_MS: '10000' },
      workers: PROCESS_TYPES,
    });
    let shop: FakeMerchant;

    beforeEach(async () => {
      shop = await startFakeMerchant();
    });

    afterEach(() => shop.close());

    async function collect(count: number): Promise<void> {
      const answers = await Promise.all(
        Array.from({ length: count }, () => service.client.initiate({ callback_url: shop.url })),
      );
      for (const { status, body } of answers) expect(status, JSON.stringify(body)).to.equal(200);
    }

    const countOf = async (status: string): Promise<number> =>
      (await service.client.get(`/webhooks/deliveries?status=${status}&page_size=1`)).body.count;
    const become = (status: string, count: number) =>
      eventually(`${count} to be ${status}`, async () => (await countOf(status)) === count);

    /** Lets the time pass that the merchant's webhooks and its endpoint wait for. */
    async function passTime(): Promise<void> {
      await service.rows(
        `WITH probed AS (
           UPDATE webhook_endpoints SET probe_at = now()
           WHERE merchant_id = :merchant_id AND breaker = 'open' AND probe_at > now()
         )
         UPDATE webhook_deliveries SET next_step_at = now()
         WHERE merchant_id = :merchant_id AND admitted_at IS NULL AND next_step_at > now()`,
        { merchant_id: service.merchantId },
      );
    }

    async function giveUp(count: number): Promise<void> {
      await become('pending', count);
      await eventually(
        'all to be given up',
        async () => {
          await passTime();
          return (await countOf('exhausted')) === count;
        },
        LADDER_MS,
      );
    }

    async function readFeed(pageSize: number): Promise<Event[]> {
      const events: Event[] = [];
      let address: string | null = `${service.baseUrl}/events?page_size=${pageSize}`;
      while (address !== null) {
        const { body } = await request('GET', address, { access: service.merchant.access });
        events.push(...body.results);
        address = body.next;
      }
      return events;
    }

    /** The bodies that came under each webhook-id. */
    function received(): Map<string, string[]> {
      const bodies = new Map<string, string[]>();
      for (const { headers, body } of shop.received) {
        const id = String(headers['webhook-id']);
        bodies.set(id, [...(bodies.get(id) ?? []), body]);
      }
      return bodies;
    }

    /** Lets the receiver keep all callers waiting until they are released. */
    function holdAnswers(): () => void {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      shop.answerWith(() => released.then(() => 200));
      return release;
    }

    it('was away for the whole ladder: the feed has each event once, as it was sent', async () => {
      shop.answerWith(() => 500);
      await collect(WEBHOOKS_COUNT);
      await giveUp(WEBHOOKS_COUNT);
      const events = await readFeed(2);
      expect(events.map(({ sequence }) => sequence)).to.deep.equal([1, 2, 3]);
      const bodies = received();
      expect([...bodies.keys()]).to.have.members(events.map(({ id }) => id));
      for (const { id, payload } of events) {
        expect(bodies.get(id)).to.have.length(ATTEMPTS_COUNT);
        for (const body of bodies.get(id)!) expect(JSON.parse(body)).to.deep.equal(payload);
        const { body: detail } = await service.client.get(`/webhooks/deliveries/${id}`);
        expect(detail).to.include({ status: 'exhausted', attempts: ATTEMPTS_COUNT });
        expect(detail.attempts_made).to.have.length(ATTEMPTS_COUNT);
      }
      const { body } = await service.client.get('/webhooks/endpoints');
      expect(body.results[0]).to.include({ state: 'held', last_status: 500 });

      const release = holdAnswers();
      const ids = events.map(({ id }) => id);
      const answers = await Promise.all([
        ...[1, 2].map(() => service.client.post('/webhooks/recover', { since: LONG_AGO })),
        ...[...ids, ...ids].map((id) =>
          service.client.post(`/webhooks/deliveries/${id}/resend`, {}),
        ),
      ]);
      for (const { status } of answers) expect(status).to.equal(200);
      const resent = answers.reduce((sum, answer) => sum + Number(answer.body.resent), 0);
      expect(resent, 'each by one request').to.equal(WEBHOOKS_COUNT);
      release();
      await become('delivered', WEBHOOKS_COUNT);
      for (const copies of received().values()) {
        expect(copies).to.have.length(ATTEMPTS_COUNT + 1);
        expect(new Set(copies).size, 'all are the same').to.equal(1);
      }
    });

    it('reads without a gap while fifty payments end at once', async () => {
      const seen: Event[] = [];
      await Promise.all([
        collect(AT_ONCE),
        eventually('the last event', async () => {
          const after = seen.at(-1)?.sequence ?? 0;
          const { body } = await service.client.get(`/events?after=${after}&page_size=7`);
          seen.push(...body.results);
          return seen.length >= AT_ONCE;
        }),
      ]);
      expect(seen.map(({ sequence }) => sequence)).to.deep.equal(
        Array.from({ length: AT_ONCE }, (_, n) => n + 1),
      );
      await become('delivered', AT_ONCE);
      expect([...received().keys()]).to.have.members(seen.map(({ id }) => id));
    });
  });
}
