import { rows } from '../../src/connections/database.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { type AddedRows, dispatchOutbox } from '../../src/jobs/dispatch-outbox.ts';
import type { JobData } from '../../src/jobs/job-types.ts';
import { runStep } from '../../src/workers/run-worker.ts';
import { clientOf, payoutBody } from './api-client.ts';
import type { TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import type { TestMerchant } from './test-merchant.ts';
import type { TestService } from './test-service.ts';

/** So many that all payments of a test can be under way to one endpoint. */
const ENOUGH_SLOTS = 1_000;

export type Statement = { sql: string; bindings: unknown[] };

/** What happens to a payment that succeeds, in order. A dispatcher does its parts in batches. */
export const STAGES = [
  'accept',
  'dispatch',
  'submit and call back',
  'settle',
  'number and admit',
  'deliver',
] as const;
export type Stage = (typeof STAGES)[number];

/**
 * Takes payments through a service without workers to their webhooks, one stage after the other, as
 * the processes do it.
 * @returns the statements of each stage, BEGIN and COMMIT too
 */
export async function takeThrough(
  service: TestService,
  watching: TestDatabase['database'],
  payments: { kind: 'collection' | 'payout'; count: number; callbackUrl: string },
  merchant: TestMerchant,
): Promise<Record<Stage, Statement[]>> {
  const statements = Object.fromEntries(
    STAGES.map((stage) => [stage, [] as Statement[]]),
  ) as Record<Stage, Statement[]>;
  let stage: Stage = 'accept';
  // A process rings at most every 25 ms, however many payments come meanwhile.
  const note = (statement: Statement) => {
    if (!statement.sql.includes('malipo_bell')) statements[stage].push(statement);
  };
  const { database } = service;
  const added: AddedRows = [];
  const takeJobs = async () => {
    stage = 'dispatch';
    const taken: JobData[] = [];
    const add = async (_queue: string, jobs: JobData[]) => void taken.push(...jobs);
    await dispatchOutbox(
      database,
      { add, countWaiting: async () => 0, close: async () => {} },
      new Map(),
      added,
    );
    return taken;
  };
  const runAll = async (as: Stage, jobs: JobData[]) => {
    stage = as;
    for (const job of jobs) await runStep(service, job, {});
  };
  const stored = async () =>
    (await rows(watching, `SELECT FROM callbacks WHERE status = 'stored'`)).length;
  database.on('query', note);
  try {
    for (let number = 1; number <= payments.count; number += 1) {
      await accept(service, merchant, payments);
    }
    // The gateway calls back while others are submitted.
    await runAll('submit and call back', await takeJobs());
    await eventually('all callbacks to come', async () => (await stored()) === payments.count);
    await runAll('settle', await takeJobs());
    stage = 'number and admit';
    await prepareDeliveries(database, ENOUGH_SLOTS);
    await runAll('deliver', await takeJobs());
  } finally {
    database.removeListener('query', note);
  }
  return statements;
}

async function accept(
  service: TestService,
  merchant: TestMerchant,
  { kind, callbackUrl }: { kind: 'collection' | 'payout'; callbackUrl: string },
): Promise<void> {
  const client = clientOf(service, merchant);
  const own = { callback_url: callbackUrl };
  const answer =
    kind === 'collection'
      ? await client.initiate(own)
      : await client.post('/payouts/initiate', payoutBody(merchant, own));
  if (answer.status !== 200) throw new Error(`Not accepted: ${JSON.stringify(answer.body)}`);
}
