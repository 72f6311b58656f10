import { expect } from 'chai';
import { createMetrics } from '../../src/metrics/process-metrics.ts';
import { backendsUnderTest } from '../support/environment.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { type Sample, scrape, sumOf } from '../support/metrics.ts';
import {
  collectionBody,
  eventually,
  PROCESS_TYPES,
  request,
  useService,
} from '../support/world.ts';

for (const backend of backendsUnderTest()) {
  describe(`What a service with its queues in ${backend} counts of a collection`, () => {
    const service = useService({
      backend,
      env: { POLL_FIRST_MS: '60000' },
      workers: PROCESS_TYPES,
      merchant: 'all',
    });
    let shop: FakeMerchant;
    let id: string;
    let samples: Sample[];

    before(async () => {
      shop = await startFakeMerchant();
      const registry = createMetrics(service, 'worker', ['dispatcher', 'webhooks']);
      const { baseUrl } = service;
      const { access } = service.merchant;
      const initiate = `${baseUrl}/collections/checkouts/initiate`;
      const body = collectionBody({ callback_url: shop.url });
      const answer = await request('POST', initiate, { access, body });
      id = answer.body.id;
      await request('GET', `${baseUrl}/collections/checkouts/${id}`, { access });
      await request('GET', `${baseUrl}/collections/checkouts/${id}`, { access: 'wrong' });
      await request('GET', `${baseUrl}/payouts/initiate`, { access });
      await request('GET', `${service.origin}/nowhere/${id}`);
      await eventually('the webhook', async () => shop.webhooksFor(answer.body.ref_no).length > 0);
      samples = await eventually('its attempt', async () => {
        const found = await scrape(registry);
        const name = 'malipo_webhook_attempt_duration_seconds_count';
        return sumOf(found, name, { result: 'delivered' }) === 1 && found;
      });
    });

    after(async () => {
      await shop.close();
    });

    const sum = (name: string, labels: Record<string, string> = {}) => sumOf(samples, name, labels);

    it('the requests, by the pattern of their route', () => {
      const requests = 'malipo_http_request_duration_seconds_count';
      const route = '/collections/checkouts/{checkout_id}';
      expect(sum(requests, { method: 'GET', route, status: '200' })).to.equal(1);
      expect(sum(requests, { method: 'GET', route, status: '401' })).to.equal(1);
      expect(sum(requests, { route: '/collections/checkouts/initiate' })).to.equal(1);
      expect(sum(requests, { route: '/gateway/callbacks/{gateway}/{token}' })).to.equal(1);
      expect(sum(requests, { route: '/payouts/initiate', status: '405' })).to.equal(1);
      expect(sum(requests, { route: 'other', status: '404' })).to.equal(1);
    });

    it('the refusals, by their code', () => {
      expect(sum('malipo_http_refusals_total', { code: 'invalid_token' })).to.equal(1);
      expect(sum('malipo_http_refusals_total', { code: 'path_not_found' })).to.equal(1);
    });

    it('the jobs, by queue and by outcome', () => {
      const jobs = 'malipo_job_duration_seconds_count';
      for (const queue of ['submission-simulator', 'callbacks', 'webhooks']) {
        expect(sum(jobs, { queue, outcome: 'completed' }), queue).to.equal(1);
      }
    });

    it('the calls to the gateway, by result', () => {
      const calls = 'malipo_gateway_call_duration_seconds_count';
      const labels = { gateway: 'simulator', call: 'submit', result: 'acknowledged' };
      expect(sum(calls, labels)).to.equal(1);
    });

    it('its end, by channel and by how that was learned', () => {
      const ended = 'malipo_payments_settled_total';
      expect(sum(ended, { channel: '63902', cause: 'callback' })).to.equal(1);
      expect(sum(ended, { channel: '63903', cause: 'poll' })).to.equal(0);
    });

    it('its end, and how long it took from its acceptance', () => {
      const labels = { kind: 'collection', state: 'completed' };
      expect(sum('malipo_payment_duration_seconds_count', labels)).to.equal(1);
      const seconds = sum('malipo_payment_duration_seconds_sum', labels);
      expect(seconds).to.be.above(0).and.below(60);
    });

    it('and that nothing of it is left in the whole service', () => {
      expect(sum('malipo_database_up')).to.equal(1);
      expect(sum('malipo_queue_backend_up')).to.equal(1);
      expect(sum('malipo_payments_open')).to.equal(0);
      expect(sum('malipo_queue_workers', { queue: 'webhooks' })).to.equal(1);
      expect(sum('malipo_reading_failures_total')).to.equal(0);
    });

    it('and a 0 for what has not happened, so that the first event is a rise', () => {
      const attempts = 'malipo_webhook_attempt_duration_seconds_count';
      expect(sum(attempts, { result: 'exhausted' })).to.equal(0);
      const ended = 'malipo_payment_duration_seconds_count';
      expect(sum(ended, { kind: 'payout', state: 'failed' })).to.equal(0);
    });

    it('by merchant, which nothing else is, and without naming an app, a payment or an account', () => {
      const named = { merchant: String(service.merchantId), state: 'completed' };
      expect(sum('malipo_merchant_payment_duration_seconds_count', named)).to.equal(1);
      const forbidden = [String(service.merchantId), String(service.merchant.app_code), id, '2547'];
      for (const { name, labels } of samples) {
        const { merchant: _, ...others } = labels;
        const isByMerchant = name.startsWith('malipo_merchant_payment_duration_seconds');
        for (const text of Object.values(isByMerchant ? others : labels)) {
          expect(forbidden, `${name} ${text}`).not.to.satisfy((words: string[]) =>
            words.some((word) => text.includes(word)),
          );
        }
      }
    });

    it('with the name of the process, and the state of that process', () => {
      expect(samples.every(({ labels }) => labels.process === 'worker')).to.equal(true);
      expect(sum('malipo_build_info', { type: 'dispatcher' })).to.equal(1);
      expect(sum('malipo_database_pool_limit')).to.equal(10);
      expect(sum('process_resident_memory_bytes')).to.be.above(0);
      expect(sum('nodejs_eventloop_lag_p99_seconds')).to.be.a('number');
    });
  });
}
