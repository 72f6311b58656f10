import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { firstRow } from '../../src/connections/database.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { createService, loadConfig, type Service } from '../../src/service/service.ts';
import { SECOND_MS } from '../../src/time.ts';
import { deliverWebhook } from '../../src/workers/steps.ts';
import { deliveryOf, newEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { closedPortUrl } from '../support/gateway-fixtures.ts';
import { createTestStore, type TestStore } from '../support/payments.ts';
import {
  FIRST_RUNG,
  type Next,
  RECEIVERS,
  type Row,
  SHORT_TIMEOUT_MS,
  TIMED_OUT,
} from '../support/receiver-table.ts';
import { type Receiver, startReceiver } from '../support/receivers.ts';
import { SILENT } from '../support/world.ts';

const MAX_BODY_BYTES = 16 * 1_024;
/** What a socket of Node reads at once. It stops after the read that goes over the limit. */
const READ_BYTES = 64 * 1_024;

let store: TestStore;
/** One that waits as long as usual, and one that soon gives up. */
let patient: Service;
let hasty: Service;

interface Attempt {
  response_status: number | null;
  error: string | null;
  answer: string | null;
  attempted_at: Date;
}

/** So many that retries of other receivers never take the place of the webhook that is looked at. */
const SLOTS = 1_000;

/**
 * Sends the webhook of a new payment of a new merchant to an address, once.
 * @returns what was recorded of it.
 */
async function send(url: string, service = patient) {
  const { database } = store;
  const merchant = await store.newMerchant();
  const event_id = await newEvent(database, merchant, url);
  await prepareDeliveries(database, SLOTS);
  const { step_no } = await deliveryOf(database, event_id);
  const { merchant_id } = merchant;
  await deliverWebhook(service, { merchant_id, event_id, step_no }, {});
  const attempt = await firstRow<Attempt>(
    database,
    'SELECT * FROM webhook_attempts WHERE merchant_id = :merchant_id AND event_id = :event_id',
    { merchant_id, event_id },
  );
  return { attempt: attempt!, delivery: await deliveryOf(database, event_id) };
}

function expectNext({ attempt, delivery }: Awaited<ReturnType<typeof send>>, next: Next): void {
  const status = typeof next === 'string' ? next : 'pending';
  expect(delivery).to.include({ status, attempts: 1, admitted: false });
  if (typeof next === 'string') return void expect(delivery.next_step_at).to.equal(null);
  const waitMs = delivery.next_step_at!.getTime() - attempt.attempted_at.getTime();
  // The two times are of one statement, and some milliseconds apart.
  expect(waitMs).to.be.within(next[0] - SECOND_MS, next[1] + SECOND_MS);
}

function expectRecorded(attempt: Attempt, status: number | null, recorded: Row[2]): void {
  const { response_status, error, answer } = attempt;
  expect([response_status, status === null ? answer : error]).to.deep.equal([status, null]);
  const text = status === null ? error : answer;
  if (recorded instanceof RegExp) expect(text).to.match(recorded);
  else expect(text).to.equal(recorded);
}

describe('A webhook to a receiver that', () => {
  let shop: FakeMerchant;
  const receivers = new Map<string, Receiver>();
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  /** The sockets that this process has opened, by the address of the receiver. */
  const sockets = new Map<string, Socket>();
  const onSocket = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.once('connect', () =>
      sockets.set(`${socket.remoteAddress}:${socket.remotePort}`, socket),
    );
  };

  before(async () => {
    process.on('unhandledRejection', onRejection);
    subscribe('net.client.socket', onSocket);
    store = await createTestStore();
    shop = await startFakeMerchant();
    patient = serviceWith({});
    hasty = serviceWith({ WEBHOOK_TIMEOUT_MS: String(SHORT_TIMEOUT_MS) });
  });

  after(async () => {
    await Promise.all([...receivers.values()].map((receiver) => receiver.close()));
    await shop.close();
    await store.drop();
    unsubscribe('net.client.socket', onSocket);
    process.off('unhandledRejection', onRejection);
  });

  function serviceWith(env: Record<string, string>): Service {
    return createService(loadConfig({ DATABASE_URL: store.url, ...env }), SILENT, store.database);
  }

  /** Whatever a receiver did, the next webhook of another arrives. */
  async function expectHealthy(): Promise<void> {
    const before = shop.received.length;
    const { attempt } = await send(shop.url);
    expect(attempt).to.include({ response_status: 200, error: null, answer: '' });
    expect(shop.received).to.have.length(before + 1);
  }

  for (const [what, row] of Object.entries(RECEIVERS)) {
    const [receive, status, recorded, next, scheme = 'http'] = row;
    it(`${what}: ${typeof next === 'string' ? next : 'sent again later'}`, async () => {
      const receiver = await startReceiver(receive);
      receivers.set(what, receiver);
      const service = recorded === TIMED_OUT ? hasty : patient;
      const sent = await send(`${scheme}://${receiver.host}/hook`, service);
      expectRecorded(sent.attempt, status, recorded);
      expectNext(sent, next);
      await expectHealthy();
      expect(receiver.requests, 'asked once').to.equal(1);
    });
  }

  it('answers a gigabyte: is read no further than it must be', async () => {
    const receiver = receivers.get('answers a gigabyte')!;
    await eventually('the connection is closed', async () => receiver.open === 0);
    const { bytesRead } = sockets.get(receiver.host)!;
    expect(bytesRead).to.be.within(MAX_BODY_BYTES, MAX_BODY_BYTES + 2 * READ_BYTES);
  });

  for (const [what, urlOf, error] of [
    ['does not listen', closedPortUrl, /ECONNREFUSED/],
    [
      'has no name',
      async () => 'http://nobody.invalid/hook',
      /^The host leads to no public address$/,
    ],
  ] as const) {
    it(`${what}: sent again later`, async () => {
      const sent = await send(await urlOf());
      expectRecorded(sent.attempt, null, error);
      expectNext(sent, FIRST_RUNG);
      await expectHealthy();
    });
  }

  it('did any of this leaves no connection open, and no promise unhandled', async () => {
    await eventually('all connections are closed', async () =>
      [...receivers.values()].every(({ open }) => open === 0),
    );
    expect(rejections).to.deep.equal([]);
  });
});
