import { type Database, firstRow, rows } from '../../src/connections/database.ts';
import type { AttemptOutcome } from '../../src/domain/webhooks/delivery.ts';
import { learn, newCollection, succeeded } from './payments.ts';
import type { TestMerchant } from './test-merchant.ts';

/** A settlement event as a completed collection leaves it: not numbered yet. @returns its id. */
export async function newEvent(
  database: Database,
  merchant: TestMerchant,
  callback_url = 'http://shop.example/hook',
): Promise<string> {
  const collection = await newCollection(database, merchant, { callback_url });
  await learn(database, collection, succeeded());
  const event = await firstRow<{ id: string }>(
    database,
    'SELECT id FROM events WHERE payment_id = :id',
    { id: collection.id },
  );
  return event!.id;
}

export interface DeliveryRow {
  event_id: string;
  endpoint: string;
  status: string;
  attempts: number;
  admitted: boolean;
  next_step: string | null;
  next_step_at: Date | null;
  step_no: number;
}

/** A merchant's deliveries in the order of their numbers. */
export function deliveriesOf(database: Database, merchant_id: number): Promise<DeliveryRow[]> {
  return rows<DeliveryRow>(
    database,
    `SELECT d.*, d.admitted_at IS NOT NULL AS admitted
     FROM webhook_deliveries d JOIN events e ON e.merchant_id = d.merchant_id AND e.id = d.event_id
     WHERE d.merchant_id = :id ORDER BY e.sequence`,
    { id: merchant_id },
  );
}

export async function deliveryOf(database: Database, eventId: string): Promise<DeliveryRow> {
  const row = await firstRow<DeliveryRow>(
    database,
    `SELECT *, admitted_at IS NOT NULL AS admitted FROM webhook_deliveries
     WHERE event_id = :id`,
    { id: eventId },
  );
  return row!;
}

/** Lets the time pass that a delivery, or a probe of its endpoint, has to wait for. */
export async function makeDue(database: Database, eventId: string): Promise<void> {
  await rows(
    database,
    `UPDATE webhook_endpoints p SET probe_at = now() FROM webhook_deliveries d
     WHERE d.event_id = :id AND p.merchant_id = d.merchant_id AND p.endpoint = d.endpoint
       AND p.breaker = 'open'`,
    { id: eventId },
  );
  await rows(database, 'UPDATE webhook_deliveries SET next_step_at = now() WHERE event_id = :id', {
    id: eventId,
  });
}

/** The outcome of an attempt: no answer, but for what is given. */
export function outcomeOf(known: Partial<AttemptOutcome>): AttemptOutcome {
  return {
    ...{ status: null, error: null, timedOut: false, retryAfterMs: null, answer: null },
    reason: null,
    durationMs: 1,
    ...known,
  };
}
