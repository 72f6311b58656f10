import { expect } from 'chai';
import { startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { type Answer, clientOf } from '../support/api-client.ts';
import { assign } from '../support/assignments.ts';
import { backendsUnderTest, environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { expectRefusal } from '../support/refusals.ts';
import {
  createTestApp,
  createTestMerchant,
  createTestUser,
  type TestMerchant,
} from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

/** Refilled so slowly that no test lives to see another request. */
const LIMITS = { RATE_LIMIT_PER_MINUTE: '1', RATE_LIMIT_BURST: '5' };
const BURST = 5;

const numberIn = ({ headers }: Answer, name: string) => Number(headers.get(name) ?? 'NaN');
const allowed = (answers: Answer[]) => answers.filter(({ status }) => status !== 429).length;
const times = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

function expectLimited(answer: Answer): void {
  expectRefusal(answer, 429, 'Request rate limit exceeded');
  expect(numberIn(answer, 'x-ratelimit-remaining')).to.equal(0);
  expect(numberIn(answer, 'retry-after')).to.be.within(1, 60);
}

describe('The rate limit', () => {
  let service: TestService;
  let merchant: TestMerchant;

  before(async () => {
    service = await startTestService({ workers: [], env: LIMITS });
  });

  after(() => service.close());

  beforeEach(async () => {
    merchant = await createTestMerchant(service);
  });

  const read = ({ access } = merchant) => clientOf(service, { access }).get('/channels');

  it('lets a burst through, counts it down in headers and then says when to come again', async () => {
    for (let left = BURST - 1; left >= 0; left -= 1) {
      const answer = await read();
      expect(answer.status).to.equal(200);
      expect(numberIn(answer, 'x-ratelimit-limit')).to.equal(1);
      expect(numberIn(answer, 'x-ratelimit-remaining')).to.equal(left);
      // The whole bucket takes at most as many minutes as requests were taken out of it.
      const fullInS = numberIn(answer, 'x-ratelimit-reset') - Date.now() / 1_000;
      expect(fullInS).to.be.within(0, (BURST - left) * 60 + 1);
      expect(answer.headers.get('retry-after')).to.equal(null);
    }
    for (const answer of await times(3, () => read())) expectLimited(answer);
  });

  it('lets exactly the burst through when many come at once', async () => {
    expect(allowed(await times(4 * BURST, () => read()))).to.equal(BURST);
  });

  it('is on every answer to a known caller, whatever it is', async () => {
    const { get, post } = clientOf(service, merchant);
    for (const answer of [
      await get('/collections/checkouts'),
      await get(`/collections/checkouts/${crypto.randomUUID()}`),
      await get('/wallets/transactions?page=0'),
      await post('/collections/checkouts/initiate', '{'),
    ]) {
      expect(numberIn(answer, 'x-ratelimit-remaining')).to.be.within(0, BURST - 1);
    }
    expect(
      (await read({ ...merchant, access: 'wrong' })).headers.has('x-ratelimit-limit'),
    ).to.equal(false);
  });

  it('is shared by a merchant’s apps and by no other merchant', async () => {
    const app = await createTestApp(service, merchant.merchant_id);
    const ours = await times(4 * BURST, (index) =>
      read(index % 2 ? merchant : { ...merchant, access: app.access }),
    );
    expect(allowed(ours)).to.equal(BURST);
    expect((await read(await createTestMerchant(service))).status).to.equal(200);
  });

  it('may be a merchant’s own', async () => {
    const own = 'rate_limit_per_minute = 2, rate_limit_burst = 9';
    await assign(service.database, merchant.merchant_id, 'merchants', own);
    const answers = await times(20, () => read());
    expect(allowed(answers)).to.equal(9);
    expect(numberIn(answers[0]!, 'x-ratelimit-limit')).to.equal(2);
    const other = await createTestMerchant(service);
    await assign(service.database, other.merchant_id, 'merchants', 'rate_limit_burst = 2');
    const theirs = await times(5, () => read(other));
    expect(allowed(theirs)).to.equal(2);
    expect(numberIn(theirs[0]!, 'x-ratelimit-limit')).to.equal(1);
  });

  it('is counted apart for payouts, which may have another one, and for what people read', async () => {
    const { get, post } = clientOf(service, merchant);
    await times(2 * BURST, () => read());
    expectLimited(await read());
    const payout = () => post('/payouts/initiate', {});
    expect(allowed(await times(2 * BURST, payout))).to.equal(BURST);
    const person = await createTestUser(service, merchant.merchant_id, 'Finance');
    expect((await clientOf(service, person).get('/channels')).status).to.equal(200);
    expectLimited(await get('/payouts'));

    const other = await createTestMerchant(service);
    const own = 'payout_limit_per_minute = 3, payout_limit_burst = 7';
    await assign(service.database, other.merchant_id, 'merchants', own);
    const theirs = await times(20, () => clientOf(service, other).post('/payouts/initiate', {}));
    expect(allowed(theirs)).to.equal(7);
    expect(numberIn(theirs[0]!, 'x-ratelimit-limit')).to.equal(3);
    expect(numberIn(await read(other), 'x-ratelimit-limit')).to.equal(1);
    // One admin alone may change this one, so it is no limit of payouts.
    await assign(service.database, other.merchant_id, 'merchants', 'rate_limit_burst = 100');
    const usual = 'payout_limit_per_minute = NULL, payout_limit_burst = NULL';
    await assign(service.database, other.merchant_id, 'merchants', usual);
    const more = await times(20, () => clientOf(service, other).post('/payouts/initiate', {}));
    expect(allowed(more)).to.be.at.most(BURST);
  });

  it('does not count calls that need no token', async () => {
    const credentials = { app_key: merchant.app_key, app_secret: merchant.app_secret };
    for (let time = 0; time < 2 * BURST; time += 1) {
      const answer = await clientOf(service, { access: '' }).post('/auth/app/token', credentials);
      expect(answer.status).to.equal(200);
    }
    expect(numberIn(await read(), 'x-ratelimit-remaining')).to.equal(BURST - 1);
  });
});

if (backendsUnderTest().includes('redis') && !process.env.REDIS_URL) {
  describe('The rate limit of two processes', () => {
    let redis: Awaited<ReturnType<typeof startEmbeddedRedis>>;
    let one: TestService;
    let two: TestService;

    before(async () => {
      redis = await startEmbeddedRedis({ reaper: environment.reaper });
      const limiterRedisUrl = redis.url;
      one = await startTestService({ workers: [], env: LIMITS, limiterRedisUrl });
      two = await startTestService({ workers: [], env: LIMITS, limiterRedisUrl, beside: one });
    });

    after(async () => {
      await two.close();
      await one.close();
      await redis.stop();
    });

    const readBy = (service: TestService, { access }: TestMerchant) =>
      clientOf(service, { access }).get('/channels');

    const sendBoth = async (count: number) => {
      const merchant = await createTestMerchant(one);
      const answers = await times(count, (index) => readBy(index % 2 ? one : two, merchant));
      expect(answers.filter(({ status }) => status !== 200 && status !== 429)).to.deep.equal([]);
      return allowed(answers);
    };

    /** After a missing answer a process limits by itself for a while. */
    const areShared = () =>
      eventually('they share a bucket', async () => (await sendBoth(4 * BURST)) === BURST);

    it('is one for both', async () => {
      await areShared();
      const merchant = await createTestMerchant(one);
      for (let left = BURST - 1; left >= 0; left -= 1) {
        const answer = await readBy(left % 2 ? one : two, merchant);
        expect(numberIn(answer, 'x-ratelimit-remaining')).to.equal(left);
      }
      for (const service of [one, two]) expectLimited(await readBy(service, merchant));
    });

    const AWAY: [how: string, leave: () => unknown, comeBack: () => unknown][] = [
      ['hangs', () => redis.pause(), () => redis.resume()],
      ['is gone', () => redis.stop(), () => redis.restart()],
    ];
    for (const [how, leave, comeBack] of AWAY) {
      it(`is each process’s own while Redis ${how}, and one again afterwards`, async () => {
        await leave();
        try {
          // The first to notice wait for Redis; what was waited for must still be answered.
          await sendBoth(2);
          for (const service of [one, two]) {
            const merchant = await createTestMerchant(one);
            expect(allowed(await times(4 * BURST, () => readBy(service, merchant)))).to.equal(
              BURST,
            );
          }
          expect(await sendBoth(8 * BURST)).to.equal(2 * BURST);
        } finally {
          await comeBack();
        }
        await areShared();
      });
    }
  });
}
