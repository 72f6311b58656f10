import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import winston from 'winston';
import { rows } from '../../src/connections/database.ts';
import type { Return } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { queueBackendOf } from '../../src/jobs/backend.ts';
import { type AddedRows, dispatchOutbox } from '../../src/jobs/dispatch-outbox.ts';
import { openQueues } from '../../src/jobs/queues.ts';
import { createService, loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document, runHere } from '../support/admin.ts';
import { keepCallback } from '../support/callbacks.ts';
import { discrepancyOf, hear, type Scene } from '../support/discrepancies/scene.ts';
import { backendsUnderTest } from '../support/environment.ts';
import { closedPortUrl } from '../support/gateway-fixtures.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { failed, newCollection, newReturn, succeeded } from '../support/payments.ts';
import { FAILURE } from '../support/settle-stories.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const QUEUE = 'submission-simulator';
const logger = winston.createLogger({ silent: true });

type File = Record<string, Document[]> & { payment: Document; queues_problem: string | null } & {
  channel_pause: Document | null;
};

for (const backendName of backendsUnderTest()) {
  describe(`admin payment show, with queues in ${backendName}`, () => {
    let service: TestService;
    let merchant: TestMerchant;

    before(async () => {
      service = await startTestService({ backend: backendName, workers: [] });
      merchant = await createTestMerchant(service);
    });

    after(() => service.close());

    const show = async (id: string) => {
      const { data, lines } = await runHere(service, `payment show ${id}`);
      return { file: data as File, text: lines.join('\n') };
    };
    /** The only job of a payment, as far as it says where it is. */
    const jobOf = async (id: string) => {
      const { file, text } = await show(id);
      expect(file.jobs).to.have.length(1);
      const { step, queue, in_outbox, state, job } = file.jobs![0]!;
      expect(text).to.include(String(job));
      return { step, queue, in_outbox, state, job, problem: file.queues_problem };
    };

    it('follows the job of the next step from the outbox into its queue, until it is gone', async () => {
      const collection = await newCollection(service.database, merchant);
      const step = { step: 'submit', queue: QUEUE, problem: null };
      const inOutbox = 'in the outbox, for the dispatcher';
      const before = await jobOf(collection.id);
      expect(before).to.deep.equal({ ...step, in_outbox: true, state: null, job: inOutbox });
      const { file, text } = await show(collection.id);
      const [waiting, ...others] = file.outbox!;
      expect(others).to.deep.equal([]);
      expect(waiting).to.include({ kind: 'collection', step: 'submit', queue: QUEUE });
      expect(text).to.match(/^Outbox:\n +KIND +ROW ID +STEP +QUEUE +RUN AT$/m);

      const backend = await queueBackendOf(service);
      const queues = openQueues(backend, logger);
      const added: AddedRows = [];
      while ((await dispatchOutbox(service.database, queues, new Map(), added)) > 0);
      await queues.close();
      const state = 'waiting';
      const queued = { ...step, in_outbox: false, state, job: 'waiting in its queue' };
      expect(await jobOf(collection.id)).to.deep.equal(queued);

      const real = backend.createQueue(QUEUE);
      await real.obliterate({ force: true });
      await real.close();
      expect((await jobOf(collection.id)).job).to.equal(
        'none: just done, or lost; the sweeper sends a lost one again',
      );
      await rows(
        service.database,
        `UPDATE collections SET next_step_at = now() + interval '1 hour' WHERE id = :id`,
        { id: collection.id },
      );
      expect((await jobOf(collection.id)).job).to.equal('comes when the step is due');
    });

    it('has the jobs of its callbacks and of its webhook, and asks for none when it waits for nothing', async () => {
      const collection = await newCollection(service.database, merchant);
      await hear({ database: service.database, merchant }, collection, succeeded());
      const nothing = await show(collection.id);
      expect([nothing.file.jobs, nothing.file.queues_problem]).to.deep.equal([[], null]);
      await prepareDeliveries(service.database, 0);
      await keepCallback(service.database, 'simulator', refOf(collection), '{}');
      const { file } = await show(collection.id);
      expect(file.jobs!.map(({ kind, job }) => `${kind}: ${job}`)).to.have.members([
        'webhook: comes when its endpoint has a free place',
        'callback: in the outbox, for the dispatcher',
      ]);
      expect(file.outbox!.some(({ kind }) => kind === 'callback')).to.equal(true);
    });
  });
}

