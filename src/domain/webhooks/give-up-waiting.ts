import {
  type Database,
  hasRow,
  inTransaction,
  rows,
  type Transaction,
} from '../../connections/database.ts';
import { changeStep } from '../../jobs/outbox.ts';
import { noticeExhausted } from './notices.ts';

/** After this wait at an open breaker a delivery is given up. Twice the whole ladder. */
const LONGEST_WAIT_DAYS = 7;

/** The most deliveries that one round gives up. */
const BATCH_SIZE = 200;

interface Waiting {
  merchant_id: number;
  event_id: string;
  endpoint: string;
  step_no: number;
}

/**
 * Ends deliveries that have waited too long for their endpoint to come back. They spent no attempt
 * meanwhile, so the ladder would never end. Each stays listed, and can be sent again.
 * @returns how many it ended
 */
export async function giveUpWaiting(database: Database): Promise<number> {
  const waiting = await rows<Waiting>(
    database,
    `SELECT d.merchant_id, d.event_id, d.endpoint, d.step_no FROM webhook_deliveries d
     JOIN webhook_endpoints p USING (merchant_id, endpoint)
     WHERE d.next_step IS NOT NULL AND d.admitted_at IS NULL AND p.breaker = 'open'
       AND d.next_step_at < now() - :days * interval '1 day'
     ORDER BY d.next_step_at LIMIT :batch`,
    { days: LONGEST_WAIT_DAYS, batch: BATCH_SIZE },
  );
  let count = 0;
  for (const delivery of waiting) if (await giveUp(database, delivery)) count += 1;
  return count;
}

function giveUp(database: Database, delivery: Waiting): Promise<boolean> {
  const { merchant_id, event_id, step_no } = delivery;
  return inTransaction(database, async (trx) => {
    // It may have come back while others were given up.
    if (!(await isHeld(trx, delivery))) return false;
    const ref = { kind: 'webhook', merchant_id, id: event_id } as const;
    const isGivenUp = await changeStep(trx, ref, 'none', {
      set: { status: 'exhausted' },
      onlyIf: { step_no },
    });
    if (isGivenUp) await noticeExhausted(trx, delivery);
    return isGivenUp;
  });
}

function isHeld(trx: Transaction, { merchant_id, endpoint }: Waiting): Promise<boolean> {
  return hasRow(
    trx,
    `SELECT FROM webhook_endpoints
     WHERE merchant_id = :merchant_id AND endpoint = :endpoint AND breaker = 'open'`,
    { merchant_id, endpoint },
  );
}
