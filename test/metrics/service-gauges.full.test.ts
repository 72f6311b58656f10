import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { recordFailedJob } from '../../src/jobs/failed-jobs.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { DATABASE_GAUGES } from '../../src/metrics/database-gauges.ts';
import { makeOverdue } from '../support/discrepancies/scene.ts';
import { OPEN } from '../support/endpoints.ts';
import { failJob } from '../support/failed-jobs.ts';
import { type Sample, sumOf, watch } from '../support/metrics.ts';
import { ACKNOWLEDGED, AMOUNT_CENTS, failed, succeeded, useStore } from '../support/world.ts';

const DAY_SECONDS = 86_400;

describe('What dispatchers show of the whole service', () => {
  const store = useStore({ fresh: true });
  let watching: ReturnType<typeof watch>;
  let before: Sample[];

  beforeEach(async () => {
    watching = watch(store.parts());
    before = await watching.scrape();
  });

  afterEach(async () => {
    await watching.close();
  });

  const query = (sql: string, bindings: Record<string, unknown> = {}) => store.rows(sql, bindings);

  /** Returns the value of a metric before the test, and now. */
  async function change(name: string, labels: Record<string, string> = {}) {
    return [sumOf(before, name, labels), sumOf(await watching.scrape(), name, labels)];
  }

  for (const kind of ['collection', 'payout', 'reversal', 'return'] as const) {
    it(`an open ${kind}, its age, and that it is overdue or parked`, async () => {
      const payment = await store.newPayment(kind);
      const labels = { kind };
      expect(await change('malipo_payments_open', labels)).to.deep.equal([0, 1]);
      expect(await change('malipo_payments_overdue', labels)).to.deep.equal([0, 0]);
      await store.rewrite(
        `UPDATE ${kind}s SET deadline_at = now() - interval '1 second',
           created_at = now() - interval '1 day' WHERE id = :id`,
        { id: payment.id },
      );
      await changeStep(store.database, refOf(payment), { park: 'for a reason' });
      expect(await change('malipo_payments_overdue', labels)).to.deep.equal([0, 1]);
      expect(await change('malipo_payments_parked', labels)).to.deep.equal([0, 1]);
      const [, age] = await change('malipo_payments_oldest_open_seconds', labels);
      expect(age).to.be.within(DAY_SECONDS, DAY_SECONDS + 60);
    });
  }

  it('every gauge, and without a value only those that have none while nothing is wrong', () => {
    const names = Object.values(DATABASE_GAUGES).flatMap(({ gauges }) => Object.keys(gauges));
    expect(names.filter((name) => sumOf(before, name) === undefined)).to.deep.equal([
      'malipo_failed_jobs',
      'malipo_discrepancies_open',
      'malipo_discrepancies_oldest_seconds',
      'malipo_operator_troubles',
      'malipo_gateway_float_cents',
      'malipo_gateway_float_age_seconds',
      'malipo_balance_told',
      'malipo_balance_difference_cents',
      'malipo_balance_differs_seconds',
      'malipo_ledger_breaks',
    ]);
  });

  it('a command beside the service, and what another role than the service has done', async () => {
    const insert = `INSERT INTO audit_log (id, actor, action, subject, reason, door, address)
      VALUES (gen_random_uuid(), 'amina', 'app.update', 'app 1', 'because', :door, :address)`;
    const count = () => change('malipo_break_glass_commands');
    await query(insert, { door: 'console', address: '127.0.0.1' });
    await query(insert, { door: 'command line', address: '127.0.0.1' });
    expect(await count()).to.deep.equal([0, 0]);
    await query(insert, { door: 'command line', address: 'amina@laptop' });
    expect(await count()).to.deep.equal([0, 1]);
    await store.rewrite(insert, { door: 'console', address: '127.0.0.1' });
    expect(await count()).to.deep.equal([0, 2]);
  });

  it('not those payments that have ended', async () => {
    await store.learn(await store.newCollection(), succeeded());
    await store.learn(await store.newCollection(), failed());
    await store.rewrite(`UPDATE collections SET deadline_at = now() - interval '1 second'`);
    for (const name of ['open', 'overdue', 'oldest_open_seconds']) {
      expect(await change(`malipo_payments_${name}`), name).to.deep.equal([0, 0]);
    }
  });

  it('what waits in the outbox, and what is due and not done', async () => {
    await store.newCollection();
    expect(await change('malipo_outbox_rows')).to.deep.equal([0, 1]);
    await store.rewrite(`UPDATE outbox SET run_at = run_at - interval '1 day'`);
    await query(`UPDATE collections SET next_step_at = next_step_at - interval '1 day'`);
    const labels = { kind: 'collection' };
    expect(await change('malipo_steps_due', labels)).to.deep.equal([0, 1]);
    for (const name of ['malipo_outbox_lag_seconds', 'malipo_steps_oldest_due_seconds']) {
      const [was, is] = await change(name);
      expect(was, name).to.equal(0);
      expect(is, name).to.be.within(DAY_SECONDS, DAY_SECONDS + 60);
    }
  });

  it('a job that failed for good, until its row moves on', async () => {
    const collection = await store.newCollection();
    const { kind, id: row_id, step_no } = collection;
    const data = {
      kind,
      step: 'submit',
      merchant_id: store.merchantId,
      row_id,
      step_no,
    } as const;
    await recordFailedJob(store.database, 'submission-simulator', data, new Error('a bug'));
    const labels = { queue: 'submission-simulator' };
    expect(await change('malipo_failed_jobs', labels)).to.deep.equal([undefined, 1]);
    const next = { next: 'submit', queue: 'submission-simulator', delayMs: 0 } as const;
    await changeStep(store.database, refOf(collection), next);
    expect(await change('malipo_failed_jobs', labels)).to.deep.equal([undefined, undefined]);
  });

  it('a failed job that still waits after late news, and behind many that have moved on', async () => {
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    const claim = await work.claim();
    await failJob(store.database, 'collection', collection.id);
    await work.answer(claim, ACKNOWLEDGED);
    await query(
      `INSERT INTO failed_jobs (queue, kind, step, merchant_id, row_id, step_no, error)
       SELECT 'polling', 'collection', 'poll', :merchant_id, gen_random_uuid(), 1, 'bug'
       FROM generate_series(1, 1001)`,
      { ...store.merchant },
    );
    const { status, parked_reason } = await work.current();
    expect([status, parked_reason]).to.deep.equal(['processing', 'job failed: bug']);
    expect(await change('malipo_failed_jobs')).to.deep.equal([undefined, 1]);
  });

  it('an event until it is numbered, and then its delivery', async () => {
    await store.newEvent();
    await store.rewrite(`UPDATE events SET created_at = now() - interval '1 day'`);
    expect(await change('malipo_events_unnumbered')).to.deep.equal([0, 1]);
    const [, age] = await change('malipo_events_oldest_unnumbered_seconds');
    expect(age).to.be.within(DAY_SECONDS, DAY_SECONDS + 60);
    await prepareDeliveries(store.database, 0);
    expect(await change('malipo_events_unnumbered')).to.deep.equal([0, 0]);
    expect(await change('malipo_webhook_deliveries', { state: 'due' })).to.deep.equal([0, 1]);
    expect(await change('malipo_steps_due', { kind: 'webhook' })).to.deep.equal([0, 1]);
  });

  it('an endpoint that does not work, and for how long while webhooks wait for it', async () => {
    const open = 'malipo_webhook_endpoints_open';
    const age = 'malipo_webhook_endpoints_oldest_open_seconds';
    const failing_since = new Date(Date.now() - DAY_SECONDS * 1_000);
    const state = { ...OPEN, failing_since };
    await store.makeEndpoint('http://shop.example', state);
    expect(await change(open)).to.deep.equal([0, 0]);
    expect(await change(age)).to.deep.equal([0, 0]);
    await store.newEvent();
    await prepareDeliveries(store.database, 0);
    expect(await change(open)).to.deep.equal([0, 1]);
    const [, seconds] = await change(age);
    expect(seconds).to.be.within(DAY_SECONDS, DAY_SECONDS + 60);
  });

  it('a discrepancy until it is resolved, with its age', async () => {
    const collection = await store.newCollection();
    await makeOverdue({ database: store.database, merchant: store.merchant }, collection);
    await query(`UPDATE discrepancies SET opened_at = opened_at - interval '1 day'`);
    const labels = { kind: 'overdue' };
    expect(await change('malipo_discrepancies_open', labels)).to.deep.equal([undefined, 1]);
    const [, age] = await change('malipo_discrepancies_oldest_seconds', labels);
    expect(age).to.be.within(DAY_SECONDS, DAY_SECONDS + 60);
    await query('UPDATE discrepancies SET resolved_at = now()');
    expect(await change('malipo_discrepancies_open', labels)).to.deep.equal([undefined, undefined]);
  });

  it('money in suspense in cents, with its age', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded({ amountCents: AMOUNT_CENTS + 1 }));
    await store.rewrite(`UPDATE movements SET learned_at = now() - interval '1 day'`);
    const labels = { kind: 'collection' };
    expect(await change('malipo_suspense_cents', labels)).to.deep.equal([0, AMOUNT_CENTS + 1]);
    const [, age] = await change('malipo_suspense_oldest_seconds', labels);
    expect(age).to.be.within(DAY_SECONDS, DAY_SECONDS + 60);
  });

  it('that nothing is sent, on a database that is not the one before', async () => {
    await query(`UPDATE installation SET seen_on = 'system 1, timeline 00000001, database 1'`);
    expect(await change('malipo_submissions_paused')).to.deep.equal([0, 1]);
    await query('UPDATE installation SET seen_on = NULL');
  });

  it('how many months ahead the tables by month are ready', async () => {
    const labels = { table: 'payment_history' };
    expect(sumOf(before, 'malipo_month_partitions_ahead', labels)).to.equal(3);
    const newest = await store.firstRow<{ name: string }>(
      `SELECT max(relname) AS name FROM pg_class WHERE relname ~ '^payment_history_[0-9_]+$'`,
    );
    await rows(store.owner, `DROP TABLE ${newest!.name}`);
    expect(await change('malipo_month_partitions_ahead', labels)).to.deep.equal([3, 2]);
  });
});
