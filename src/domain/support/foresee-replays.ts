import { type Database, rows } from '../../connections/database.ts';
import { STEP_TABLES } from '../../jobs/job-types.ts';
import type { DiscrepancyKind } from '../discrepancies/discrepancy.ts';
import type { GatewayPaymentKind } from '../gateway-results.ts';
import { awaitsRefund } from '../payments/kinds.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { isOverdue, PAYMENT_KINDS } from '../payments/payment-summary.ts';
import { MAY_HAVE_ARRIVED } from '../submission/attempts.ts';
import { isTooLate } from '../submission/claim-submission.ts';
import { decideReplay, type PaymentFacts } from './decide-replay.ts';
import type { FailedJob } from './failed-job-store.ts';
import type { Replay } from './replay-failed-job.ts';

/**
 * Tells the effect that the replay of each of many jobs would have now. It locks nothing, so
 * something may change before the replay, which decides anew.
 */
export async function foreseeReplays(database: Database, jobs: FailedJob[]): Promise<Replay[]> {
  const facts = new Map<string, PaymentFacts>();
  for (const kind of PAYMENT_KINDS) {
    const ofKind = jobs.filter((job) => job.kind === kind);
    if (ofKind.length === 0) continue;
    for (const found of await factsOf(database, kind, ofKind)) {
      facts.set(keyOf({ kind, merchant_id: found.merchant_id, row_id: found.id }), toFacts(found));
    }
  }
  return jobs.map((job) => ({ ...decideReplay(job, facts.get(keyOf(job)) ?? null), job }));
}

function keyOf({ kind, merchant_id, row_id }: Pick<FailedJob, 'kind' | 'merchant_id' | 'row_id'>) {
  return `${kind} ${merchant_id} ${row_id}`;
}

interface Found {
  kind: GatewayPaymentKind;
  merchant_id: number;
  id: string;
  status: PaymentStatus;
  overdue: boolean;
  refund_posted_at: Date | null;
  may_have_arrived: boolean;
  open: DiscrepancyKind[];
}

function toFacts(found: Found): PaymentFacts {
  return {
    status: found.status,
    awaitsRefund: found.kind === 'payout' && awaitsRefund(found),
    mayHaveArrived: found.may_have_arrived,
    isTooLate: isTooLate(found),
    openDiscrepancies: found.open,
  };
}

/** Reads what `planReplay` reads of one payment, of many at once. */
function factsOf(
  database: Database,
  kind: GatewayPaymentKind,
  jobs: FailedJob[],
): Promise<Found[]> {
  return rows<Found>(
    database,
    `SELECT '${kind}' AS kind, t.merchant_id, t.id, t.status, ${isOverdue('t')} AS overdue,
       ${kind === 'payout' ? 't.refund_posted_at' : 'CAST(NULL AS timestamptz) AS refund_posted_at'},
       EXISTS (SELECT FROM attempts WHERE merchant_id = t.merchant_id AND payment_kind = '${kind}'
         AND payment_id = t.id AND ${MAY_HAVE_ARRIVED}) AS may_have_arrived,
       ARRAY(SELECT d.kind FROM discrepancies d WHERE d.merchant_id = t.merchant_id
         AND d.payment_kind = '${kind}' AND d.payment_id = t.id
         AND d.resolved_at IS NULL) AS open
     FROM (SELECT DISTINCT * FROM unnest(CAST(:merchant_ids AS bigint[]), CAST(:ids AS uuid[]))
       AS wanted (merchant_id, id)) AS wanted
     JOIN ${STEP_TABLES[kind].table} t ON t.merchant_id = wanted.merchant_id AND t.id = wanted.id`,
    {
      merchant_ids: jobs.map(({ merchant_id }) => merchant_id),
      ids: jobs.map(({ row_id }) => row_id),
    },
  );
}
