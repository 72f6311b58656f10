import { expect } from 'chai';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { listFailedJobs } from '../../src/domain/support/failed-job-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { countWaitingJobs } from '../../src/jobs/failed-jobs.ts';
import { STEP_TABLES } from '../../src/jobs/job-types.ts';
import { keepCallback } from '../support/callbacks.ts';
import { newEvent } from '../support/events.ts';
import { failedPayout, failJob, replay } from '../support/failed-jobs.ts';
import { plansOf } from '../support/plans.ts';
import {
  ACKNOWLEDGED,
  learn,
  newPayment,
  PAYMENT_KINDS,
  succeeded,
  useStore,
  workOn,
} from '../support/world.ts';

describe('The count of failed jobs that wait for somebody', () => {
  const store = useStore({ fresh: true });

  it('is of those that the list shows as waiting, of all kinds of rows', async () => {
    const { database } = store;
    for (const kind of PAYMENT_KINDS) {
      const payment = await newPayment(kind, database, store.merchant);
      const work = workOn(database, payment);
      const claim = await work.claim();
      await failJob(database, kind, payment.id);
      // Late: the payment stays parked, and its step takes the next number.
      await work.answer(claim, ACKNOWLEDGED);
      if (kind !== 'payout') continue;
      const callback = await keepCallback(database, 'simulator', refOf(payment), '{}');
      await failJob(database, 'callback', callback);
    }
    const event = await newEvent(database, store.merchant);
    await prepareDeliveries(database, 0);
    await failJob(database, 'webhook', event);

    const moved = await failedPayout(database, store.merchant);
    await learn(database, moved.payout, succeeded());
    await replay(database, (await failedPayout(database, store.merchant)).job);
    const again = await failedPayout(database, store.merchant);
    await replay(database, again.job);
    await failJob(database, 'payout', again.payout.id);
    const other = await failedPayout(database, store.merchant);
    await rows(
      database,
      `UPDATE payouts SET parked_reason = 'discrepancy: x' WHERE merchant_id = :merchant_id AND id = :id`,
      { ...store.merchant, id: other.payout.id },
    );

    const counted = await countWaitingJobs(database);
    expect(counted).to.have.deep.members(
      Object.keys(STEP_TABLES).map((kind) => ({
        queue: `queue-of-${kind}`,
        count: kind === 'payout' ? 2 : 1,
      })),
    );
    const page = { order: 'newest first', limit: 100 } as const;
    const listed = await listFailedJobs(database, { state: 'waiting' }, page);
    expect(listed).to.have.length(counted.reduce((sum, { count }) => sum + count, 0));
  });

  it('goes from the parked rows to their failed jobs, however many of those have moved on', async () => {
    const { database, owner, config } = store;
    await rows(
      database,
      `INSERT INTO failed_jobs (queue, kind, step, merchant_id, row_id, step_no, error)
       SELECT 'queue', 'payout', 'submit', :merchant_id, gen_random_uuid(), 1, 'bug'
       FROM generate_series(1, 5000)`,
      { ...store.merchant },
    );
    // The tables are empty here: as if they were large.
    await owner.raw(`
      DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database());
      END $$;
      ANALYZE failed_jobs`);
    const asLarge = openDatabase(config.databaseUrl, 2);
    const [plan] = await plansOf(asLarge, () => countWaitingJobs(asLarge));
    await asLarge.destroy();
    const indexes = [
      ...plan!.matchAll(/ Scan (?:Backward using|using|on) (\w+_(?:parked|key))\b/g),
    ];
    expect(new Set(indexes.map(([, name]) => name))).to.deep.equal(
      new Set([
        ...Object.values(STEP_TABLES).map(({ table }) => `${table}_parked`),
        'failed_jobs_merchant_id_kind_row_id_step_no_key',
      ]),
    );
    expect(plan).to.not.include('Seq Scan');
  });
});
