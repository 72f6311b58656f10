import { setTimeout as sleep } from 'node:timers/promises';
import { verifyLedger } from '../../src/domain/ledger/verification/verify-ledger.ts';
import { startCpuCount } from './cpu-time.ts';
import { runTasks, type TaskLoad } from './load.ts';
import { type BenchPayment, DECLINED, type Mix, paymentAt } from './payments.ts';
import { figureOf, say } from './report.ts';
import { type Service, type Stage, startReceiver } from './stage.ts';

const POLL_INTERVAL_MS = 500;
const POLLS_PER_LINE_COUNT = 10;
/** A drain that takes longer is given up: this, and so much for each payment. */
const GIVE_UP_BASE_MS = 20_000;
const GIVE_UP_PER_PAYMENT_MS = 40;

/** What the merchant sees of a payment. Times are ms since 1970. */
export interface Outcome {
  isDeclined: boolean;
  acceptedMs?: number;
  finalMs?: number;
  deliveredMs?: number;
  event?: string;
  /** Ids of its webhooks. A webhook that comes again has the same. */
  ids: Set<string>;
}

interface Backlog {
  mix: Omit<Mix, 'callback_url'>;
  load: TaskLoad & { count: number };
  accept(payment: BenchPayment): Promise<void>;
}

/** Has payments accepted while the service runs, and waits until the last webhook has arrived. */
export async function drainBacklog(
  stage: Stage,
  { pids, storePids }: Service,
  { mix, load, accept }: Backlog,
) {
  const outcomes = new Map<string, Outcome>();
  const callback_url = await startReceiver(stage, (id, body) => {
    const { notification, data } = body as { [part: string]: Record<string, string> };
    const outcome = outcomes.get(data!.ref_no!)!;
    outcome.ids.add(id);
    outcome.event = notification!.event!;
    outcome.finalMs = timeOf(id);
    outcome.deliveredMs ??= Date.now();
  });
  const cpuSince = startCpuCount(new Map([...pids, ...storePids]));
  const acceptance = await runTasks(async (index) => {
    const payment = paymentAt(index, { ...mix, callback_url });
    const outcome: Outcome = { isDeclined: payment.payto.endsWith(DECLINED), ids: new Set() };
    outcomes.set(payment.ref_no, outcome);
    await accept(payment);
    outcome.acceptedMs = Date.now();
  }, load);
  const all = [...outcomes.values()];
  const giveUpAt = Date.now() + GIVE_UP_BASE_MS + load.count * GIVE_UP_PER_PAYMENT_MS;
  for (let polls = 1; Date.now() < giveUpAt; polls += 1) {
    const waiting = all.filter((one) => one.acceptedMs && !one.deliveredMs).length;
    if (waiting === 0) break;
    if (polls % POLLS_PER_LINE_COUNT === 0) say(`${waiting} of ${all.length} not delivered`);
    await sleep(POLL_INTERVAL_MS);
  }
  const cpuMs = [...cpuSince()].map(([name, ms]) => [name, ms / load.count] as const);
  const totalCpuMs = cpuMs.reduce((sum, [, ms]) => sum + ms, 0);
  const problems = [acceptance.firstError, problemOf(all, load.count)];
  return {
    acceptance,
    outcomes: all,
    delivered: { ...figureBetween(all, 'accepted', 'delivered'), totalCpuMs },
    /** For one payment, by process. */
    cpuMs,
    problems: problems.filter((one) => one !== null).map((problem) => `${mix.tag}: ${problem}`),
  };
}

/** Reads the time in an event's id, which is made when the payment ends: milliseconds come first. */
function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

type Moment = 'accepted' | 'final' | 'delivered';

/** Measures payments from one moment to another. Rates are over the time from the first acceptance. */
export function figureBetween(outcomes: readonly Outcome[], from: Moment, to: Moment) {
  const spans = outcomes.map((outcome) => [outcome[`${from}Ms`], outcome[`${to}Ms`]] as const);
  const reached = spans.filter((span): span is [number, number] => !span.includes(undefined));
  const latenciesMs = reached.map(([begun, ended]) => ended - begun);
  const first = outcomes.reduce((min, { acceptedMs = min }) => Math.min(min, acceptedMs), Infinity);
  const elapsedMs = reached.reduce((max, [, ended]) => Math.max(max, ended), first) - first;
  const errors = outcomes.length - reached.length;
  return figureOf(`${from} to ${to}`, [{ latenciesMs, elapsedMs, errors, firstError: null }]);
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
