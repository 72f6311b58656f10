import { v7 as uuidv7 } from 'uuid';
import { hasRow, rows, type Transaction } from '../../connections/database.ts';
import type { EndpointRef } from './endpoint-store.ts';

/** An outage that comes back within this time is the same one: nobody is told twice. */
const SETTLES_MS = 10 * 60_000;

/** That deliveries were given up is told once in an outage. Of others, so often. */
const EXHAUSTED_AGAIN_MS = 24 * 60 * 60_000;

/**
 * Records that an outage has begun or ended, to be told. It ends when the endpoint has stayed well
 * for ten minutes: a failure before takes the notice back, and goes on with the old outage.
 */
export async function addNotice(
  trx: Transaction,
  ref: EndpointRef,
  kind: 'failing' | 'recovered',
  failingSince: Date,
): Promise<void> {
  if (kind === 'failing') {
    if (await takeBackRecovery(trx, ref)) return;
    await rows(
      trx,
      `UPDATE webhook_endpoints SET told_exhausted_at = NULL
       WHERE merchant_id = :merchant_id AND endpoint = :endpoint`,
      ref,
    );
  }
  await rows(trx, INSERT_NOTICE, {
    ...ref,
    id: uuidv7(),
    kind,
    failing_since: failingSince,
    delay_ms: kind === 'recovered' ? SETTLES_MS : 0,
  });
}

const INSERT_NOTICE = `
  INSERT INTO webhook_notices
    (id, merchant_id, endpoint, kind, failing_since, last_status, last_error, send_at)
  SELECT :id, merchant_id, endpoint, :kind, :failing_since, last_status, last_error,
    clock_timestamp() + :delay_ms * interval '1 millisecond'
  FROM webhook_endpoints WHERE merchant_id = :merchant_id AND endpoint = :endpoint`;

function takeBackRecovery(trx: Transaction, ref: EndpointRef): Promise<boolean> {
  return hasRow(
    trx,
    `DELETE FROM webhook_notices
     WHERE merchant_id = :merchant_id AND endpoint = :endpoint AND kind = 'recovered'
       AND tries = 0 AND send_at > clock_timestamp()
     RETURNING id`,
    ref,
  );
}

/** Records that a delivery was given up, unless this was told in the same outage. */
export async function noticeExhausted(trx: Transaction, ref: EndpointRef): Promise<void> {
  await rows(
    trx,
    `WITH told AS (
       UPDATE webhook_endpoints SET told_exhausted_at = clock_timestamp()
       WHERE merchant_id = :merchant_id AND endpoint = :endpoint
         AND (told_exhausted_at IS NULL OR breaker = 'closed' AND told_exhausted_at
           < clock_timestamp() - :again_ms * interval '1 millisecond')
       RETURNING *
     )
     INSERT INTO webhook_notices
       (id, merchant_id, endpoint, kind, failing_since, last_status, last_error, send_at)
     SELECT :id, merchant_id, endpoint, 'exhausted', coalesce(failing_since, clock_timestamp()),
       last_status, last_error, clock_timestamp()
     FROM told`,
    { ...ref, id: uuidv7(), again_ms: EXHAUSTED_AGAIN_MS },
  );
}