describe('admin payment show', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    merchant = await createTestMerchant({ database: admin.database, config });
  });

  after(() => admin.close());

  const scene = (): Scene => ({ database: admin.database, merchant });
  const show = async (id: string) => (await admin.json(`payment show ${id}`)) as unknown as File;
  const collectionOf = ({ collection_id }: Return) => show(collection_id);

  it('shows what PostgreSQL knows while Redis is away, without a long wait', async () => {
    const collection = await newCollection(admin.database, merchant);
    const hanging = createServer(() => {});
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    const { port } = hanging.address() as AddressInfo;
    const away = (await closedPortUrl()).replace('http', 'redis');
    const shown = async (REDIS_URL: string) => {
      const config = loadConfig({ DATABASE_URL: admin.url, REDIS_URL });
      const service = createService(config, logger, admin.database);
      const { data, lines } = await runHere(service, `payment show ${collection.id}`);
      return { file: data as File, lines };
    };
    for (const url of [away, `redis://127.0.0.1:${port}`]) {
      const { file, lines } = await shown(url);
      const { queues_problem, jobs, outbox } = file;
      expect(queues_problem).to.match(/^REDIS_URL cannot be used: /);
      expect(jobs![0]).to.include({ in_outbox: true, state: null });
      expect(outbox).to.have.length(1);
      expect(lines[1]).to.match(/^It is not known which jobs are in the queues: REDIS_URL cannot/);
    }
    await rows(admin.database, 'DELETE FROM outbox WHERE row_id = :id', { id: collection.id });
    const [job] = (await shown(away)).file.jobs!;
    expect(job!.job).to.equal('not known: the queues do not answer');
    hanging.close();
  });

  it('says who asked for it', async () => {
    const collection = await newCollection(admin.database, merchant);
    const asked = async (id: string) => (await show(id)).payment.asked_by;
    expect(await asked(collection.id)).to.equal(`app ${merchant.app_code} (Till)`);
    expect(await admin.text(`payment show ${collection.id}`)).to.match(/^ {2}asked by +app \d+/m);
    const payment = await newReturn(admin.database, merchant);
    expect(await asked(payment.id)).to.equal('nobody: the service gives late money back');
    const paidTwice = await newCollection(admin.database, merchant);
    await hear(scene(), paidTwice, succeeded(), succeeded({ transId: 'RCPT2' }));
    const { id } = await discrepancyOf(scene(), 'second_success', paidTwice);
    await admin.change(`discrepancy resolve ${id} --as returned`);
    const [back] = (await show(paidTwice.id)).related!;
    expect(await asked(String(back!.id))).to.equal('support');
  });

  it('says that a payment waits because its channel is paused, since when, by whom and why', async () => {
    const collection = await newCollection(admin.database, merchant);
    const title = async () => (await admin.text(`payment show ${collection.id}`)).split('\n')[0];
    expect(await title()).to.match(/next: submit at \d{4}-\S+ \S+ EAT$/);
    await admin.change('channel pause 63902');
    expect(await title()).to.match(
      /, but channel 63902 \(M-PESA\) is paused since \d{4}-\S+ \S+ EAT by .+: .+$/,
    );
    const { channel_pause } = await show(collection.id);
    expect(channel_pause).to.include({ code: 63902 });
    await admin.change('channel resume 63902');
    expect(await title()).not.to.include('paused');
  });

  it('shows what became of money that was returned, with the journals of the return', async () => {
    const payment = await newReturn(admin.database, merchant);
    const booked = ({ movements }: File) => movements!.map((movement) => movement.booked);
    const journals = ({ journals: all }: File) => all!.map(({ kind }) => kind);
    const before = await collectionOf(payment);
    expect(booked(before)).to.deep.equal(['returning']);
    expect(journals(before)).to.deep.equal(['suspense']);
    await hear(scene(), payment, succeeded({ transId: 'BACK1' }));
    const after = await collectionOf(payment);
    expect(booked(after)).to.deep.equal(['returned']);
    expect(journals(after)).to.deep.equal(['suspense', 'returned']);
    const sum = new Map<string, number>();
    for (const { entries } of after.journals as unknown as { entries: Document[] }[]) {
      for (const { account, amount } of entries) {
        sum.set(String(account), (sum.get(String(account)) ?? 0) + Number(amount));
      }
    }
    expect(Object.fromEntries(sum)).to.deep.equal({ gateway_float: 0, suspense: 0 });
    expect(journals(await show(payment.id))).to.deep.equal(['returned']);
    expect(await admin.text(`payment show ${payment.collection_id}`)).to.match(/ returned +\d{4}-/);
  });

  it('shows money of a failed return in suspense until it is paid back from the bank', async () => {
    const payment = await newReturn(admin.database, merchant);
    await hear(scene(), payment, failed({ code: 21 }));
    const booked = async () => (await collectionOf(payment)).movements!.map((each) => each.booked);
    expect(await booked()).to.deep.equal(['suspense']);
    const { id } = await discrepancyOf(scene(), 'return_failed', payment);
    await admin.change(`discrepancy resolve ${id} --as returned`);
    expect(await booked()).to.deep.equal(['returned']);
    const { journals } = await collectionOf(payment);
    expect(journals!.map(({ kind }) => kind)).to.deep.equal(['suspense', 'cleared']);
  });

  it('shows money that was written off as such, and who has decided so', async () => {
    const payout = await newPayout(admin.database, merchant);
    await hear(scene(), payout, succeeded({ amountCents: 5_000 }));
    const { id } = await discrepancyOf(scene(), 'other_amount', payout);
    await admin.change(`discrepancy resolve ${id} --as failed`);
    const { movements, decisions } = await show(payout.id);
    expect(movements!.map((each) => each.booked)).to.deep.equal(['written_off']);
    expect(decisions).to.have.length(1);
    expect(decisions![0]).to.include({
      ...{ actor: 'tester', action: 'discrepancy.resolve', subject: `discrepancy ${id}` },
      reason: 'because',
    });
    const other = await newPayout(admin.database, merchant);
    await hear(scene(), other, FAILURE);
    expect((await show(other.id)).decisions).to.deep.equal([]);
  });
});
