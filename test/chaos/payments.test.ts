import { USUAL_TYPES } from '../../scripts/sandbox/stack.ts';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import { expectRightEnd } from '../support/chaos-end.ts';
import { FREEZING, freezeInSubmission } from '../support/chaos-freeze.ts';
import { mixedOrders } from '../support/chaos-mix.ts';
import { sendOrders } from '../support/chaos-shop.ts';
import { type ChaosWorld, startChaosWorld } from '../support/chaos-world.ts';

const PAYMENTS = 300;
const DOWN_MS = 2_000;
/** About the time that the failures take, so that at each of them some are in every state. */
const SPREAD_MS = PROCESS_TYPES.length * (DOWN_MS + 1_000);

describe('With its queues in PostgreSQL, while every worker process is killed in turn and one freezes', () => {
  const orders = mixedOrders(PAYMENTS);
  let world: ChaosWorld;

  before(async () => {
    const members = Object.fromEntries(USUAL_TYPES.map((type) => [type, type]));
    world = await startChaosWorld({ members: { ...members, ...FREEZING } });
  });

  after(() => world.stop());

  it(`${PAYMENTS} payments of all kinds end as they must, and the books are right`, async () => {
    const sent = sendOrders(world.shop, orders, SPREAD_MS);
    const frozen = freezeInSubmission(world);
    for (const type of PROCESS_TYPES) await world.crew.crash(type, DOWN_MS);
    await Promise.all([sent, frozen]);
    await expectRightEnd(world, orders);
  });
});
