import { type Database, firstRow, rows } from '../../connections/database.ts';
import { MAX_COUNT } from '../lists.ts';
import type { MerchantPayment } from '../payments/payment-store.ts';
import { REF_NO } from './list-deliveries.ts';

/** An event as its merchant reads it. */
export interface FeedEvent {
  id: string;
  sequence: number;
  type: string;
  payment_kind: MerchantPayment['kind'];
  payment_id: string;
  ref_no: string | null;
  /** The exact bytes of the webhook. */
  body: string;
  created_at: Date;
}

export interface FeedPage {
  /** How many follow `after`, these included, up to `MAX_COUNT`. */
  count: number;
  events: FeedEvent[];
  /** The number after which the next page begins. Null when there is no more for now. */
  next: number | null;
}

/**
 * Reads a merchant's events with a number above `after`, in the order of their numbers. Events get
 * their numbers after the commit, one dispatcher at a time (`numberEvents`). So none ever appears
 * below a number that was read before, and a reader who remembers the highest one misses none.
 */
export async function readFeed(
  database: Database,
  merchantId: number,
  { after, limit }: { after: number; limit: number },
): Promise<FeedPage> {
  const found = await rows<FeedEvent>(
    database,
    `SELECT e.id, e.sequence, e.type, e.payment_kind, e.payment_id, ${REF_NO} AS ref_no, e.body,
       e.created_at
     FROM events e WHERE e.merchant_id = :merchant_id AND e.sequence > :after
     ORDER BY e.sequence LIMIT :limit`,
    { merchant_id: merchantId, after, limit: limit + 1 },
  );
  if (found.length <= limit) return { count: found.length, events: found, next: null };
  const events = found.slice(0, limit);
  const count = await countAfter(database, merchantId, after);
  return { count, events, next: events.at(-1)!.sequence };
}

async function countAfter(database: Database, merchantId: number, after: number): Promise<number> {
  const row = await firstRow<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM (
       SELECT FROM events WHERE merchant_id = :merchant_id AND sequence > :after
       ORDER BY sequence LIMIT :most
     ) AS counted`,
    { merchant_id: merchantId, after, most: MAX_COUNT },
  );
  return row!.count;
}
