import { openDatabase } from '../../../src/connections/database.ts';
import { createCollection } from '../../../src/domain/collections/create-collection.ts';
import { acceptTask } from './accept-task.ts';
import { assertOk, bearer, createHttpClient, type HttpClient } from './http-client.ts';
import { initiateTask } from './initiate-task.ts';
import type { Work } from './order.ts';

const AMOUNT_CENTS = 25_000;
const COMMISSION = { bps: 150, fixedCents: 0 };
const DEADLINE_MS = 600_000;
const MPESA_CHANNEL = 63_902;
const CALLBACK_URL = 'https://shop.example/webhooks';
const ACCOUNT_NUMBER = 'INV-7';
const PHONES_COUNT = 10_000_000;

/** One kind of work, ready to be done. */
export interface Task {
  /** Does it once; `index` tells each from all others. @throws Error when it does not succeed */
  run(index: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens the connections that the work needs. */
export function prepareWork(work: Work, concurrency: number): Task {
  if (work.kind === 'insert') return insertTask(work);
  if (work.kind === 'accept') return acceptTask(work);
  if (work.kind === 'initiate') return initiateTask(work, concurrency);
  const client = createHttpClient(concurrency);
  return {
    run: work.kind === 'get' ? getter(work, client) : initiator(work, client),
    close: async () => client.close(),
  };
}

function getter({ url, token }: Work & { kind: 'get' }, client: HttpClient) {
  const headers: Record<string, string> = token === null ? {} : bearer(token);
  return async () => assertOk(await client.send(url, { headers }));
}

/** What a merchant's server sends: every request another payment, spread over the merchants. */
function initiator(work: Work & { kind: 'checkout' }, client: HttpClient) {
  const url = `${work.baseUrl}/collections/checkouts/initiate`;
  return async (index: number) => {
    const refNo = `${work.tag}-${index}`;
    const headers = {
      ...bearer(work.tokens[index % work.tokens.length]!),
      ...(work.keyed && { 'idempotency-key': refNo }),
    };
    const json = {
      payfrom: phoneOf(index),
      amount: (AMOUNT_CENTS / 100).toFixed(2),
      ref_no: refNo,
      account_number: ACCOUNT_NUMBER,
      callback_url: CALLBACK_URL,
    };
    assertOk(await client.send(url, { headers, json }));
  };
}

/** The statement with which the service records a collection, and nothing around it. */
function insertTask({ databaseUrl, poolMax, payees, tag }: Work & { kind: 'insert' }): Task {
  const database = openDatabase(databaseUrl, poolMax, 'malipo-bench');
  return {
    run: async (index) => {
      await createCollection(database, {
        ...payees[index % payees.length]!,
        payfrom: phoneOf(index),
        amount_cents: AMOUNT_CENTS,
        ref_no: `${tag}-${index}`,
        account_number: ACCOUNT_NUMBER,
        callback_url: CALLBACK_URL,
        channel: MPESA_CHANNEL,
        gateway: 'simulator',
        rate: COMMISSION,
        deadline_ms: DEADLINE_MS,
      });
    },
    close: () => database.destroy(),
  };
}

function phoneOf(index: number): string {
  return `+25471${String(index % PHONES_COUNT).padStart(7, '0')}`;
}
