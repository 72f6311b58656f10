import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { rows } from '../../src/connections/database.ts';
import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { runTasks } from './load.ts';
import { createMerchants, paymentAt, recordPayment } from './payments.ts';
import { figureOf, say } from './report.ts';
import { type Stage, startService } from './stage.ts';

const HEALTHY_COUNT = 200;
/** Merchants beside them, of whom as many hang as a phase says. The others answer. */
const OTHERS_COUNT = 20;
/** The first phase warms up. The one without hanging receivers comes again at the end. */
const HANGING_COUNTS = [0, 0, 1, 4, 20, 0];
const PER_SECOND = 30;
const PHASE_MS = 30_000;
const QUICK_PHASE_MS = 10_000;
const CONCURRENCY = 16;
/** The most that the 95th percentile may be, as a multiple of the run without hanging receivers. */
const MAX_RATIO = 1.5;
const GIVE_UP_MS = 60_000;
const POLL_INTERVAL_MS = 250;

/** When a webhook arrived, in ms since 1970, by its reference. */
type Arrivals = Map<string, number>;

/** Measures how long webhooks to receivers that answer take while receivers of others hang. */
export async function measureWebhooks(stage: Stage): Promise<void> {
  const { findings, options } = stage;
  const queues = findRedisServer() ? 'redis' : 'postgres';
  await startService(stage, { queues });
  say(`making ${HEALTHY_COUNT + OTHERS_COUNT} merchants`);
  const merchants = await createMerchants(stage, HEALTHY_COUNT + OTHERS_COUNT);
  const receiver = await startMoodyReceiver(stage, merchants.length);
  const phaseMs = options.quick ? QUICK_PHASE_MS : PHASE_MS;
  const figures = [];
  for (const [phase, hanging] of HANGING_COUNTS.entries()) {
    say(`${hanging} of ${merchants.length} receivers hang`);
    const mix = { tag: `w${phase}`, merchants, kinds: ['collection'] as const };
    receiver.hanging = hanging;
    const count = (PER_SECOND * phaseMs) / 1_000;
    const load = { perSecond: PER_SECOND, count, concurrency: CONCURRENCY };
    const acceptance = await runTasks(async (index) => {
      const payment = paymentAt(index, { ...mix, callback_url: receiver.url });
      await recordPayment(stage.database, payment);
    }, load);
    const healthy = Array.from({ length: count }, (_, index) => index)
      .filter((index) => index % merchants.length < HEALTHY_COUNT)
      .map((index) => `${mix.tag}-${index}`);
    await untilArrived(receiver.arrivals, healthy);
    const latenciesMs = await sinceFinal(stage, receiver.arrivals, healthy);
    const errors = Array<string>(healthy.length - latenciesMs.length).fill('not delivered');
    const round = { latenciesMs, errors, elapsedMs: acceptance.elapsedMs };
    figures.push(figureOf(`${hanging} hang`, round));
  }
  const [, without] = figures;
  for (const figure of figures) figure.ratio = figure.p95Ms / without!.p95Ms;
  findings.figures.push(...figures.slice(1));
  findings.notes.push(
    `queues in ${queues}; ${HEALTHY_COUNT} receivers answer at once, of ${OTHERS_COUNT} more some hang; ${PER_SECOND} payments per second; from the end of a payment to the arrival of its webhook at a receiver that answers; ratio: the 95th percentile beside that without hanging receivers`,
  );
  findings.problems.push(
    ...figures
      .slice(1)
      .filter(({ ratio, errors }) => errors > 0 || ratio > MAX_RATIO)
      .map(({ name, ratio, errors }) => `${name}: ${ratio.toFixed(2)} times, ${errors} missing`),
  );
  await proveNoneLost(stage, receiver, merchants.length);
}

/** Starts a receiver that answers at once, or never while its merchant is one of those that hang. */
async function startMoodyReceiver({ stops }: Stage, merchantsCount: number) {
  const arrivals: Arrivals = new Map();
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { data: { ref_no: string } };
    const { ref_no } = body.data;
    const merchant = Number(ref_no.split('-')[1]) % merchantsCount;
    if (merchant >= merchantsCount - receiver.hanging) return;
    response.end();
    if (!arrivals.has(ref_no)) arrivals.set(ref_no, Date.now());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stops.push(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const receiver = { url: `http://127.0.0.1:${port}/webhooks`, arrivals, hanging: 0 };
  return receiver;
}

async function untilArrived(arrivals: Arrivals, refs: readonly string[]): Promise<void> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  while (refs.some((ref) => !arrivals.has(ref)) && Date.now() < giveUpAt) {
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Returns how long after the end of their payments webhooks arrived. */
async function sinceFinal({ database }: Stage, arrivals: Arrivals, refs: readonly string[]) {
  const events = await rows<{ ref_no: string; final_ms: number }>(
    database,
    `SELECT c.ref_no, CAST(extract(epoch FROM e.created_at) * 1000 AS float8) AS final_ms
     FROM collections c JOIN events e ON e.merchant_id = c.merchant_id AND e.payment_id = c.id
     WHERE c.ref_no = ANY(:refs)`,
    { refs },
  );
  return events
    .filter(({ ref_no }) => arrivals.has(ref_no))
    .map(({ ref_no, final_ms }) => arrivals.get(ref_no)! - final_ms);
}

/** Lets all receivers answer again, and proves that everything that waited has arrived. */
async function proveNoneLost(
  { database, findings }: Stage,
  receiver: Awaited<ReturnType<typeof startMoodyReceiver>>,
  merchantsCount: number,
): Promise<void> {
  say('letting all receivers answer again');
  receiver.hanging = 0;
  const giveUpAt = Date.now() + 2 * GIVE_UP_MS;
  let waiting = Number.POSITIVE_INFINITY;
  while (waiting > 0 && Date.now() < giveUpAt) {
    await sleep(POLL_INTERVAL_MS);
    // Nobody waits here for the ladders and the probes.
    await rows(database, `UPDATE webhook_endpoints SET probe_at = now() WHERE probe_at > now()`);
    await rows(
      database,
      `UPDATE webhook_deliveries SET next_step_at = now()
       WHERE admitted_at IS NULL AND next_step_at > now()`,
    );
    const left = await rows(
      database,
      `SELECT 1 FROM events e LEFT JOIN webhook_deliveries d
         ON d.merchant_id = e.merchant_id AND d.event_id = e.id
       WHERE d.status IS DISTINCT FROM 'delivered'`,
    );
    waiting = left.length;
  }
  if (waiting > 0)
    findings.problems.push(`${waiting} webhooks of ${merchantsCount} merchants lost`);
}
