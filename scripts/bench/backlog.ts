import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyLedger } from '../../src/domain/ledger/verification/verify-ledger.ts';
import { startCpuCount } from './cpu-time.ts';
import { type Load, runTasks } from './load.ts';
import { type BenchPayment, DECLINED, type Mix, paymentAt } from './payments.ts';
import { figureOf, say } from './report.ts';
import type { Service, Stage } from './stage.ts';

/** Enough merchants that no share of webhooks holds the others up. */
export const MERCHANTS_COUNT = 8;
const POLL_INTERVAL_MS = 500;
const POLLS_PER_LINE_COUNT = 10;
/** A drain that takes longer is given up: this, and so much for each payment. */
const GIVE_UP_BASE_MS = 20_000;
const GIVE_UP_PER_PAYMENT_MS = 40;

/** A payment as its merchant sees it. Times are ms since 1970. */
export interface Outcome {
  isDeclined: boolean;
  acceptedMs?: number;
  deliveredMs?: number;
  event?: string;
  /** Ids of its webhooks. A webhook that comes again has the same. */
  ids: Set<string>;
  /** Called at each webhook. */
  onDelivered?: () => void;
}

export interface Backlog extends Pick<Mix, 'tag' | 'merchants' | 'endings'> {
  load: Load & { count: number; perSecond?: number };
  accept(payment: BenchPayment): Promise<unknown>;
}

/** Has payments accepted while the service runs, and waits until the last webhook has arrived. */
export async function drainBacklog(
  stage: Stage,
  { pids, storePids }: Service,
  { load, accept, ...mix }: Backlog,
) {
  const outcomes = new Map<string, Outcome>();
  const callback_url = await startReceiver(stage, outcomes);
  const cpuSince = startCpuCount([...pids, ...storePids]);
  const acceptance = await runTasks(async (index) => {
    const payment = paymentAt(index, { ...mix, callback_url });
    const outcome: Outcome = { isDeclined: payment.payto.endsWith(DECLINED), ids: new Set() };
    outcomes.set(payment.ref_no, outcome);
    await accept(payment);
    outcome.acceptedMs = Date.now();
  }, load);
  const all = [...outcomes.values()];
  const giveUpAt = Date.now() + GIVE_UP_BASE_MS + load.count * GIVE_UP_PER_PAYMENT_MS;
  const isWaiting = (one: Outcome) => one.acceptedMs && !one.deliveredMs;
  for (let polls = 1; all.some(isWaiting) && Date.now() < giveUpAt; polls += 1) {
    const waiting = all.filter(isWaiting).length;
    if (polls % POLLS_PER_LINE_COUNT === 0) say(`${waiting} of ${all.length} not delivered`);
    await sleep(POLL_INTERVAL_MS);
  }
  const cpu = [...cpuSince()].map(([name, ms]) => ({ name, ms: ms / load.count }));
  const cpuMs = cpu.reduce((sum, { ms }) => sum + ms, 0);
  const problems = [acceptance.errors[0], problemOf(all, load.count)].filter(Boolean);
  return {
    acceptance,
    delivered: figureOf('accepted to delivered', { ...deliveryOf(all), cpuMs }),
    cpuNote: `CPU ms for one payment: ${cpu.map(({ name, ms }) => `${name} ${ms.toFixed(2)}`).join(', ')}`,
    problems: problems.map((problem) => `${mix.tag}: ${problem}`),
  };
}

/** Starts the merchants' side, which answers 200 at once. @returns its address */
export async function startReceiver(
  { stops }: Stage,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { [part: string]: Record<string, string> };
    response.end();
    const outcome = outcomes.get(body.data!.ref_no!)!;
    outcome.ids.add(String(request.headers['webhook-id']));
    outcome.event = body.notification!.event!;
    outcome.deliveredMs ??= Date.now();
    outcome.onDelivered?.();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stops.push(async () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
}

/** Measures from acceptance to webhook. The rate is over the time from the first acceptance. */
export function deliveryOf(outcomes: readonly Outcome[]) {
  const delivered = outcomes.filter((one) => one.acceptedMs && one.deliveredMs);
  const latenciesMs = delivered.map((one) => one.deliveredMs! - one.acceptedMs!);
  const first = outcomes.reduce((min, { acceptedMs = min }) => Math.min(min, acceptedMs), Infinity);
  const last = delivered.reduce((max, one) => Math.max(max, one.deliveredMs!), first);
  const errors = Array<string>(outcomes.length - delivered.length).fill('not delivered');
  return { latenciesMs, elapsedMs: last - first, errors };
}

/** Says in one line what is wrong with payments that should be over; null: nothing. */
export function problemOf(outcomes: readonly Outcome[], count: number): string | null {
  const numberOf = (isWrong: (outcome: Outcome) => boolean) => outcomes.filter(isWrong).length;
  const endOf = ({ isDeclined }: Outcome) => `transaction.${isDeclined ? 'failed' : 'completed'}`;
  const problems = Object.entries({
    'were not accepted': count - numberOf(({ acceptedMs }) => acceptedMs !== undefined),
    'have no webhook': numberOf(({ ids }) => ids.size === 0),
    'have webhooks under two ids': numberOf(({ ids }) => ids.size > 1),
    'did not end as they must': numberOf((one) => one.ids.size > 0 && one.event !== endOf(one)),
  }).filter(([, found]) => found > 0);
  if (problems.length === 0) return null;
  return `of ${count} payments ${problems.map(([what, found]) => `${found} ${what}`).join(', ')}`;
}

/** Proves the books. A break is a problem. */
export async function proveBooks({ database, findings }: Stage): Promise<void> {
  say('proving the books');
  const { breaks } = await verifyLedger(database, { full: true });
  if (breaks.length === 0) return;
  findings.problems.push(`${breaks.length} breaks of the books: ${JSON.stringify(breaks[0])}`);
}
