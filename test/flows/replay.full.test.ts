import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { type AnyPayment, accountOf, refOf } from '../../src/domain/payments/payment-store.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import type { StepKind } from '../../src/jobs/job-types.ts';
import type { Closable } from '../../src/process/lifecycle.ts';
import type { Service } from '../../src/service/service.ts';
import { connectWorkers, PROCESS_TYPES, startWorkers } from '../../src/workers/start-workers.ts';
import { runHere } from '../support/admin.ts';
import { callbacksOf, keepCallback, successBody } from '../support/callbacks.ts';
import { passDeadline } from '../support/discrepancies/scene.ts';
import { eventually } from '../support/eventually.ts';
import { failJob } from '../support/failed-jobs.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { statementOf } from '../support/flow-checks.ts';
import { aSubmission } from '../support/gateway-fixtures.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { flowBackends } from '../support/matrix.ts';
import { newPayment, newPayout, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import {
  discrepanciesOf,
  failed,
  learn,
  newCollection,
  reread,
  succeeded,
} from '../support/payments.ts';
import { ACKNOWLEDGED, UNKNOWN, workOn } from '../support/submissions.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

/** What a story must have come to in the end. */
interface Ending {
  says: string;
  status: string;
  /** How often it is submitted by the workers, and how often money moves at the gateway. */
  submissions: 0 | 1;
  movements: 0 | 1;
  attempts: (string | null)[];
}

interface Story {
  /** @returns the payment, and the row whose job has failed. */
  begin(): Promise<{ payment: AnyPayment; failed?: [StepKind, string] }>;
  ending: Ending;
  /** Besides the ending. */
  check?(payment: AnyPayment): Promise<void>;
}

const SENT: Ending = {
  says: 'no attempt has arrived, will send it',
  status: 'completed',
  submissions: 1,
  movements: 1,
  attempts: ['acknowledged'],
};
const ASKED = 'an attempt may have arrived, will ask the gateway, not send';

for (const backend of flowBackends('redis')) {
  describe(`Failed jobs that are replayed, with their queues in ${backend}`, () => {
    let service: TestService;
    let shop: FakeMerchant;
    let merchant: TestMerchant;
    let workers: Closable[];
    /** The references that workers have submitted. */
    const submitted: string[] = [];
    const payments = new Map<string, AnyPayment>();
    let dryRun: string[];
    let replays: Awaited<ReturnType<typeof runHere>>[];

    const payout = () => newPayout(service.database, merchant, { callback_url: shop.url });

    /** The request reaches the gateway, and whoever sent it dies before the answer. */
    async function submitAndDie(payment: AnyPayment): Promise<void> {
      await workOn(service.database, payment).claim();
      const fields = { reference: payment.reference, amountCents: payment.amount_cents };
      await service.gateways
        .get('simulator')!
        .submit(aSubmission(payment.kind, accountOf(payment), fields));
    }

    const STORIES: Readonly<Record<string, Story>> = {
      ...Object.fromEntries(
        PAYMENT_KINDS.map((kind): [string, Story] => [
          `a ${kind} that was never sent`,
          {
            begin: async () => ({
              payment: await newPayment(kind, service.database, await createTestMerchant(service)),
            }),
            ending: SENT,
          },
        ]),
      ),
      'a payout that arrived, with no answer to its attempt': {
        begin: async () => {
          const payment = await payout();
          await submitAndDie(payment);
          return { payment };
        },
        ending: { ...SENT, says: ASKED, submissions: 0, attempts: [null] },
      },
      'a payout whose attempt never arrived, and whose answer was lost': {
        begin: async () => {
          const payment = await payout();
          const work = workOn(service.database, payment);
          await work.answer(await work.claim(), UNKNOWN);
          return { payment };
        },
        ending: { ...SENT, says: ASKED, attempts: ['ruled_out', 'acknowledged'] },
      },
      'a payout that the gateway has acknowledged': {
        begin: async () => {
          const payment = await payout();
          const work = workOn(service.database, payment);
          const claimed = await work.claim();
          await service.gateways
            .get('simulator')!
            .submit(aSubmission('payout', payment.payto, { reference: payment.reference }));
          await work.answer(claimed, { outcome: 'acknowledged', externalRef: null });
          return { payment };
        },
        ending: { ...SENT, says: 'the gateway has it, will ask how it ended', submissions: 0 },
      },
      'a payout that has failed': {
        begin: async () => {
          const payment = await payout();
          await learn(service.database, payment, failed());
          return { payment };
        },
        ending: {
          says: 'will refund',
          status: 'failed',
          submissions: 0,
          movements: 0,
          attempts: [],
        },
        check: async (payment) => {
          expect(await reread(service.database, payment))
            .to.have.property('refund_posted_at')
            .that.is.instanceOf(Date);
        },
      },
      'a collection past its deadline': {
        begin: async () => {
          const payment = await newCollection(service.database, merchant);
          await passDeadline({ database: service.database, merchant }, payment);
          return { payment };
        },
        ending: {
          says: 'no attempt has arrived and its deadline is past, will not send it: support decides',
          ...{ status: 'pending', submissions: 0, movements: 0, attempts: [] },
        },
        check: async (payment) => {
          const kinds = await discrepanciesOf(service.database, payment.id);
          // The dispatcher may have listed it as overdue before.
          const open = kinds.filter((kind) => !kind.endsWith('(resolved)'));
          expect(open).to.deep.equal(['never_taken']);
        },
      },
      'a callback': {
        begin: async () => {
          const payment = await newCollection(service.database, merchant);
          // Whose callback is the first that is heard of it.
          const work = workOn(service.database, payment);
          await work.answer(await work.claim(), ACKNOWLEDGED);
          const body = JSON.stringify(successBody(payment));
          const id = await keepCallback(service.database, 'simulator', refOf(payment), body);
          return { payment, failed: ['callback', id] };
        },
        ending: {
          says: 'will be applied',
          status: 'completed',
          submissions: 0,
          movements: 0,
          attempts: ['acknowledged'],
        },
        check: async (payment) => {
          const [callback] = await callbacksOf(service.database, payment);
          expect(callback).to.include({ status: 'processed' });
        },
      },
      'a webhook': {
        begin: async () => {
          const payment = await newCollection(service.database, merchant, {
            callback_url: shop.url,
          });
          await learn(service.database, payment, succeeded());
          await prepareDeliveries(service.database, 1_000);
          const [event] = await rows<{ id: string }>(
            service.database,
            'SELECT id FROM events WHERE payment_id = :id',
            { id: payment.id },
          );
          return { payment, failed: ['webhook', event!.id] };
        },
        ending: {
          says: 'will deliver again',
          status: 'completed',
          submissions: 0,
          movements: 0,
          attempts: [],
        },
        check: async (payment) => {
          if (payment.kind !== 'collection') throw new Error('It is a collection');
          await eventually(
            'the webhook',
            async () => shop.webhooksFor(payment.ref_no).length === 1,
          );
        },
      },
    };

    before(async () => {
      service = await startTestService({ backend, workers: [] });
      shop = await startFakeMerchant();
      merchant = await createTestMerchant(service);
      for (const [name, { begin }] of Object.entries(STORIES)) {
        const { payment, failed: row } = await begin();
        payments.set(name, payment);
        await failJob(service.database, ...(row ?? ([payment.kind, payment.id] as const)));
      }
      workers = startWorkers(
        countingSubmissions(service),
        await connectWorkers(service),
        PROCESS_TYPES,
      );
      dryRun = (await runHere(service, 'jobs replay --all --dry-run')).lines;
      // Two operators at the same moment.
      replays = await Promise.all([
        runHere(service, 'jobs replay --all --rate 100'),
        runHere(service, 'jobs replay --all --rate 100'),
      ]);
    });

    after(async () => {
      await Promise.all(workers.map((worker) => worker.close()));
      await shop.close();
      await service.close();
    });

    function countingSubmissions(context: Service): Service {
      const gateway = context.gateways.get('simulator')!;
      const counting: Gateway = {
        ...gateway,
        submit: (request) => {
          submitted.push(request.reference);
          return gateway.submit(request);
        },
      };
      return { ...context, gateways: new Map([['simulator', counting]]) };
    }

    it('are each replayed by one of two who do it at once', () => {
      const count = replays.reduce((sum, { data }) => sum + Number(data.replayed), 0);
      expect(count).to.equal(Object.keys(STORIES).length);
      expect(replays.map(({ isFailure }) => isFailure)).to.deep.equal([false, false]);
    });

    for (const [name, { ending, check }] of Object.entries(STORIES)) {
      it(`end as the dry run has said: ${name}`, async () => {
        const payment = payments.get(name)!;
        const named = payment.kind === 'return' ? payment.id : payment.ref_no;
        expect(dryRun.find((line) => line.includes(`${payment.kind} ${named}: `))).to.match(
          new RegExp(`: ${ending.says}$`),
        );
        const now = await eventually('its end', async () => {
          const current = await reread(service.database, payment);
          const hasMovedOn =
            current.next_step === null && !/^job failed/.test(current.parked_reason ?? '');
          return current.status === ending.status && hasMovedOn && current;
        });
        expect(now.status).to.equal(ending.status);
        expect(submitted.filter((each) => each === payment.reference)).to.have.length(
          ending.submissions,
        );
        expect(await statementOf(service, payment.id)).to.have.length(ending.movements);
        expect(await workOn(service.database, payment).results()).to.deep.equal(ending.attempts);
        await check?.(payment);
      });
    }

    it('leave no failed job that waits, and the books right', async () => {
      const { lines } = await runHere(service, 'jobs list --state waiting');
      expect(lines).to.deep.equal(['No failed jobs']);
      expect((await runHere(service, 'jobs list --state failed_again')).lines).to.deep.equal([
        'No failed jobs',
      ]);
      await expectRightBooks(service.database);
    });
  });
}
