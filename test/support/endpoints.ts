import { type Database, firstRow, rows } from '../../src/connections/database.ts';
import { type Endpoint, FULL_CONCURRENCY } from '../../src/domain/webhooks/endpoint.ts';

const WELL = {
  breaker: 'closed',
  concurrency: FULL_CONCURRENCY,
  failures: 0,
  failing_since: null,
  times_out: false,
  opened_at: null,
  probe_at: null,
} as const satisfies Partial<Endpoint>;

/** Makes an endpoint one that has answered well for long, or one in another state. */
export async function makeEndpoint(
  database: Database,
  merchant_id: number,
  endpoint: string,
  state: Partial<Endpoint> = {},
): Promise<void> {
  const columns = { ...WELL, last_success_at: new Date(), ...state };
  const names = Object.keys(columns);
  await rows(
    database,
    `INSERT INTO webhook_endpoints (merchant_id, endpoint, ${names.join(', ')})
     VALUES (:merchant_id, :endpoint, ${names.map((name) => `:${name}`).join(', ')})
     ON CONFLICT (merchant_id, endpoint)
     DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    { merchant_id, endpoint, ...columns },
  );
}

/** An endpoint whose breaker is open. The next probe is due at `probe_at`, or now. */
export const OPEN = {
  breaker: 'open',
  concurrency: 1,
  failures: 5,
  failing_since: new Date(),
  opened_at: new Date(),
  probe_at: new Date(0),
} as const satisfies Partial<Endpoint>;

export async function endpointOf(
  database: Database,
  merchant_id: number,
  endpoint: string,
): Promise<Endpoint | undefined> {
  return firstRow<Endpoint>(
    database,
    `SELECT * FROM webhook_endpoints WHERE merchant_id = :merchant_id AND endpoint = :endpoint`,
    { merchant_id, endpoint },
  );
}
