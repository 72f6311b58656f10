import {
  type Database,
  inTransaction,
  rows,
  type Transaction,
} from '../../../src/connections/database.ts';
import { NOBODY } from '../../../src/domain/access/asker.ts';
import { createCollection } from '../../../src/domain/collections/create-collection.ts';
import { createPayout } from '../../../src/domain/payouts/create-payout.ts';
import { recordFailedJob } from '../../../src/jobs/failed-jobs.ts';
import { queueOf } from '../../../src/jobs/job-types.ts';
import type { SandboxMerchant } from '../seed.ts';
import { AIRTEL_MONEY, GATEWAY } from './payments.ts';

const AMOUNT_CENTS = 180_000;
/** Long enough for a trainee: nothing is sent after its deadline. */
const DEADLINE_MS = 24 * 3_600_000;

/** Those with this error are replayed by a member of staff. The others wait for the trainee. */
export const REPLAYED_ERROR = 'getaddrinfo EAI_AGAIN gateway.example';
const NO_ACCOUNT = 'Cannot read properties of undefined (reading "account")';
const NO_JSON = 'Unexpected token < in JSON at position 0';

interface Unsent {
  kind: 'collection' | 'payout';
  ref_no: string;
  phone: string;
  error: string;
}

const JOBS: readonly Unsent[] = [
  { kind: 'payout', ref_no: 'shida-stuck-1', phone: '+254733000301', error: NO_ACCOUNT },
  { kind: 'payout', ref_no: 'shida-stuck-2', phone: '+254733000302', error: NO_ACCOUNT },
  { kind: 'payout', ref_no: 'shida-stuck-3', phone: '+254733000303', error: NO_ACCOUNT },
  { kind: 'collection', ref_no: 'shida-unsent-1', phone: '+254733000304', error: NO_JSON },
  { kind: 'collection', ref_no: 'shida-unsent-2', phone: '+254733000305', error: NO_JSON },
  { kind: 'payout', ref_no: 'shida-outage-1', phone: '+254733000306', error: REPLAYED_ERROR },
  { kind: 'payout', ref_no: 'shida-outage-2', phone: '+254733000307', error: REPLAYED_ERROR },
  { kind: 'payout', ref_no: 'shida-outage-3', phone: '+254733000308', error: REPLAYED_ERROR },
];

/**
 * Makes payments that were never sent, because the job of each has failed for good. They complete
 * once the job is replayed, and the merchant hears of it at `receiverUrl`.
 */
export async function makeFailedJobs(
  database: Database,
  merchant: SandboxMerchant,
  receiverUrl: string,
): Promise<void> {
  for (const unsent of JOBS) {
    const { kind, error } = unsent;
    const { id, step_no } = await inTransaction(database, async (trx) => {
      const payment = await accept(trx, merchant, receiverUrl, unsent);
      // Nobody gets its first job.
      const sql = 'DELETE FROM outbox WHERE merchant_id = :merchant_id AND row_id = :id';
      await rows(trx, sql, payment);
      return payment;
    });
    const { merchant_id } = merchant;
    const job = { kind, step: 'submit', merchant_id, row_id: id, step_no } as const;
    // A job is tried for a long time before it fails for good. So only the end of that is made.
    await recordFailedJob(database, queueOf(kind, 'submit', GATEWAY), job, new Error(error));
  }
}

function accept(
  trx: Transaction,
  { merchant_id, app_code }: SandboxMerchant,
  callback_url: string,
  { kind, ref_no, phone }: Unsent,
) {
  const common = {
    merchant_id,
    app_code,
    ref_no,
    callback_url,
    ...NOBODY,
    asked_app: app_code,
    amount_cents: AMOUNT_CENTS,
    rate: { bps: 0, fixedCents: 0 },
    deadline_ms: DEADLINE_MS,
    channel: AIRTEL_MONEY,
    gateway: GATEWAY,
  };
  return kind === 'collection'
    ? createCollection(trx, { ...common, payfrom: phone, account_number: 'INV-7' })
    : createPayout(trx, { ...common, payto: phone, category: 'other', narration: 'Supplies' });
}
