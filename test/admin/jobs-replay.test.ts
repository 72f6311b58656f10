import { expect } from 'chai';
import winston from 'winston';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import type { StepKind } from '../../src/jobs/job-types.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, runHere } from '../support/admin.ts';
import { keepCallback } from '../support/callbacks.ts';
import { eventually } from '../support/eventually.ts';
import {
  failJob,
  jobsIn,
  listedJobs,
  failedPayout as newFailedPayout,
  stepRow,
} from '../support/failed-jobs.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { failed, learn, outboxOf, rejection, succeeded } from '../support/payments.ts';
import { UNKNOWN, workOn } from '../support/submissions.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('admin jobs replay', () => {
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

  const SAYS: [string, () => Promise<number>][] = [
    [
      'payout po-1: no attempt has arrived, will send it',
      async () => (await failedPayout('po-1')).job.id,
    ],
    [
      'payout po-1: an attempt may have arrived, will ask the gateway, not send',
      async () => {
        const payout = await newPayout(admin.database, merchant, { ref_no: 'po-1' });
        const work = workOn(admin.database, payout);
        await work.answer(await work.claim(), UNKNOWN);
        return (await fail('payout', payout.id)).id;
      },
    ],
    [
      'payout po-1: will refund',
      async () => {
        const payout = await newPayout(admin.database, merchant, { ref_no: 'po-1' });
        await learn(admin.database, payout, failed());
        return (await fail('payout', payout.id)).id;
      },
    ],
    [
      'callback of payout po-1: will be applied',
      async () => {
        const payout = await newPayout(admin.database, merchant, { ref_no: 'po-1' });
        const id = await keepCallback(admin.database, 'simulator', refOf(payout), '{}');
        return (await fail('callback', id)).id;
      },
    ],
    [
      'payout po-1: refused: is final: completed',
      async () => {
        const { payout, job } = await failedPayout('po-1');
        await learn(admin.database, payout, succeeded());
        return job.id;
      },
    ],
    [
      'payout po-1: refused: is parked for another reason: discrepancy: other_amount',
      async () => {
        const { payout, job } = await failedPayout('po-1');
        await learn(admin.database, payout, succeeded({ amountCents: 1 }));
        return job.id;
      },
    ],
    [
      'payout po-1: refused: a discrepancy is open: decide that first, payment show names it',
      async () => {
        const { payout, job } = await failedPayout('po-1');
        await inTransaction(admin.database, (trx) =>
          openDiscrepancy(trx, { kind: 'other_payment', payment: refOf(payout), details: {} }),
        );
        return job.id;
      },
    ],
    [
      'payout po-1: refused: a later job of it has failed: replay that one',
      async () => {
        const { payout, job } = await failedPayout('po-1');
        await rows(
          admin.database,
          `UPDATE payouts SET next_step = 'poll', next_step_at = now(), parked_reason = NULL WHERE id = :id`,
          { id: payout.id },
        );
        await fail('payout', payout.id);
        return job.id;
      },
    ],
  ];
  for (const [words, make] of SAYS) {
    it(`says beforehand, and changes nothing: ${words}`, async () => {
      const id = await make();
      const before = await state();
      const dryRun = await runHere(service, `jobs replay ${id} --dry-run`);
      expect(await state()).to.deep.equal(before);
      expect(dryRun.lines[0]).to.equal(`${id}  ${words}`);
      expect(dryRun.lines[1]).to.match(/nothing was changed$/);
      expect(dryRun.data).to.include({ dry_run: true, replayed: 0 });

      const isRefused = words.includes('refused');
      const done = await runHere(service, `jobs replay ${id}`);
      expect(done.lines[0]).to.equal(dryRun.lines[0]);
      expect([dryRun.isFailure, done.isFailure]).to.deep.equal([isRefused, isRefused]);
      expect(done.data).to.include({
        dry_run: false,
        replayed: isRefused ? 0 : 1,
        stopped: null,
      });
      if (isRefused) expect(await state()).to.deep.equal(before);
      else expect(await state()).to.not.deep.equal(before);
    });
  }

  const CHANGES = '(SELECT * FROM audit_log WHERE reason IS NOT NULL) changes';

  /** Everything that a replay may change. */
  const state = () =>
    Promise.all(
      ['failed_jobs', 'payouts', 'callbacks', 'outbox', CHANGES].map((table) =>
        rows(admin.database, `SELECT * FROM ${table} ORDER BY id`),
      ),
    );

  it('writes down who replayed what, and why', async () => {
    const { payout, job } = await failedPayout('po-1');
    await runHere(service, `jobs replay ${job.id}`);
    const line = await admin.lastAudit();
    const { bulk_replay, ...details } = line!.details as Record<string, unknown>;
    expect(bulk_replay).to.be.a('string');
    expect({ ...line, details }).to.deep.equal({
      action: 'jobs.replay',
      merchant_id: merchant.merchant_id,
      subject: `failed job ${job.id}`,
      details: {
        ...{ queue: 'queue-of-payout', kind: 'payout', row_id: payout.id, ref_no: 'po-1' },
        ...{ error: 'bug', action: 'send' },
      },
    });
  });

  it('says of a second one that it is replayed already, which is no failure', async () => {
    const { payout, job } = await failedPayout('po-1');
    const both = await Promise.all([
      runHere(service, `jobs replay ${job.id}`),
      runHere(service, `jobs replay ${job.id}`),
    ]);
    const third = await runHere(service, `jobs replay ${job.id}`);
    const all = [...both, third];
    expect(all.map(({ data }) => data.replayed).sort()).to.deep.equal([0, 0, 1]);
    expect(all.map(({ isFailure }) => isFailure)).to.deep.equal([false, false, false]);
    expect(third.lines[0]).to.match(/refused: already replayed \(submit\) at .* EAT by tester$/);
    expect(await outboxOf(admin.database, payout.id)).to.have.length(1);
  });

  it('takes those that a filter finds and that wait for somebody, oldest first', async () => {
    const first = await failedPayout();
    const settled = await failedPayout();
    await learn(admin.database, settled.payout, succeeded());
    const odd = await fail('payout', (await newPayout(admin.database, merchant)).id, {
      queue: 'odd',
    });
    const last = await failedPayout();
    const taken = async (options: string) =>
      jobsIn(await runHere(service, `jobs replay ${options} --dry-run`)).map(({ id }) => id);
    expect(await taken('--all')).to.deep.equal([first.job.id, odd.id, last.job.id]);
    expect(await taken('--queue odd')).to.deep.equal([odd.id]);
    expect(await taken(`--payment ${settled.payout.id}`)).to.deep.equal([]);
    const limited = await runHere(service, 'jobs replay --all --limit 2');
    expect(limited.data).to.include({ replayed: 2, more: true });
    expect(await taken('--all')).to.deep.equal([last.job.id]);
  });

  it('names one that is not there, and replays none of the others', async () => {
    const { job } = await failedPayout();
    const error = await rejection(runHere(service, `jobs replay ${job.id},${job.id + 1}`));
    expect(error.message).to.equal(`There is no failed job ${job.id + 1}`);
    expect(await list('--state waiting')).to.deep.equal([job.id]);
  });

  it('goes at the given rate, and stops when so many have failed again', async () => {
    const jobs = await Promise.all(Array.from({ length: 5 }, () => failedPayout()));
    const running = runHere(service, 'jobs replay --all --rate 2 --stop-after 1');
    const again = await eventually(
      'the first replay',
      async () => (await list('--state replayed'))[0],
    );
    const { payout } = jobs.find(({ job }) => job.id === again)!;
    await fail('payout', payout.id);
    const { data, lines, isFailure } = await running;
    expect(data).to.include({
      replayed: 2,
      left: 3,
      stopped: '1 of those that were replayed have failed again',
    });
    expect(lines).to.include(
      'Stopped: 1 of those that were replayed have failed again. Not looked at: 3',
    );
    expect(isFailure).to.equal(true);
    expect(await list('--state waiting')).to.have.length(4);
  });

  it('stops at the first that cannot be replayed, which is left as it was', async () => {
    const jobs = [await failedPayout(), await failedPayout(), await failedPayout()];
    const [first, second] = jobs.map(({ job }) => job.id);
    const check = `not_this CHECK (subject <> 'failed job ${second}')`;
    await rows(admin.owner, `ALTER TABLE audit_log ADD CONSTRAINT ${check}`);
    const before = await stepRow(admin.database, 'payout', jobs[1]!.payout.id);
    const { data, isFailure } = await runHere(service, 'jobs replay --all');
    await rows(admin.owner, 'ALTER TABLE audit_log DROP CONSTRAINT not_this');
    expect(data).to.include({ replayed: 1, left: 2 });
    expect(data.stopped).to.match(new RegExp(`^at failed job ${second}: .*not_this`));
    expect(isFailure).to.equal(true);
    expect(await stepRow(admin.database, 'payout', jobs[1]!.payout.id)).to.deep.equal(before);
    expect(await list('--state replayed')).to.deep.equal([first]);
  });

  it('prints its answer as other verbs do', async () => {
    const { job } = await failedPayout('po-shown');
    expect(await admin.change(`jobs replay ${job.id} --dry-run`)).to.equal(
      `${job.id}  payout po-shown: no attempt has arrived, will send it\n1 would be replayed, 0 refused: nothing was changed\n`,
    );
    expect(await admin.changeJson('jobs replay --all')).to.include({ replayed: 1, more: false });
    const file = await runHere(service, 'payment show po-shown');
    expect(jobsIn(file, 'failed_jobs')[0]).to.include({ id: job.id, state: 'replayed' });
    expect(file.lines.join('\n')).to.match(
      /^Failed jobs:\n.*\n.* replayed \(submit\) at .* by tester; now pending; next: submit/m,
    );
  });
});
