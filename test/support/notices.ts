import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Database, inTransaction, rows } from '../../src/connections/database.ts';
import { OPENS_AFTER } from '../../src/domain/webhooks/endpoint.ts';
import { type EndpointRef, noteAttempt } from '../../src/domain/webhooks/endpoint-store.ts';
import { rewrite } from './database.ts';
import { outcomeOf } from './events.ts';

export interface PostedNotice {
  kind: string;
  merchant_id: number;
  merchant_name: string;
  endpoint: string;
  failing_since: string;
  last_status: number | null;
  last_error: string | null;
  waiting: number;
  created_at: string;
}

export interface NoticeHook {
  url: string;
  received: PostedNotice[];
  answerWith(status: number): void;
  close(): Promise<void>;
}

/** The operator's own receiver of notices. */
export async function startNoticeHook(): Promise<NoticeHook> {
  const received: PostedNotice[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (status === 204) received.push(JSON.parse(body));
    response.writeHead(status, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notices?token=mine`,
    received,
    answerWith: (next) => {
      status = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Records so many failed attempts, which open the breaker of an endpoint if nothing else is said. */
export async function failEndpoint(
  database: Database,
  ref: EndpointRef,
  outcome = outcomeOf({ status: 503 }),
  times = OPENS_AFTER,
): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await inTransaction(database, (trx) => noteAttempt(trx, ref, outcome, 'retry'));
  }
}

/** Records an attempt that succeeded. */
export function recoverEndpoint(database: Database, ref: EndpointRef): Promise<void> {
  return inTransaction(database, (trx) =>
    noteAttempt(trx, ref, outcomeOf({ status: 200 }), 'delivered'),
  );
}

/** Lets the time pass that notices wait for: those of a kind, or all. */
export async function makeNoticesDue(
  database: Database,
  kind: string | null = null,
): Promise<void> {
  await rows(
    database,
    `UPDATE webhook_notices SET send_at = now()
     WHERE sent_at IS NULL AND kind = coalesce(CAST(:kind AS text), kind)`,
    { kind },
  );
}

/** Moves every notice into the past. */
export async function makeNoticesOlder(database: Database, hours: number): Promise<void> {
  await rewrite(
    database,
    `UPDATE webhook_notices SET created_at = created_at - :hours * interval '1 hour',
       send_at = send_at - :hours * interval '1 hour',
       emailed_at = emailed_at - :hours * interval '1 hour'`,
    { hours },
  );
}
