import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { channelPauses } from '../../src/domain/channels/channel-store.ts';
import { FROM_GATEWAY } from '../../src/domain/reconciliation/statement.ts';
import { beginBulkReplay } from '../../src/domain/support/bulk-replay.ts';
import { workBulkReplays } from '../../src/domain/support/work-bulk-replays.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { rewrite } from '../support/database.ts';
import {
  discrepancyOf,
  hear,
  makeOverdue,
  neverTake,
  resolve,
} from '../support/discrepancies/scene.ts';
import { makeEndpoint, OPEN } from '../support/endpoints.ts';
import { deliveryOf, newEvent } from '../support/events.ts';
import { failedPayout, stepRow } from '../support/failed-jobs.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { makeFolder } from '../support/make-folder.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { failed as failure, learn, newCollection, reread, succeeded } from '../support/payments.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, runStatement } from '../support/statements.ts';
import { UNKNOWN, workOn } from '../support/submissions.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import {
  type DoorCase,
  type Doors,
  expectRefusedAtBothDoors,
  expectSameAtBothDoors,
  nextOtp,
  openDoors,
} from './doors.ts';

/** No payment of these tests goes through it. */
const AIRTEL = 63903;
const SHOP = 'https://shop.example:8443';
const BELOW_LIMIT = { amount_cents: 2_000 };
const LIMIT = { amount_cents: 100_000 };

