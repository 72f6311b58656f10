import { expect } from 'chai';
import winston from 'winston';
import { rows } from '../../src/connections/database.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { listFailedJobs } from '../../src/domain/support/failed-job-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import type { StepKind } from '../../src/jobs/job-types.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document, runHere } from '../support/admin.ts';
import { keepCallback } from '../support/callbacks.ts';
import { rewrite } from '../support/database.ts';
import {
  failJob,
  jobsIn,
  listedJobs,
  failedPayout as newFailedPayout,
  replay,
} from '../support/failed-jobs.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { learn, newCollection, rejection, succeeded } from '../support/payments.ts';
import { plansOf } from '../support/plans.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('admin jobs list', () => {
  let admin: AdminTester;
  let service: Service;
  let merchant: TestMerchant;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    service = createService(config, winston.createLogger({ silent: true }), admin.database);
  });

  after(() => admin.close());

  beforeEach(async () => {
    merchant = await createTestMerchant(service);
    await rows(admin.database, 'DELETE FROM failed_jobs');
  });

  const fail = (kind: StepKind, id: string, options?: Parameters<typeof failJob>[3]) =>
    failJob(admin.database, kind, id, options);
  const list = (options?: string | string[]) => listedJobs(service, options);

  const failedPayout = (refNo?: string) =>
    newFailedPayout(admin.database, merchant, refNo ? { ref_no: refNo } : {});

  it('shows what failed, when, why, and what has become of it, newest first', async () => {
    const waiting = await failedPayout('po-1');
    const moved = await failedPayout('po-2');
    await learn(admin.database, moved.payout, succeeded());
    const replayed = await failedPayout('po-3');
    await replay(admin.database, replayed.job);
    const again = await failedPayout('po-4');
    await replay(admin.database, again.job);
    const last = await fail('payout', again.payout.id, { error: 'worse' });
    const { data, lines } = await runHere(service, 'jobs list');
    const shown = lines.slice(1, -1).map((line) => line.replace(/ {2,}/g, ' | '));
    expect(shown[0]).to.match(
      new RegExp(
        `^${last.id} \\| \\d{4}-.* EAT \\| queue-of-payout \\| ${merchant.merchant_id} \\| payout po-4 \\(submit\\) \\| worse \\| waits for somebody$`,
      ),
    );
    expect(shown[1]).to.match(
      / payout po-4 .* replayed \(submit\) at .* by tester, and failed again$/,
    );
    expect(shown[2]).to.match(/ payout po-3 .* by tester; now pending; next: submit at /);
    expect(shown[3]).to.match(/ payout po-2 .* has moved on: completed$/);
    expect(lines.at(-1)).to.equal('(5 failed jobs)');
    expect((data.failed_jobs as Document[])[4]).to.include({
      ...{ id: waiting.job.id, queue: 'queue-of-payout', kind: 'payout', step: 'submit' },
      ...{ merchant_id: merchant.merchant_id, row_id: waiting.payout.id, error: 'bug' },
      ...{ ref_no: 'po-1', payment_kind: 'payout', state: 'waiting', row_status: 'pending' },
    });
  });

  it('names the payment that a callback and a webhook are about', async () => {
    const collection = await newCollection(admin.database, merchant, { ref_no: 'till-1' });
    await fail(
      'callback',
      await keepCallback(admin.database, 'simulator', refOf(collection), '{}'),
    );
    await learn(admin.database, collection, succeeded());
    await prepareDeliveries(admin.database, 0);
    const [event] = await rows<{ id: string }>(
      admin.database,
      'SELECT id FROM events WHERE payment_id = :id',
      { id: collection.id },
    );
    await fail('webhook', event!.id);
    const { lines, data } = await runHere(service, 'jobs list');
    expect(jobsIn({ data }, 'failed_jobs').map(({ channel }) => channel)).to.deep.equal([
      63902, 63902,
    ]);
    expect(lines[1]).to.include('webhook of collection till-1 (deliver)');
    expect(lines[2]).to.include('callback of collection till-1 (process)');
    expect(await list('--payment till-1')).to.have.length(2);
    expect(await list(['--payment', collection.id])).to.have.length(2);
  });

  it('narrows by queue, error, merchant, payment, age and state', async () => {
    const first = await failedPayout('po-1');
    const theirs = await failedPayout();
    const other = await createTestMerchant(service);
    const third = await newPayout(admin.database, other, { ref_no: 'po-1' });
    const odd = await fail('payout', third.id, { queue: 'odd', error: 'Cannot READ 50% of x_y' });
    await rewrite(
      admin.database,
      `UPDATE failed_jobs SET failed_at = now() - interval '3 hours' WHERE id = :id`,
      { id: theirs.job.id },
    );
    await learn(admin.database, first.payout, succeeded());
    const ids = { first: first.job.id, theirs: theirs.job.id, odd: odd.id };
    const cases: [string | string[], number[]][] = [
      ['', [ids.odd, ids.theirs, ids.first]],
      ['--queue odd', [ids.odd]],
      ['--queue od', []],
      [['--error', 'read 50%'], [ids.odd]],
      [['--error', 'x%y'], []],
      [`--merchant ${merchant.merchant_id}`, [ids.theirs, ids.first]],
      ['--payment po-1', [ids.odd, ids.first]],
      [`--payment po-1 --merchant ${other.merchant_id}`, [ids.odd]],
      [`--payment ${theirs.payout.id}`, [ids.theirs]],
      ['--older-than 2h', [ids.theirs]],
      ['--newer-than 2h', [ids.odd, ids.first]],
      ['--older-than 2h --newer-than 4h', [ids.theirs]],
      ['--state waiting', [ids.odd, ids.theirs]],
      ['--state moved_on', [ids.first]],
      ['--state replayed', []],
      ['--state failed_again --queue odd', []],
    ];
    for (const [options, expected] of cases) {
      expect(await list(options), String(options)).to.deep.equal(expected);
    }
    const nobody = await rejection(list('--payment nothing'));
    expect(nobody.message).to.equal('No payment is known by "nothing"');
  });

  it('goes on where a page has ended', async () => {
    const jobs = [await failedPayout(), await failedPayout(), await failedPayout()];
    const [oldest, middle, newest] = jobs.map(({ job }) => job.id);
    const page = await runHere(service, 'jobs list --limit 2');
    expect(jobsIn(page, 'failed_jobs').map(({ id }) => id)).to.deep.equal([newest, middle]);
    expect(page.data.next).to.equal(middle);
    expect(page.lines.at(-1)).to.include(`--after ${middle}`);
    expect(await list(`--after ${middle}`)).to.deep.equal([oldest]);
  });

  it('reads none of the many that were replayed to list those that wait', async () => {
    const { job } = await failedPayout();
    await rows(
      admin.database,
      `INSERT INTO failed_jobs (queue, kind, step, merchant_id, row_id, step_no, error, replayed_at)
       SELECT 'queue', 'payout', 'submit', :merchant_id, gen_random_uuid(), 1, 'bug', now()
       FROM generate_series(1, 5000)`,
      { ...merchant },
    );
    await rows(admin.owner, 'ANALYZE failed_jobs');
    for (const state of ['waiting', 'moved_on']) {
      const plans = await plansOf(admin.database, () => list(`--state ${state}`));
      expect(plans.join('\n'), state).to.match(
        /Scan (Backward )?using failed_jobs_not_replayed on failed_jobs f/,
      );
    }
    expect(await list('--state waiting')).to.deep.equal([job.id]);
  });

  it('looks up the rows of no other channel', async () => {
    const page = { order: 'newest first', limit: 50 } as const;
    const plans = await plansOf(admin.database, () =>
      listFailedJobs(admin.database, { channel: 63903 }, page),
    );
    expect(plans[0]).to.match(/Scan[^\n]* on failed_jobs f [^\n]*\n[^\n]*Filter: \(channel = /);
  });
});
