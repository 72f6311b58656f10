import { type Database, rows } from '../../src/connections/database.ts';
import { storeCallback } from '../../src/domain/settlement/callback-store.ts';

export interface StoredCallback {
  id: string;
  body: string;
  status: string;
  problem: string | null;
  payment_id: string | null;
}

/** What was stored at the addresses of one payment, oldest first. */
export function callbacksOf(database: Database, payment: { id: string }) {
  return rows<StoredCallback>(
    database,
    'SELECT * FROM callbacks WHERE payment_id = :id ORDER BY id',
    { id: payment.id },
  );
}

/** The simulator's word that a payment of 100.00 has succeeded. */
export function successBody({ reference }: { reference: string }, overrides: object = {}) {
  return {
    reference,
    kind: 'collection',
    status: 'succeeded',
    external_ref: 'GW-1',
    amount: '100.00',
    account: '+254712345678',
    trans_id: `T${reference.slice(-9)}`,
    result_code: 0,
    result_description: 'Done',
    completed_at: '2026-11-20T10:00:00.000Z',
    ...overrides,
  };
}

/** Stores a callback as the API does. @returns its id */
export async function keepCallback(...callback: Parameters<typeof storeCallback>): Promise<string> {
  const id = await storeCallback(...callback);
  if (id === null) throw new Error('The callback was dropped');
  return id;
}
