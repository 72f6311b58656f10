import { expect } from 'chai';
import { installationId } from '../../src/connections/migrations.ts';
import { queueBackendOf } from '../../src/jobs/backend.ts';
import { allQueues } from '../../src/jobs/job-types.ts';
import { emptyQueues } from '../../src/jobs/queue-reader.ts';
import { clientOf } from '../support/api-client.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { scrape, sumOf } from '../support/metrics.ts';
import { describeWith } from '../support/programs.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const REDIS_DATABASE = 15;
const PAYMENTS_COUNT = 10;
/** Neither sweeper nor question helps: a job that another installation has taken is gone. */
const NOTHING_HELPS = { SWEEP_GRACE_MS: '600000', POLL_FIRST_MS: '600000' };

describeWith(['redis-server'], 'Two installations on one Redis', () => {
  let services: TestService[];
  let shop: FakeMerchant;

  before(async () => {
    const REDIS_URL = `${environment.redisUrl}/${REDIS_DATABASE}`;
    const env = { REDIS_URL, ...NOTHING_HELPS };
    services = [await startTestService({ env }), await startTestService({ env })];
    shop = await startFakeMerchant();
  });

  after(async () => {
    await shop?.close();
    await Promise.all((services ?? []).map((service) => service.close()));
  });

  const jobsOf = async (service: TestService, outcome: string) =>
    sumOf(await scrape(service.meters.registry), 'malipo_job_duration_seconds_count', {
      outcome,
    }) ?? 0;

  async function play(service: TestService): Promise<void> {
    const client = clientOf(service, await createTestMerchant(service));
    const sent = Array.from({ length: PAYMENTS_COUNT }, () =>
      client.initiate({ callback_url: shop.url }),
    );
    for (const { body } of await Promise.all(sent)) {
      await eventually('its webhook', async () => shop.webhooksFor(body.ref_no).length > 0);
    }
  }

  it('run their payments at once, and no job of the other', async () => {
    await Promise.all(services.map(play));
    const ids = new Set(
      await Promise.all(services.map(({ database }) => installationId(database))),
    );
    expect(ids.size).to.equal(2);
    for (const service of services) {
      // Of each: submission, callback and webhook.
      const isDone = async () => (await jobsOf(service, 'completed')) === 3 * PAYMENTS_COUNT;
      await eventually('every job to be counted', isDone);
      expect(await jobsOf(service, 'no_row')).to.equal(0);
      await expectRightBooks(service.database);
    }
  });

  it('empty only their own queues', async () => {
    const [one, other] = services as [TestService, TestService];
    const add = async (service: TestService) => {
      const queue = (await queueBackendOf(service)).createQueue('refunds');
      const data = {
        kind: 'payout',
        step: 'refund',
        merchant_id: 1,
        row_id: 'a',
        step_no: 1,
      } as const;
      queue.on('error', () => {});
      await queue.waitUntilReady();
      await queue.add('later', data, { jobId: 'later', delay: 600_000 });
      return queue;
    };
    const [queue, otherQueue] = [await add(one), await add(other)];
    const emptied = await emptyQueues(await queueBackendOf(one), allQueues(['simulator']));
    expect(emptied.filter(({ jobs }) => jobs > 0)).to.deep.equal([{ queue: 'refunds', jobs: 1 }]);
    expect(await otherQueue.getDelayedCount()).to.equal(1);
    await otherQueue.remove('later');
    await Promise.all([queue.close(), otherQueue.close()]);
  });
});
