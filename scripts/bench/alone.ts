import { setTimeout as sleep } from 'node:timers/promises';
import { rows } from '../../src/connections/database.ts';
import { waitAtMost } from '../../src/time.ts';
import { findRedisServer } from '../sandbox/embedded/redis.ts';
import { type Outcome, proveBooks, startReceiver } from './backlog.ts';
import { type BenchMerchant, createMerchants, paymentAt } from './payments.ts';
import { type Figure, figureOf, say } from './report.ts';
import { initiate } from './soak.ts';
import { type Queues, SIMULATOR_DELAY_MS, type Stage, startService } from './stage.ts';

const PAYMENTS_COUNT = 200;
const QUICK_PAYMENTS_COUNT = 50;
/** The first payments find cold processes. */
const WARM_UP_COUNT = 20;
/** A quiet service: all of the last payment is over. */
const PAUSE_MS = 300;
const GIVE_UP_MS = 30_000;

/** Measures one payment at a time, with nothing else to do: how long each stage waits for the next. */
export async function measureAlone(stage: Stage): Promise<void> {
  const { findings } = stage;
  const merchants = await createMerchants(stage, 1);
  if (findRedisServer()) await measureBackend(stage, 'redis', merchants);
  await measureBackend(stage, 'postgres', merchants);
  findings.notes.push(
    `one payment at a time, ${PAUSE_MS} ms after the last one; the gateway calls back after ${SIMULATOR_DELAY_MS} ms`,
  );
  await proveBooks(stage);
}

async function measureBackend(stage: Stage, queues: Queues, merchants: BenchMerchant[]) {
  const { findings, options } = stage;
  const service = await startService(stage, { queues });
  const outcomes = new Map<string, Outcome>();
  const callback_url = await startReceiver(stage, outcomes);
  const count = options.quick ? QUICK_PAYMENTS_COUNT : PAYMENTS_COUNT;
  say(`${queues}: ${count} payments, one after the other`);
  for (let index = 0; index < WARM_UP_COUNT + count; index += 1) {
    const payment = paymentAt(index, { tag: queues, merchants, callback_url });
    const outcome: Outcome = { isDeclined: false, ids: new Set() };
    outcomes.set(payment.ref_no, outcome);
    const delivered = new Promise<void>((resolve) =>
      Object.assign(outcome, { onDelivered: resolve }),
    );
    await initiate(stage, payment);
    await waitAtMost(delivered, GIVE_UP_MS, `${queues}: ${payment.ref_no} has no webhook`);
    await sleep(PAUSE_MS);
  }
  findings.figures.push(...(await stagesOf(stage, queues, outcomes)));
  await service.stop();
}

/** When each stage of a payment began, in ms since 1970. */
interface Stages {
  ref_no: string;
  accepted: number;
  sent: number;
  called_back: number;
  ended: number;
}

const AS_MS = (time: string) => `CAST(extract(epoch FROM ${time}) * 1000 AS float8)`;

const STAGES = (kind: string) => `
  SELECT p.ref_no, ${AS_MS('p.created_at')} AS accepted, ${AS_MS('a.started_at')} AS sent,
    ${AS_MS('c.received_at')} AS called_back, ${AS_MS('h.happened_at')} AS ended
  FROM ${kind}s p
  JOIN attempts a ON a.merchant_id = p.merchant_id AND a.payment_id = p.id AND a.attempt_no = 1
  JOIN callbacks c ON c.merchant_id = p.merchant_id AND c.payment_id = p.id
  JOIN payment_history h ON h.merchant_id = p.merchant_id AND h.payment_id = p.id
    AND h.to_status = 'completed'
  WHERE p.ref_no LIKE :tag`;

async function stagesOf(
  { database }: Stage,
  queues: Queues,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<Figure[]> {
  const all = await rows<Stages>(
    database,
    `${STAGES('collection')} UNION ALL ${STAGES('payout')}`,
    { tag: `${queues}-%` },
  );
  const warm = all.filter(({ ref_no }) => Number(ref_no.split('-')[1]) >= WARM_UP_COUNT);
  const told = ({ ref_no }: Stages) => outcomes.get(ref_no)!.deliveredMs!;
  const waits: [string, (of: Stages) => number][] = [
    ['accepted to sent', ({ accepted, sent }) => sent - accepted],
    ['sent to called back', ({ sent, called_back }) => called_back - sent],
    ['called back to ended', ({ called_back, ended }) => ended - called_back],
    ['ended to told', (of) => told(of) - of.ended],
    ['accepted to told', (of) => told(of) - of.accepted],
  ];
  return waits.map(([name, wait]) => {
    const latenciesMs = warm.map(wait);
    const elapsedMs = Number.NaN;
    return figureOf(`${queues}: ${name}`, { latenciesMs, elapsedMs, errors: [] });
  });
}
