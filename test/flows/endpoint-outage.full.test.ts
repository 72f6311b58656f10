import { expect } from 'chai';
import { OPENS_AFTER } from '../../src/domain/webhooks/endpoint.ts';
import type { ProcessType } from '../../src/workers/start-workers.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { flowBackends } from '../support/matrix.ts';
import { makeNoticesDue, type NoticeHook, startNoticeHook } from '../support/notices.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { eventually, useService } from '../support/world.ts';

const PAYMENTS = OPENS_AFTER + 3;
/** Those that a restart in the middle ends and begins. */
const CREW: readonly ProcessType[] = ['dispatcher', 'webhooks'];
const OTHERS: readonly ProcessType[] = ['submission', 'settlement', 'refunds'];

for (const backend of flowBackends('redis')) {
  describe(`An endpoint that fails and recovers, with the queues in ${backend}`, () => {
    const service = useService({ backend, workers: OTHERS });
    let crew: TestService;
    let shop: FakeMerchant;
    let mail: MailServer;
    let hook: NoticeHook;

    before(async () => {
      mail = await startMailServer();
      hook = await startNoticeHook();
      crew = await startCrew();
    });

    after(async () => {
      await crew.close();
      await mail.close();
      await hook.close();
    });

    beforeEach(async () => {
      shop = await startFakeMerchant();
      mail.received.length = 0;
      hook.received.length = 0;
    });

    afterEach(() => shop.close());

    function startCrew(): Promise<TestService> {
      const { redisUrl } = service.config;
      return startTestService({
        ...{ backend, workers: CREW, beside: service },
        env: {
          ...(redisUrl && { REDIS_URL: redisUrl }),
          ...{ SMTP_URL: mail.url, NOTICE_FROM: 'malipo@pay.example' },
          NOTICE_HOOK_URL: hook.url,
        },
      });
    }

    async function restart(): Promise<void> {
      await crew.close();
      crew = await startCrew();
    }

    const endpoint = () => service.endpointOf(new URL(shop.url).origin);
    const breakerIs = (state: 'open' | 'closed') =>
      eventually(`the breaker to be ${state}`, async () => (await endpoint())?.breaker === state);
    const probeAt = (delay: string) =>
      service.rows(
        `UPDATE webhook_endpoints SET probe_at = now() + CAST(:delay AS interval)
         WHERE merchant_id = :merchant_id AND breaker = 'open'`,
        { merchant_id: service.merchantId, delay },
      );
    const deliveries = () => service.deliveriesOf();
    const attempts = async () =>
      (await deliveries()).reduce((sum, delivery) => sum + delivery.attempts, 0);
    const told = (kinds: string[]) =>
      eventually(`the notices ${kinds}`, async () => {
        const subjects = mail.received.map(({ headers }) => headers.subject!);
        const isMailed = subjects.length === kinds.length;
        return isMailed && hook.received.map(({ kind }) => kind).join() === kinds.join();
      });

    /** Makes payments until the breaker is open. No probe goes by itself. */
    async function openBreaker(): Promise<void> {
      shop.answerWith(() => 503);
      for (let n = 0; n < PAYMENTS; n += 1) {
        await service.newCollection({ callback_url: shop.url });
      }
      await breakerIs('open');
      await probeAt('1 hour');
      await eventually('every event', async () => (await deliveries()).length === PAYMENTS);
    }

    async function failProbe(): Promise<void> {
      await probeAt('0');
      await eventually('a probe to fail', async () => (await endpoint())?.probes === 1);
      await probeAt('1 hour');
    }

    /** Lets the receiver work, and everything that waits come. */
    async function recover(): Promise<void> {
      shop.answerWith(() => 200);
      await probeAt('0');
      await breakerIs('closed');
      await service.rows(
        `UPDATE webhook_deliveries SET next_step_at = now()
         WHERE merchant_id = :merchant_id AND next_step_at > now()`,
        { merchant_id: service.merchantId },
      );
      await eventually('every webhook to be delivered', async () =>
        (await deliveries()).every(({ status }) => status === 'delivered'),
      );
    }

    const tellRecovery = () => makeNoticesDue(service.database, 'recovered');

    /** The last notice is recorded as sent a moment after it has arrived. */
    const expectNoNotice = () =>
      eventually('no notice to be left', async () => {
        const row = await service.firstRow<{ count: number }>(
          'SELECT count(*) AS count FROM webhook_notices WHERE merchant_id = :id AND sent_at IS NULL',
          { id: service.merchantId },
        );
        return row!.count === 0;
      });

    for (const [how, pause] of [
      ['in one go', async () => {}],
      ['while dispatcher and worker are restarted again and again', restart],
    ] as const) {
      it(`is told once, spends no attempts, and gets everything, ${how}`, async () => {
        await openBreaker();
        await pause();
        await told(['failing']);
        expect(await attempts()).to.equal(OPENS_AFTER);
        await failProbe();
        await pause();
        expect(await attempts()).to.equal(OPENS_AFTER + 1);
        expect(await endpoint()).to.include({ breaker: 'open', concurrency: 1 });
        await recover();
        expect(await attempts()).to.equal(OPENS_AFTER + 1 + PAYMENTS);
        // One at first, and one more after each that was taken.
        expect(await endpoint()).to.include({ concurrency: PAYMENTS, failures: 0 });
        await pause();
        await told(['failing']);
        await tellRecovery();
        await told(['failing', 'recovered']);
        await pause();
        await expectNoNotice();
        const ids = shop.received.map(({ headers }) => headers['webhook-id']);
        expect(new Set(ids).size).to.equal(PAYMENTS);
      });
    }
  });
}
