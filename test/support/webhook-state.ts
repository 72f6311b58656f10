import { type Database, rows } from '../../src/connections/database.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { newEvent } from './events.ts';
import type { TestMerchant } from './test-merchant.ts';

/** The columns of a delivery that a test sets. */
interface State {
  status?: 'pending' | 'delivered' | 'exhausted' | 'stopped';
  attempts?: number;
  /** When the next attempt is due, in ms from now. Only of a pending one. */
  dueInMs?: number;
  admitted?: boolean;
  parked_reason?: string | null;
}

/** A webhook whose event has a number, in this state. @returns its id. */
export async function newWebhook(
  database: Database,
  merchant: TestMerchant,
  state: State = {},
  callback_url?: string,
): Promise<string> {
  const id = await newEvent(database, merchant, callback_url);
  await prepareDeliveries(database, 0);
  await setState(database, id, state);
  return id;
}

export async function setState(database: Database, id: string, state: State): Promise<void> {
  const { status = 'pending', attempts = 0, dueInMs = 0 } = state;
  const { admitted = false, parked_reason = null } = state;
  const isOpen = status === 'pending' && parked_reason === null;
  await rows(
    database,
    `UPDATE webhook_deliveries SET status = :status, attempts = :attempts,
       next_step = CASE WHEN :is_open THEN 'deliver' END,
       next_step_at = CASE WHEN :is_open THEN now() + :due_in_ms * interval '1 millisecond' END,
       admitted_at = CASE WHEN :admitted THEN now() END, parked_reason = :parked_reason,
       delivered_at = CASE WHEN :status = 'delivered' THEN now() END
     WHERE event_id = :id`,
    { id, status, attempts, is_open: isOpen, due_in_ms: dueInMs, admitted, parked_reason },
  );
}

interface AttemptRow {
  attempt_no: number;
  response_status: number | null;
  error?: string | null;
  answer?: string | null;
}

/** Adds attempts of a webhook, oldest first. */
export async function addAttempts(
  database: Database,
  merchant_id: number,
  event_id: string,
  attempts: AttemptRow[],
): Promise<void> {
  for (const attempt of attempts) {
    await rows(
      database,
      `INSERT INTO webhook_attempts
         (merchant_id, event_id, attempt_no, response_status, error, answer, duration_ms)
       VALUES (:merchant_id, :event_id, :attempt_no, :response_status, :error, :answer, 143)`,
      { merchant_id, event_id, error: null, answer: null, ...attempt },
    );
  }
}