describe('An operation of support at both doors', () => {
  let doors: Doors;

  before(async () => {
    doors = await openDoors({
      STAFF_APPROVAL_LIMIT: String(LIMIT.amount_cents),
      CHANNELS: '63902=simulator',
    });
  });

  after(async () => {
    await expectSoundLedger(database());
    await doors.close();
  });

  const database = () => doors.test.testDatabase.database;

  const channel = (
    verb: 'pause' | 'resume',
    { options = [], form = {} }: { options?: string[]; form?: Record<string, string> } = {},
  ): DoorCase<object> => ({
    name: `channel.${verb}`,
    make: async () => {
      await rows(database(), 'DELETE FROM paused_channels');
      const pause = 'INSERT INTO paused_channels (code) VALUES (:code)';
      if (verb === 'resume') await rows(database(), pause, { code: AIRTEL });
      return {};
    },
    role: 'admin',
    command: () => ['channel', verb, String(AIRTEL), ...options],
    page: () => `/channels/${AIRTEL}/${verb}`,
    form: () => form,
    effect: async () => {
      const { paused_at: _, ...pause } = (await channelPauses(database())).get(AIRTEL) ?? {};
      return pause;
    },
    names: () => ({}),
  });

  const newMerchant = () => createTestMerchant(doors.test.service);

  /** A payout that the gateway may have, so that it can be asked about. */
  const asked: DoorCase<Awaited<ReturnType<typeof newPayout>>> = {
    name: 'payment.ask',
    make: async () => {
      const payout = await newPayout(database(), await newMerchant());
      const work = workOn(database(), payout);
      await work.answer(await work.claim(), UNKNOWN);
      return reread(database(), payout);
    },
    role: 'support',
    command: ({ id }) => ['payment', 'ask', id],
    page: ({ kind, merchant_id, id }) => `/payments/${kind}/${merchant_id}/${id}/ask`,
    effect: async ({ id, next_step_at: planned }) => {
      const { next_step, next_step_at, step_no } = await stepRow(database(), 'payout', id);
      return { next_step, step_no, isEarlier: next_step_at! < planned! };
    },
    names: ({ merchant_id }) => ({ MERCHANT: String(merchant_id) }),
  };

  /** A payout that support has completed. */
  const doubted: DoorCase<Awaited<ReturnType<typeof newPayout>>> = {
    ...asked,
    name: 'payment.doubt',
    make: async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const payout = await newPayout(scene.database, scene.merchant);
      await makeOverdue(scene, payout);
      await resolve(scene, await discrepancyOf(scene, 'overdue'), 'completed');
      return reread(scene.database, payout);
    },
    command: ({ id }) => ['payment', 'doubt', id],
    page: ({ kind, merchant_id, id }) => `/payments/${kind}/${merchant_id}/${id}/doubt`,
    effect: async ({ id }) =>
      rows(
        database(),
        `SELECT kind, resolution, details - 'doubted_at' - 'deadline_at' AS details FROM discrepancies
         WHERE payment_id = :id ORDER BY opened_at`,
        { id },
      ),
  };

  /** A row of a file that brings a payout back and shows no account. */
  const assigned = (
    overrides: Partial<typeof BELOW_LIMIT> = {},
  ): DoorCase<{
    id: string;
    row: string;
    payout: Awaited<ReturnType<typeof newPayout>>;
  }> => ({
    name: 'discrepancy.assign',
    role: 'support',
    make: async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const sent = await newPayout(scene.database, scene.merchant, {
        ...overrides,
        ref_no: 'po-1',
      });
      const told = succeeded({ amountCents: sent.amount_cents });
      const payout = await hear(scene, sent, told);
      const row = lineOf(payout, { kind: 'reversal', reference: null, account: null });
      const back = {
        ...row,
        completedAt: new Date(),
        hasComeBack: true,
        isUndecided: true,
      } as const;
      await runStatement(scene.database, [back], SO_FAR, { covers: [] }, 'file.csv');
      const [question] = await rows<{ id: string }>(
        database(),
        "SELECT id FROM discrepancies WHERE kind = 'money_back' AND trans_id = :transId",
        { transId: row.transId },
      );
      return { payout, id: question!.id, row: row.transId! };
    },
    command: ({ id, payout }) => ['discrepancy', 'assign', id, '--payment', payout.id],
    page: ({ id, payout }) => `/discrepancies/${id}/assign?payment=${payout.id}`,
    form: ({ payout }) => ({ payment: payout.id }),
    effect: async ({ payout }) =>
      rows(database(), 'SELECT kind, resolution FROM discrepancies WHERE payment_id = :id', payout),
    names: ({ payout, row, id }) => ({
      ...{ MERCHANT: String(payout.merchant_id), PAYMENT: payout.id, ROW: row, QUESTION: id },
    }),
  });

  interface Undelivered {
    id: string;
    merchant_id: number;
  }

  /** A webhook that was given up. */
  const undelivered = async (): Promise<Undelivered> => {
    const merchant = await newMerchant();
    const id = await newEvent(database(), merchant, `${SHOP}/hook`);
    await makeEndpoint(database(), merchant.merchant_id, SHOP);
    await prepareDeliveries(database(), 0);
    const giveUp = `UPDATE webhook_deliveries SET status = 'exhausted', attempts = 12,
      next_step = NULL, next_step_at = NULL WHERE event_id = CAST(:id AS uuid)`;
    await rows(database(), giveUp, { id });
    return { id, merchant_id: merchant.merchant_id };
  };
  const delivery = {
    make: undelivered,
    role: 'support' as const,
    effect: async ({ id }: Undelivered) => {
      const { status, attempts, next_step } = await deliveryOf(database(), id);
      return { status, attempts, next_step };
    },
    names: ({ merchant_id }: Undelivered) => ({ MERCHANT: String(merchant_id) }),
  };
  const resent: DoorCase<Undelivered> = {
    ...delivery,
    name: 'webhooks.resend',
    command: ({ id }) => ['webhooks', 'resend', id],
    page: ({ id }) => `/webhooks/${id}/resend`,
  };
  const recovered: DoorCase<Undelivered> = {
    ...delivery,
    name: 'webhooks.recover',
    command: ({ merchant_id }) => [
      ...['webhooks', 'recover', '--merchant', String(merchant_id), '--endpoint', SHOP],
      ...['--since', '2026-01-01', '--rate', '5'],
    ],
    page: ({ merchant_id }) =>
      `/webhook-endpoints/${merchant_id}/${encodeURIComponent(SHOP)}/recover?since=2026-01-01`,
    form: () => ({ since: '2026-01-01', rate: '5' }),
  };

  /** An endpoint that is held, and would be probed in an hour. */
  const probed: DoorCase<{ merchant_id: number }> = {
    name: 'webhooks.probe',
    make: async () => {
      const { merchant_id } = await newMerchant();
      const probe_at = new Date(Date.now() + 3_600_000);
      await makeEndpoint(database(), merchant_id, SHOP, { ...OPEN, probe_at });
      return { merchant_id };
    },
    role: 'support',
    command: ({ merchant_id }) => [
      ...['webhooks', 'probe', '--merchant', String(merchant_id), '--endpoint', SHOP],
    ],
    page: ({ merchant_id }) =>
      `/webhook-endpoints/${merchant_id}/${encodeURIComponent(SHOP)}/probe`,
    effect: async ({ merchant_id }) =>
      rows(
        database(),
        'SELECT probe_at <= now() AS is_due, breaker FROM webhook_endpoints WHERE merchant_id = :merchant_id',
        { merchant_id },
      ),
    names: ({ merchant_id }) => ({ MERCHANT: String(merchant_id) }),
  };

  const requestsOf = (payout: object) =>
    rows(
      database(),
      `SELECT action, amount_cents, preview, requested_by, reason, decision FROM approvals
       WHERE merchant_id = :merchant_id`,
      payout,
    );

  /** A collection that could not be sent. From the limit on a second person must agree to fail it. */
  const question = (
    what: string,
    overrides: Partial<typeof BELOW_LIMIT>,
  ): DoorCase<{ id: string; collection: Awaited<ReturnType<typeof newCollection>> }> => ({
    name: `discrepancy.resolve ${what}`,
    make: async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const collection = await newCollection(scene.database, scene.merchant, {
        ...overrides,
        ref_no: 'co-1',
      });
      await neverTake(scene, collection);
      return { collection, id: (await discrepancyOf(scene, 'never_taken')).id };
    },
    role: 'support',
    command: ({ id }) => ['discrepancy', 'resolve', id, '--as', 'failed'],
    page: ({ id }) => `/discrepancies/${id}/decide?as=failed`,
    form: () => ({ as: 'failed' }),
    effect: async ({ collection }) => ({
      status: (await reread(database(), collection)).status,
      requests: await requestsOf(collection),
    }),
    names: ({ collection }) => ({ MERCHANT: String(collection.merchant_id) }),
  });

  /** A completed payout whose receipt is told again with less. A file alone needs a second person. */
  const toldAgain = (
    by: 'the gateway' | 'a file',
    amount_cents: number,
  ): DoorCase<{ id: string; payout: Awaited<ReturnType<typeof newPayout>> }> => ({
    name: `discrepancy.resolve about an amount that ${by} tells`,
    role: 'support',
    names: ({ payout }) => ({ MERCHANT: String(payout.merchant_id) }),
    make: async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const sent = await newPayout(scene.database, scene.merchant, {
        ...BELOW_LIMIT,
        ref_no: 'po-1',
      });
      const payout = await hear(scene, sent, succeeded({ amountCents: BELOW_LIMIT.amount_cents }));
      const line = lineOf(payout, { transId: payout.trans_id, amountCents: 1_500 });
      const source = by === 'a file' ? 'file.csv' : FROM_GATEWAY;
      await runStatement(scene.database, [line], SO_FAR, { covers: [] }, source);
      return { payout, id: (await discrepancyOf(scene, 'other_amount')).id };
    },
    command: ({ id }) => ['discrepancy', 'resolve', id, '--as', 'accept-amount'],
    page: ({ id }) => `/discrepancies/${id}/decide?as=accept-amount`,
    form: () => ({ as: 'accept-amount' }),
    effect: async ({ payout }) => ({
      amount_cents: (await reread(database(), payout)).amount_cents,
      requests: await requestsOf(payout),
    }),
    becomes: { amount_cents },
  });

  /** A payout that callbacks have told of in two parts. */
  const inParts: DoorCase<{ id: string; payout: Awaited<ReturnType<typeof newPayout>> }> = {
    name: 'discrepancy.resolve in parts',
    role: 'support',
    effect: async ({ payout }) => ({
      status: (await reread(database(), payout)).status,
      requests: await requestsOf(payout),
    }),
    names: ({ payout }) => ({ MERCHANT: String(payout.merchant_id) }),
    make: async () => {
      const scene = { database: database(), merchant: await newMerchant() };
      const payout = await newPayout(scene.database, scene.merchant, {
        ...{ ...BELOW_LIMIT, ref_no: 'po-1' },
      });
      for (const part of [1, 2]) {
        const word = { transId: receiptOf(payout, part), amountCents: 1_000, externalRef: null };
        await learn(scene.database, payout, succeeded({ ...word, account: payout.payto }));
      }
      return { payout, id: (await discrepancyOf(scene, 'other_amount')).id };
    },
    command: ({ id, payout }) => [
      ...['discrepancy', 'resolve', id, '--as', 'parts', '--trans-id'],
      [1, 2].map((part) => receiptOf(payout, part)).join(','),
    ],
    page: ({ id, payout }) =>
      `/discrepancies/${id}/decide?as=parts&trans_id=${receiptOf(payout, 1)},${receiptOf(payout, 2)}`,
    form: ({ payout }) => ({
      as: 'parts',
      trans_id: `${receiptOf(payout, 1)},${receiptOf(payout, 2)}`,
    }),
  };
  const receiptOf = ({ merchant_id }: { merchant_id: number }, part: number) =>
    `P${part}-${merchant_id}`;

  interface Failed {
    job: number;
    payout: string;
    merchant_id: number;
  }

  const failed = async (): Promise<Failed> => {
    const { payout, job } = await failedPayout(database(), await newMerchant(), { ref_no: 'po-1' });
    return { job: job.id, payout: payout.id, merchant_id: payout.merchant_id };
  };
  const namesOfJob = ({ job, merchant_id }: Failed) => ({
    'failed job JOB': `failed job ${job}`,
    '"ids":"JOB"': `"ids":[${job}]`,
    '"last_job":"JOB"': `"last_job":${job}`,
    MERCHANT: String(merchant_id),
  });
  const stepOf = async ({ payout }: Failed) => {
    const {
      next_step_at: _,
      merchant_id: __,
      ...step
    } = await stepRow(database(), 'payout', payout);
    return step;
  };

  const replayed: DoorCase<Failed> = {
    name: 'jobs.replay',
    make: failed,
    role: 'support',
    command: ({ job }) => ['jobs', 'replay', String(job)],
    page: ({ job }) => `/failed-jobs/replay?job${job}=on`,
    // The command works its replay off itself.
    settle: () => workBulkReplays({ database: database(), holder: 'dispatcher' }),
    effect: stepOf,
    names: namesOfJob,
  };

  const stopped: DoorCase<Failed & { bulk: string }> = {
    name: 'jobs.stop-replay',
    make: async () => {
      const made = await failed();
      const bulk = crypto.randomUUID();
      const filter = { ids: [made.job], as_of: new Date().toISOString() };
      const order = { id: bulk, filter, last_job: made.job, rate: 1, stop_after: 1 };
      const by = { requested_by: doors.admin.email, reason: 'Mended', approved_by: null };
      await inTransaction(database(), (trx) => beginBulkReplay(trx, order, by));
      return { ...made, bulk };
    },
    role: 'support',
    command: ({ bulk }) => ['jobs', 'stop-replay', bulk],
    page: ({ bulk }) => `/bulk-replays/${bulk}/stop`,
    effect: async ({ bulk }) =>
      rows(database(), 'SELECT state, why FROM bulk_replays WHERE id = CAST(:bulk AS uuid)', {
        bulk,
      }),
    names: namesOfJob,
  };

  // biome-ignore lint/suspicious/noExplicitAny: each case has a thing of its own.
  const CASES: DoorCase<any>[] = [
    channel('pause'),
    channel('pause', { options: ['--only', 'payouts'], form: { only: 'payouts' } }),
    channel('resume'),
    asked,
    doubted,
    assigned(),
    resent,
    recovered,
    probed,
    question('below the limit', BELOW_LIMIT),
    question('at the limit', LIMIT),
    toldAgain('the gateway', 1_500),
    toldAgain('a file', BELOW_LIMIT.amount_cents),
    inParts,
    replayed,
    stopped,
  ];

  for (const one of CASES) {
    it(`${one.name}: has one effect, and one line in the audit log`, () =>
      expectSameAtBothDoors(doors, one));

    it(`${one.name}: refuses a lower role, and a change without a reason`, () =>
      expectRefusedAtBothDoors(doors, one));
  }

  it('decides about much money with a second person, from the command line alone', async () => {
    const { run } = doors;
    const [first, second] = [await doors.newAdmin(), await doors.newAdmin()];
    const one = question('at the limit', LIMIT);
    const thing = await one.make();
    const asked = await run([...one.command(thing), '--json'], first);
    const { approval, preview } = JSON.parse(asked.stdout);
    expect(preview).to.include('The payment goes from pending to failed.');
    expect((await reread(database(), thing.collection)).status).to.equal('pending');
    const again = await run(one.command(thing), first);
    expect(again.stderr).to.include('asked for this already');
    const done = await run(['approval', 'approve', approval, '--otp', nextOtp(second)], second);
    expect([done.status, done.stderr]).to.deep.equal([0, '']);
    expect((await reread(database(), thing.collection)).status).to.equal('failed');
  });

  it('assigns no row about which a decision waits for a second person', async () => {
    const { run, support } = doors;
    const thing = await assigned(LIMIT).make();
    const asked = await run(['discrepancy', 'resolve', thing.id, '--as', 'dismissed'], support);
    expect(asked.stdout).to.include('Somebody else must approve it');
    const refused = await run(assigned().command(thing), support);
    expect(refused.stderr).to.include('has asked for a decision about it');
  });

  it('names the row that one member has assigned, before others answer the gateway’s own word', async () => {
    const { run, support } = doors;
    const { id, payout, row } = await assigned(LIMIT).make();
    await run(['discrepancy', 'assign', id, '--payment', payout.id], support);
    await learn(database(), payout, failure({ externalRef: null }));
    const [question] = await rows<{ id: string }>(
      database(),
      `SELECT id FROM discrepancies
       WHERE payment_id = :id AND kind = 'failure_after_success' AND trans_id IS NULL`,
      payout,
    );
    const shown = await run(['discrepancy', 'resolve', question!.id, '--as', 'undo'], support);
    expect(shown.stdout + shown.stderr).to.include(`has said that the row ${row} brings`);
  });

  it('replays more than 100 jobs with a second person, from the command line alone', async () => {
    const { run } = doors;
    const merchant = await newMerchant();
    const { merchant_id } = merchant;
    for (let made = 0; made < 101; made += 1) await failedPayout(database(), merchant);
    const replay = ['jobs', 'replay', '--merchant', String(merchant_id), '--rate', '100'];
    const few = await run([...replay, '--limit', '1', '--json'], doors.support);
    expect(JSON.parse(few.stdout)).to.include({ replayed: 1, more: true });
    // The job that is replayed already counts, too.
    const asked = await run([...replay, '--json'], doors.support);
    const { approval, preview } = JSON.parse(asked.stdout);
    expect(preview[0]).to.include('100 failed jobs');
    const second = await doors.newAdmin();
    const approve = ['approval', 'approve', approval, '--otp', nextOtp(second)];
    expect((await run(approve, second)).stderr).to.equal('');
    while ((await workBulkReplays({ database: database(), holder: 'dispatcher' })) > 0);
    const left = await rows(
      database(),
      'SELECT FROM failed_jobs WHERE merchant_id = :merchant_id AND replayed_at IS NULL',
      { merchant_id },
    );
    expect(left).to.have.length(0);
  });

  it('compares a file with news with a second person, from the command line alone', async () => {
    const { run } = doors;
    const payout = await newPayout(database(), await newMerchant());
    const path = join(makeFolder('statements'), 'statement.csv');
    const line = `${payout.reference},SJK3ABCDE1,0712345678,100.00,2026-11-20T10:00:00Z`;
    writeFileSync(path, `reference,trans_id,account,amount,completed_at\n${line}\n`);
    const days = ['--from', SO_FAR.from, '--to', SO_FAR.to, '--utc-offset', '+03:00'];
    const file = ['--channel', '63902', '--file', path, '--kind', 'payout'];
    const asked = await run(['reconcile', 'run', ...file, ...days, '--json'], doors.support);
    const { import_id, compared, why } = JSON.parse(asked.stdout);
    expect([compared, why]).to.deep.equal([
      false,
      'It is about KES 100.00, and you have brought the file: somebody else must compare it',
    ]);
    const compare = ['reconcile', 'compare', import_id];
    expect((await run(compare, doors.support)).stderr).to.include('somebody else must compare it');
    expect((await reread(database(), payout)).status).to.equal('pending');
    await rewrite(doors.test.service.database, 'UPDATE staff_totp_secrets SET last_step = 0', {});
    const done = await run([...compare, '--json', '--otp', nextOtp(doors.admin)], doors.admin);
    expect(JSON.parse(done.stdout).lines).to.include({ settled: 1 });
    expect((await reread(database(), payout)).status).to.equal('completed');
  });
});
