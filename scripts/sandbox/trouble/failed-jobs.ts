import { type Database, inTransaction, rows } from '../../../src/connections/database.ts';
import { NOBODY } from '../../../src/domain/identity/asker.ts';
import { createPayout } from '../../../src/domain/payouts/create-payout.ts';
import { recordFailedJob } from '../../../src/jobs/failed-jobs.ts';
import { queueOf } from '../../../src/jobs/job-types.ts';
import type { SandboxMerchant } from '../seed.ts';
import { DEAD_SERVER } from './payments.ts';

const AIRTEL_MONEY = 63903;
const GATEWAY = 'simulator';
const AMOUNT_CENTS = 180_000;
const DEADLINE_MS = 4 * 3_600_000;

/** Failed jobs with this error wait for the trainee. */
export const LEFT_ERROR = 'Cannot read properties of undefined (reading "account")';
/** Those with this error are replayed by a member of staff. */
export const REPLAYED_ERROR = 'getaddrinfo EAI_AGAIN gateway.example';

const JOBS: readonly { ref_no: string; phone: string; error: string }[] = [
  { ref_no: 'shida-stuck-1', phone: '+254733000301', error: LEFT_ERROR },
  { ref_no: 'shida-stuck-2', phone: '+254733000302', error: LEFT_ERROR },
  { ref_no: 'shida-stuck-3', phone: '+254733000303', error: LEFT_ERROR },
  { ref_no: 'shida-outage-1', phone: '+254733000304', error: REPLAYED_ERROR },
  { ref_no: 'shida-outage-2', phone: '+254733000305', error: REPLAYED_ERROR },
  { ref_no: 'shida-outage-3', phone: '+254733000306', error: REPLAYED_ERROR },
];

/** Makes payouts that were never sent, because the job of each has failed for good. */
export async function makeFailedJobs(database: Database, merchant: SandboxMerchant): Promise<void> {
  for (const { ref_no, phone, error } of JOBS) {
    const { id, step_no } = await unsentPayout(database, merchant, ref_no, phone);
    // A job is tried for a long time before it fails for good. So the end of that is recorded here.
    const { merchant_id } = merchant;
    const job = { kind: 'payout', step: 'submit', merchant_id, row_id: id, step_no } as const;
    await recordFailedJob(database, queueOf('payout', 'submit', GATEWAY), job, new Error(error));
  }
}

/** A payout whose first job nobody gets. */
function unsentPayout(
  database: Database,
  { merchant_id, app_code }: SandboxMerchant,
  ref_no: string,
  payto: string,
) {
  return inTransaction(database, async (trx) => {
    const payout = await createPayout(trx, {
      ...{ merchant_id, app_code, ref_no, payto, ...NOBODY, asked_app: app_code },
      ...{ amount_cents: AMOUNT_CENTS, rate: { bps: 0, fixedCents: 0 }, deadline_ms: DEADLINE_MS },
      ...{ category: 'other', narration: 'Supplies', callback_url: `${DEAD_SERVER}/webhooks` },
      ...{ channel: AIRTEL_MONEY, gateway: GATEWAY },
    });
    await rows(trx, 'DELETE FROM outbox WHERE merchant_id = :merchant_id AND row_id = :id', payout);
    return payout;
  });
}
