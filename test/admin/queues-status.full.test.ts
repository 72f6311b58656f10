import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import winston from 'winston';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { holdLease } from '../../src/connections/locks.ts';
import { installationId } from '../../src/connections/migrations.ts';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { type QueueBackend, queueBackendOf } from '../../src/jobs/backend.ts';
import { type AddedRows, dispatchOutbox } from '../../src/jobs/dispatch-outbox.ts';
import { openQueues } from '../../src/jobs/queues.ts';
import { recordCallbackBase } from '../../src/service/callback-base.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document, runHere } from '../support/admin.ts';
import { keepCallback } from '../support/callbacks.ts';
import { rewrite } from '../support/database.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { failedPayout } from '../support/failed-jobs.ts';
import { closedPortUrl } from '../support/gateway-fixtures.ts';
import {
  createTestStore,
  learn,
  newCollection,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import { createRedisUser } from '../support/redis-user.ts';
import { workOn } from '../support/submissions.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const QUEUE = 'submission-simulator';
const NO_DISPATCHER = 'No dispatcher is running: nobody renews the lease of the sweeper';
const OTHERS =
  'reversals-simulator, callbacks, polling-simulator, refunds, returns-simulator, webhooks';
const NOTHING_RUNS = [
  NO_DISPATCHER,
  `No worker takes jobs from the queues submission-simulator, ${OTHERS}`,
];
const GATEWAY_CALLBACK_URL = 'http://127.0.0.1:8080';
const logger = winston.createLogger({ silent: true });

const statusOf = (service: Service) => runHere(service, 'queues status');

for (const backendName of backendsUnderTest()) {
  describe(`admin queues status, with queues in ${backendName}`, () => {
    describe('while everything runs', () => {
      let service: TestService;

      before(async () => {
        service = await startTestService({ backend: backendName });
      });

      after(() => service.close());

      it('finds nothing wrong, and a worker for every queue', async () => {
        const answer = await eventually('no problem, and a worker for each queue', async () => {
          const status = await statusOf(service);
          const { queues } = status.data as { queues: Document[] };
          return !status.isFailure && queues.every(({ workers }) => workers === 1) && status;
        });
        const { queues, ...rest } = answer.data as { queues: Document[] };
        expect(rest).to.deep.include({
          queues_in: backendName,
          due: [],
          dispatcher_running: true,
          problems: [],
          deliveries_waiting: { count: 0, oldest_ms: 0 },
        });
        expect(queues.map(({ queue }) => queue)).to.deep.equal([
          ...[QUEUE, 'reversals-simulator', 'callbacks', 'polling-simulator'],
          ...['refunds', 'returns-simulator', 'webhooks'],
        ]);
        for (const queue of queues) {
          expect(queue).to.include({ waiting: 0, active: 0, paused: false, workers: 1 });
          expect(queue).to.include({ outbox: 0, failed_waiting: 0 });
          expect(queue.ended_last_minute).to.equal(backendName === 'redis' ? 0 : null);
        }
        expect(answer.lines.at(-1)).to.equal('All is well');
        expect(answer.lines.join('\n'))
          .to.match(/^QUEUE +WAITING +SINCE +ACTIVE/m)
          .and.match(/^Steps that are due and not in the outbox: none$/m)
          .and.match(/^Lease sweeper: held by \S+ process \d+ \S+ until /m);
      });
    });

    describe('while nothing runs', () => {
      let service: TestService;
      let backend: QueueBackend;

      before(async () => {
        service = await startTestService({
          ...{ backend: backendName, workers: [], env: { SWEEP_GRACE_MS: '60000' } },
        });
        backend = await queueBackendOf(service);
      });

      after(() => service.close());

      /** A status, with what the tests look at. */
      async function look(name = QUEUE) {
        const { data, lines } = await statusOf(service);
        const { queues, problems, due } = data as Record<string, Document[]>;
        const queue = queues!.find((each) => each.queue === name);
        const [first] = due!;
        return {
          problems,
          queue,
          due: first,
          sample: first?.sample as Document[],
          lines: lines.join('\n'),
        };
      }

      async function dispatch(): Promise<void> {
        const queues = openQueues(backend, logger);
        const added: AddedRows = [];
        while ((await dispatchOutbox(service.database, queues, new Map(), added)) > 0);
        await queues.close();
      }

      it('follows a job from the outbox into its queue, and says when it is lost there', async () => {
        const merchant = await createTestMerchant(service);
        const collection = await newCollection(service.database, merchant);
        const inOutbox = await look();
        expect(inOutbox.problems).to.deep.equal(NOTHING_RUNS);
        expect(inOutbox.queue).to.include({ outbox: 1, waiting: 0 });

        await dispatch();
        await rows(
          service.database,
          `UPDATE collections SET next_step_at = now() - interval '2 hours' WHERE id = :id`,
          { id: collection.id },
        );
        const inQueue = await look();
        expect(inQueue.queue).to.include({ outbox: 0, waiting: 1, workers: 0 });
        const unserved = `Jobs wait in the queue ${QUEUE}, and no worker takes them`;
        const idle = `No worker takes jobs from the queues ${OTHERS}`;
        expect(inQueue.problems).to.deep.equal([NO_DISPATCHER, unserved, idle]);
        expect(inQueue.due).to.include({ kind: 'collection', count: 1 });
        const step = { id: collection.id, merchant_id: merchant.merchant_id, step: 'submit' };
        expect(inQueue.sample[0]).to.include({ ...step, queue: QUEUE, lost: false });
        const line = (lost: number) =>
          new RegExp(`^ {2}collection +1 +2h +1 +${lost} +${collection.id}$`, 'm');
        expect(inQueue.lines).to.match(line(0));

        const real = backend.createQueue(QUEUE);
        await real.obliterate({ force: true });
        await real.close();
        const lost = await look();
        expect(lost.sample[0]).to.include({ ...step, lost: true });
        expect(lost.problems).to.deep.equal([
          NO_DISPATCHER,
          'Due, and no queue has the job: 1 of those looked for. A sweeper sends them again',
          ...NOTHING_RUNS.slice(1),
        ]);
        expect(lost.lines).to.match(line(1));
      });

      it('says where somebody has paused a queue, and whose lease has ended', async () => {
        const real = backend.createQueue('refunds');
        await real.pause();
        await holdLease(service.database, 'sweeper', 'host process 1', 60_000);
        await rows(service.database, 'UPDATE leases SET held_until = now()');
        const { problems, lines } = await look();
        expect(problems).to.include.members([
          NO_DISPATCHER,
          'The queue refunds is paused: no worker takes anything from it',
        ]);
        expect(lines).to.match(/^Lease sweeper: ended, was held by host process 1 until /m);
        await real.resume();
        await real.close();
      });

      it('counts the failed jobs that wait for somebody, also of queues that nobody serves', async () => {
        const merchant = await createTestMerchant(service);
        await failedPayout(service.database, merchant);
        const { payout } = await failedPayout(service.database, merchant);
        await rows(
          service.database,
          `UPDATE payouts SET parked_reason = 'discrepancy: x' WHERE id = :id`,
          { id: payout.id },
        );
        const { queue, lines } = await look('queue-of-payout');
        expect(queue).to.include({ failed_waiting: 1, workers: 0 });
        expect(lines).to.match(/^Failed jobs that wait for somebody: 1; jobs list/m);
      });
    });
  });
}

describe('admin queues status, with a Redis that does not tell who works', () => {
  it('says that it does not know, and calls nothing a problem for that', async function () {
    if (!environment.redisUrl) this.skip();
    const user = await createRedisUser('-@dangerous', '+info');
    const admin = await createAdminTester();
    const settings = { DATABASE_URL: admin.url, GATEWAY_CALLBACK_URL };
    const config = loadConfig({ ...settings, REDIS_URL: user.url });
    const queues = openQueues(await queueBackendOf({ config, database: admin.database }), logger);
    const job = {
      kind: 'collection',
      step: 'submit',
      merchant_id: 1,
      row_id: 'a',
      step_no: 1,
    } as const;
    await queues.add(QUEUE, [{ ...job, queue: QUEUE, delay_ms: 0 }]);
    const { data, lines } = await statusOf(createService(config, logger, admin.database));
    await queues.of(QUEUE).obliterate({ force: true });
    await queues.close();
    await admin.close();
    await user.drop();
    expect(data.problems).to.deep.equal([NO_DISPATCHER]);
    const [submissions] = data.queues as Document[];
    expect(submissions).to.include({ queue: QUEUE, waiting: 1, workers: null });
    expect(lines.join('\n')).to.match(/^submission-simulator +1 +\d+s +0 +0 +0 +- +no /m);
  });
});

describe('admin queues status, with Redis away', () => {
  let admin: AdminTester;
  let hanging: Server;

  before(async () => {
    admin = await createAdminTester();
    hanging = createServer(() => {});
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    const config = loadConfig({ DATABASE_URL: admin.url });
    const merchant = await createTestMerchant({ database: admin.database, config });
    await newCollection(admin.database, merchant);
  });

  after(async () => {
    hanging.close();
    await admin.close();
  });

  const redisUrls: [string, () => Promise<string>][] = [
    ['that is not there', async () => (await closedPortUrl()).replace('http', 'redis')],
    [
      'that says nothing',
      async () => `redis://127.0.0.1:${(hanging.address() as AddressInfo).port}`,
    ],
  ];
  for (const [which, url] of redisUrls) {
    it(`shows what PostgreSQL knows, and does not wait for a Redis ${which}`, async () => {
      const settings = { DATABASE_URL: admin.url, GATEWAY_CALLBACK_URL };
      const config = loadConfig({ ...settings, REDIS_URL: await url() });
      const { data, isFailure } = await statusOf(createService(config, logger, admin.database));
      expect(isFailure).to.equal(true);
      const [problem, ...others] = data.problems as string[];
      expect(problem).to.match(/^REDIS_URL cannot be used: /);
      expect(others).to.deep.equal([NO_DISPATCHER]);
      const [submissions] = data.queues as Document[];
      expect(submissions).to.include({ queue: QUEUE, outbox: 1, waiting: null, workers: null });
    });
  }

  it('tells it by its exit status, with the rest on standard output', async () => {
    const { status, stdout, stderr } = await admin.run('queues status', {
      env: { REDIS_URL: await redisUrls[0]![1](), GATEWAY_CALLBACK_URL },
      // Nothing else in the process may write to its output, such as a log.
      asProgram: true,
    });
    expect([status, stderr]).to.deep.equal([1, '']);
    expect(stdout)
      .to.match(/^Queues are in Redis\n/)
      .and.match(/^submission-simulator +- +- +- +- +- +- +- +1 +\d+s +0$/m)
      .and.match(/^Problems:\n {2}REDIS_URL cannot be used: .*ECONNREFUSED/m);
  });
});

describe('admin queues status, about callbacks', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  const look = async (settings: NodeJS.ProcessEnv = {}) => {
    const config = loadConfig({ DATABASE_URL: store.url, ...settings });
    const { data, lines } = await statusOf(createService(config, logger, store.database));
    return { data, problems: data.problems as string[], lines: lines.join('\n') };
  };

  it('says which installation it is, and where gateways call back', async () => {
    const without = await look();
    expect(without.problems[0]).to.match(/^nothing is submitted, because no address for callbacks/);
    await recordCallbackBase(store.database, 'http://127.0.0.1:5000');
    const { data, problems, lines } = await look();
    expect(problems).to.deep.equal(NOTHING_RUNS);
    expect(data.callback_url).to.equal('http://127.0.0.1:5000');
    const id = data.installation_id as string;
    expect(id).to.equal(await installationId(store.database));
    expect(lines).to.include(`Installation ${id}; gateways call back at http://127.0.0.1:5000\n`);
    const { data: own } = await look({ PUBLIC_URL: 'https://pay.example' });
    expect(own.callback_url).to.equal('https://pay.example');
  });

  it('warns of a role that owns the tables, and does not call it a problem', async () => {
    expect((await look()).data.warnings).to.deep.equal([]);
    const asOwner = createService(store.config, logger, store.owner);
    const { data, lines } = await statusOf(asOwner);
    expect(data.warnings).to.have.length(1);
    expect(data.problems).to.deep.equal(NOTHING_RUNS);
    expect(lines.at(-1)).to.match(/^Warning: the role \w+ of DATABASE_URL owns the tables/);
  });

  it('names the paused channels, and calls none of them a problem', async () => {
    expect((await look()).lines).not.to.include('Paused channels');
    await inTransaction(store.database, (trx) => pauseChannel(trx, 63902));
    const { data, problems, lines } = await look();
    expect(problems).to.deep.equal(NOTHING_RUNS);
    expect(lines).to.match(/^Paused channels: 63902 \(M-PESA\) since \d{4}-\S+ \S+ EAT$/m);
    expect((data.paused_channels as Document[])[0]).to.include({ code: 63902 });
    await inTransaction(store.database, (trx) => resumeChannel(trx, 63902));
  });

  it('says of a channel that its callbacks do not arrive, until one arrives', async () => {
    const merchant = await store.newMerchant();
    const end = async (cause: string) => {
      const payment = await newCollection(store.database, merchant);
      await workOn(store.database, payment).claim();
      await learn(store.database, payment, succeeded(), cause);
      // The last two minutes may still be called back.
      const earlier = `UPDATE attempts SET started_at = started_at - interval '3 minutes'
        WHERE payment_id = :id`;
      await rewrite(store.database, earlier, { ...payment });
      return payment;
    };
    for (let count = 1; count < 20; count += 1) await end('poll');
    expect((await look()).problems).to.deep.equal(NOTHING_RUNS);
    await end('poll');
    const { data, problems } = await look();
    expect(data.learned_lately).to.deep.equal([{ channel: 63902, by_callback: 0, by_poll: 20 }]);
    expect(problems[0]).to.match(/^Callbacks of channel 63902 do not arrive: 20 payments /);
    // A question was faster than the callback.
    await keepCallback(store.database, 'simulator', refOf(await end('poll')), '{}');
    const after = await look();
    expect(after.problems).to.deep.equal(NOTHING_RUNS);
    expect(after.lines).to.include('1 called back, 20 ended by questions only');
  });
});
