import { firstRow, rows, type Transaction } from '../../connections/database.ts';
import type { AttemptOutcome } from './delivery.ts';
import { afterFailure, afterSuccess, type Endpoint, FULL_CONCURRENCY } from './endpoint.ts';
import { addNotice, noticeExhausted } from './notices.ts';

/** Names an endpoint: scheme, host and port of a merchant's callback addresses. */
export interface EndpointRef {
  merchant_id: number;
  endpoint: string;
}

/** SQL: an endpoint `p` whose next success says nothing new. Once a day its time is noted. */
export const IS_SETTLED = `p.breaker = 'closed' AND p.failures = 0
  AND p.concurrency >= ${FULL_CONCURRENCY} AND p.last_success_at > now() - interval '1 day'`;

/** Takes note of an attempt: of the endpoint's state, and of what is to be told about it. */
export async function noteAttempt(
  trx: Transaction,
  ref: EndpointRef,
  outcome: AttemptOutcome,
  result: 'delivered' | 'retry' | 'exhausted' | 'stopped',
): Promise<void> {
  const { now, ...before } = await lockEndpoint(trx, ref);
  // A receiver that answers 410 works. It does not want this event.
  const isFailure = result === 'retry' || result === 'exhausted';
  const change = isFailure ? afterFailure(before, outcome, now) : afterSuccess(before, now);
  await storeEndpoint(trx, ref, change.endpoint);
  const failingSince = change.endpoint.failing_since ?? before.failing_since;
  if (change.notice) await addNotice(trx, ref, change.notice, failingSince!);
  if (result === 'exhausted') await noticeExhausted(trx, ref);
}

/** Locks an endpoint, which has a row from its first attempt on. `now` is the database's time. */
async function lockEndpoint(trx: Transaction, ref: EndpointRef): Promise<Endpoint & { now: Date }> {
  const lock = () =>
    firstRow<Endpoint & { now: Date }>(
      trx,
      `SELECT ${COLUMNS.join(', ')}, clock_timestamp() AS now FROM webhook_endpoints
       WHERE merchant_id = :merchant_id AND endpoint = :endpoint FOR UPDATE`,
      ref,
    );
  const found = await lock();
  if (found) return found;
  await rows(
    trx,
    `INSERT INTO webhook_endpoints (merchant_id, endpoint) VALUES (:merchant_id, :endpoint)
     ON CONFLICT DO NOTHING`,
    ref,
  );
  return (await lock())!;
}

const COLUMNS = [
  'breaker',
  'concurrency',
  'failures',
  'failing_since',
  'times_out',
  'last_status',
  'last_error',
  'last_failure_at',
  'last_success_at',
  'opened_at',
  'probes',
  'probe_at',
  'told_exhausted_at',
] as const satisfies (keyof Endpoint)[];

async function storeEndpoint(
  trx: Transaction,
  ref: EndpointRef,
  endpoint: Endpoint,
): Promise<void> {
  await rows(
    trx,
    `UPDATE webhook_endpoints SET ${COLUMNS.map((column) => `${column} = :${column}`).join(', ')},
       changed_at = clock_timestamp()
     WHERE merchant_id = :merchant_id AND endpoint = :endpoint`,
    { ...endpoint, ...ref },
  );
}

/**
 * Lets the next probe go at once where the breaker is open: somebody says that it is worth a try.
 * @param ref without an endpoint: all of the merchant
 * @returns the number of endpoints whose probe would have come later
 */
export async function probeNow(
  trx: Transaction,
  { merchant_id, endpoint = null }: Pick<EndpointRef, 'merchant_id'> & { endpoint?: string | null },
): Promise<number> {
  const moved = await rows(
    trx,
    // Locks in one order, so that two of these never wait for each other.
    `WITH waiting AS (
       SELECT merchant_id, endpoint FROM webhook_endpoints
       WHERE merchant_id = :merchant_id AND breaker = 'open' AND probe_at > clock_timestamp()
         AND endpoint = coalesce(CAST(:endpoint AS text), endpoint)
       ORDER BY endpoint FOR UPDATE
     )
     UPDATE webhook_endpoints p SET probe_at = clock_timestamp()
     FROM waiting w WHERE p.merchant_id = w.merchant_id AND p.endpoint = w.endpoint
     RETURNING p.endpoint`,
    { merchant_id, endpoint },
  );
  return moved.length;
}
