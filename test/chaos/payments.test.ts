import { STACK_TYPES } from '../../scripts/sandbox/stack.ts';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import { expectRightEnd } from '../support/chaos-end.ts';
import { FREEZING, freezeInSubmission } from '../support/chaos-freeze.ts';
import { mayBeLost, mixedOrders } from '../support/chaos-mix.ts';
import { collectOriginal, sendOrders } from '../support/chaos-shop.ts';
import { type ChaosWorld, setQuirks, startChaosWorld } from '../support/chaos-world.ts';

const PAYMENTS = 300;
const DOWN_MS = 2_000;
/** About the time that the failures take, so that at each of them some are in every state. */
const SPREAD_MS = PROCESS_TYPES.length * (DOWN_MS + 1_000);

/** More of each than Daraja is known for. A slow answer comes after we have given it up. */
const QUIRKS = {
  ...{ callbackLost: 0.03, callbackDoubled: 0.05, slowAnswer: 0.01 },
  ...{ htmlPage: 0.01, unavailable: 0.01, resetAfterTaking: 0.01, resetBeforeTaking: 0.01 },
  ...{ firewall: 0.01, spikeArrest: 0.02, tokenExpired: 0.002, tokenRefused: 0.02, queryFlap: 0.2 },
};

describe('With its queues in PostgreSQL, while every worker process is killed in turn and one freezes', () => {
  const orders = mixedOrders(PAYMENTS, ['daraja', 'simulator']);
  let world: ChaosWorld;

  before(async () => {
    const members = Object.fromEntries(STACK_TYPES.map((type) => [type, type]));
    world = await startChaosWorld({ members: { ...members, ...FREEZING } });
    // While all is calm, because a lost collection could not be reversed.
    const reversals = orders.filter((order) => order.kind === 'reversal' && mayBeLost(order));
    await Promise.all(reversals.map((order) => collectOriginal(world.shop, order)));
    await setQuirks(world, QUIRKS);
  });

  after(() => world.stop());

  it(`${PAYMENTS} payments of all kinds, half of them through Daraja, end as they must, and the books are right`, async () => {
    const sent = sendOrders(world.shop, orders, SPREAD_MS);
    const frozen = freezeInSubmission(world);
    for (const type of PROCESS_TYPES) await world.crew.crash(type, DOWN_MS);
    await Promise.all([sent, frozen]);
    await setQuirks(world, { callbackLost: QUIRKS.callbackLost });
    await expectRightEnd(world, orders);
  });
});
