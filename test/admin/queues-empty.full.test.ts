import { expect } from 'chai';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';

const CONFIGURED = { env: { CHANNELS: '63902=simulator' } };

describe('admin queues empty', () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  it('empties every queue, says how many jobs they had, and writes that down', async () => {
    const queue = createQueueBackend({ databaseUrl: admin.url }).createQueue('polling-simulator');
    const data = {
      kind: 'payout',
      step: 'poll',
      merchant_id: 1001,
      row_id: 'x',
      step_no: 1,
    } as const;
    await queue.add('payout.poll', data, { jobId: 'payout-x-1', delay: 60_000 });
    const answer = await admin.changeJson('queues empty', CONFIGURED);
    expect(answer).to.include({ backend: 'postgres', jobs: 1 });
    expect(answer.queues).to.deep.include({ queue: 'polling-simulator', jobs: 1 });
    expect(await queue.getJob('payout-x-1')).to.equal(undefined);
    await queue.close();
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'queues.empty',
      merchant_id: null,
      subject: 'queues',
      details: { backend: 'postgres', jobs: 1, queues: [{ queue: 'polling-simulator', jobs: 1 }] },
    });
    expect(await admin.change('queues empty', CONFIGURED)).to.include('jobs taken out: 0');
  });

  it('says in one line that Redis is away', () =>
    admin.refused([['queues empty', 'REDIS_URL cannot be used: ']], {
      env: { ...CONFIGURED.env, REDIS_URL: 'redis://127.0.0.1:1' },
    }));
});
