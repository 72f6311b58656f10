import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import type { StackType } from '../../scripts/sandbox/stack.ts';
import { expectRightEnd } from '../support/chaos-end.ts';
import { FREEZING, freezeInSubmission } from '../support/chaos-freeze.ts';
import { mixedOrders, type Order } from '../support/chaos-mix.ts';
import { type Crash, planCrashes } from '../support/chaos-plan.ts';
import { collectOriginal, type FirstAnswer, sendOrders } from '../support/chaos-shop.ts';
import { type ChaosWorld, cutOffGateways, startChaosWorld } from '../support/chaos-world.ts';
import { environment } from '../support/environment.ts';
import { describeWith } from '../support/programs.ts';
import { seedOfRun } from '../support/seed.ts';

const PAYMENTS = 300;
const CALM_AT_FIRST_MS = 5_000;
const CALM_MS = 3_000;
const REDIS_AWAY_MS = 10_000;
const GATEWAY_AWAY_MS = 5_000;
/** Long enough for its breaker to open, and for a probe or two to fail. */
const SHOP_AWAY_MS = 12_000;
/** Until the gateway is cut off, so that all that fails does so in the middle of them. */
const SPREAD_MS = CALM_AT_FIRST_MS + 4 * CALM_MS + 2 * REDIS_AWAY_MS;
/** While Redis is away once: fewer would prove little. */
const MIN_INITIATIONS = 10;

const CRASHING: Readonly<Record<string, StackType>> = {
  'dispatcher-1': 'dispatcher',
  'dispatcher-2': 'dispatcher',
  'submission-1': 'submission',
  'submission-2': 'submission',
  'submission-3': 'submission',
  settlement: 'settlement',
  refunds: 'refunds',
  'webhooks-1': 'webhooks',
  'webhooks-2': 'webhooks',
  'webhooks-3': 'webhooks',
};

describeWith(['redis-server'], 'With its queues in Redis, while everything fails', () => {
  const orders = mixedOrders(PAYMENTS);
  const firstTries: Promise<FirstAnswer>[] = [];
  const redisAway: Record<string, { from: number; to: number }> = {};
  let redis: EmbeddedRedis;
  let world: ChaosWorld;

  before(async () => {
    const seed = seedOfRun();
    console.log(`      the same crashes again: TEST_SEED=${seed}`);
    redis = await startEmbeddedRedis({ reaper: environment.reaper });
    const members = { simulator: 'simulator', web: 'web', ...CRASHING, ...FREEZING } as const;
    world = await startChaosWorld({ members, redisUrl: redis.url });
    // So that there are some to send while Redis is away, however slow the machine is.
    await Promise.all(
      orders.filter(isPlainReversal).map((each) => collectOriginal(world.shop, each)),
    );
    world.shop.onFirstTry = (first) => firstTries.push(first);
    // All of it comes to its end, also when a part fails: nothing is left running then.
    const ends = await Promise.allSettled([
      sendOrders(world.shop, orders, SPREAD_MS),
      crashAll(planCrashes(Object.keys(CRASHING), seed)),
      failInTurn(),
      failShop(),
      freezeInSubmission(world),
    ]);
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  });

  after(async () => {
    await world?.stop();
    await redis?.stop();
  });

  for (const how of ['is stopped', 'hangs']) {
    it(`takes every collection and payout at the first try while Redis ${how}`, async () => {
      const payments = (await firstTriesWhile(how)).filter((first) => !isReversal(first));
      console.log(`      ${payments.length} collections and payouts`);
      expect(payments.filter(({ answer }) => answer !== 200)).to.deep.equal([]);
      expect(payments).to.have.length.at.least(MIN_INITIATIONS);
    });
  }

  it('takes every reversal meanwhile, though nobody is there to send it in time', async () => {
    const tries = await Promise.all(['is stopped', 'hangs'].map(firstTriesWhile));
    const reversals = tries.flat().filter(isReversal);
    console.log(`      ${reversals.length} reversals`);
    expect(reversals.filter(({ answer }) => answer !== 200 && answer !== 502)).to.deep.equal([]);
    expect(reversals).to.not.be.empty;
  });

  it(`ends ${PAYMENTS} payments of all kinds as it must, and the books are right`, () =>
    expectRightEnd(world, orders));

  async function firstTriesWhile(how: string): Promise<FirstAnswer[]> {
    const { from, to } = redisAway[how]!;
    return (await Promise.all(firstTries)).filter(({ sentAt }) => sentAt >= from && sentAt < to);
  }

  async function failInTurn(): Promise<void> {
    await sleep(CALM_AT_FIRST_MS);
    await awayFor(
      'is stopped',
      () => redis.stop(),
      () => redis.restart(),
    );
    await sleep(CALM_MS);
    await awayFor(
      'hangs',
      () => redis.pause(),
      () => redis.resume(),
    );
    await sleep(CALM_MS);
    await emptyRedis(redis.url);
    await sleep(CALM_MS);
    // What was sent while Redis was away is answered first, however slow the machine is.
    await Promise.all([...firstTries]);
    await world.postgres.restart();
    await sleep(CALM_MS);
    await cutOffGateways(world, GATEWAY_AWAY_MS);
  }

  /** The merchant's receiver fails while Redis is emptied and PostgreSQL is restarted. */
  async function failShop(): Promise<void> {
    await sleep(SPREAD_MS - SHOP_AWAY_MS);
    world.receiver.answerWith(() => 503);
    await sleep(SHOP_AWAY_MS);
    world.receiver.answerWith(() => 200);
  }

  async function awayFor(how: string, leave: () => unknown, comeBack: () => unknown) {
    await leave();
    const from = Date.now();
    await sleep(REDIS_AWAY_MS);
    redisAway[how] = { from, to: Date.now() };
    await comeBack();
  }

  /** One after the other dies; the one before may still be down. */
  async function crashAll(crashes: Crash[]): Promise<void> {
    const restarts: Promise<void>[] = [];
    for (const { name, afterMs, downMs } of crashes) {
      await sleep(afterMs);
      restarts.push(world.crew.crash(name, downMs));
    }
    await Promise.all(restarts);
  }
});

/** One whose collection simply succeeds. */
function isPlainReversal({ kind, account }: Order): boolean {
  return kind === 'reversal' && account.endsWith('678');
}

function isReversal({ path }: FirstAnswer): boolean {
  return path.startsWith('/reversals');
}

async function emptyRedis(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushall();
  await client.quit();
}
