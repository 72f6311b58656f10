import { expect } from 'chai';
import { firstRow, rows } from '../../src/connections/database.ts';
import {
  type DeliveryResult,
  findDelivery,
  RETRY_DELAYS_MS,
  recordAttempt,
} from '../../src/domain/webhooks/delivery.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/time.ts';
import { deliveryOf, makeDue, newEvent, outcomeOf } from '../support/events.ts';
import { createTestStore, outboxOf, type TestStore } from '../support/payments.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

const LADDER_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
];

let store: TestStore;
let merchant: TestMerchant;

/** The delivery of a new event, admitted: its job could run. */
async function newDelivery(callbackUrl?: string): Promise<string> {
  const eventId = await newEvent(store.database, merchant, callbackUrl);
  await prepareDeliveries(store.database, 1_000);
  return eventId;
}

const find = (event_id: string, step_no: number) =>
  findDelivery(store.database, { merchant_id: merchant.merchant_id, event_id, step_no });

async function attempt(
  eventId: string,
  status: number | null,
  random?: () => number,
  retryAfterMs: number | null = null,
): Promise<DeliveryResult> {
  const { step_no } = await deliveryOf(store.database, eventId);
  const delivery = await find(eventId, step_no);
  const error = status === null ? 'timeout' : null;
  const answer = status === null ? null : 'Danke 🎉';
  const outcome = outcomeOf({ status, error, answer, retryAfterMs, durationMs: 12.5 });
  return recordAttempt(store.database, delivery!, outcome, random);
}

/** As if the pause were over: the next attempt can run. */
async function comeAgain(eventId: string): Promise<void> {
  await makeDue(store.database, eventId);
  await prepareDeliveries(store.database, 1_000);
}

const attemptsOf = (eventId: string) =>
  rows(
    store.database,
    `SELECT attempt_no, response_status, error, answer, duration_ms FROM webhook_attempts
     WHERE event_id = :id ORDER BY attempt_no`,
    { id: eventId },
  );

describe('The delivery of a webhook', () => {
  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  beforeEach(async () => {
    merchant = await store.newMerchant();
  });

  const ANSWERS: [status: number | null, result: DeliveryResult][] = [
    [200, 'delivered'],
    [201, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [410, 'stopped'],
    [null, 'retry'],
    [199, 'retry'],
    [300, 'retry'],
    [302, 'retry'],
    [400, 'retry'],
    [401, 'retry'],
    [404, 'retry'],
    [409, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
  ];
  for (const [status, result] of ANSWERS) {
    it(`is ${result === 'retry' ? 'tried again' : result} after ${status ?? 'no answer'}`, async () => {
      const id = await newDelivery();
      expect(await attempt(id, status)).to.equal(result);
      const after = await deliveryOf(store.database, id);
      expect(after).to.include({
        status: result === 'retry' ? 'pending' : result,
        next_step: result === 'retry' ? 'deliver' : null,
        attempts: 1,
        admitted: false,
      });
      expect(await attemptsOf(id)).to.deep.equal([
        {
          attempt_no: 1,
          response_status: status,
          error: status === null ? 'timeout' : null,
          answer: status === null ? null : 'Danke 🎉',
          duration_ms: 13,
        },
      ]);
    });
  }

  it('is tried eleven times more, by this ladder, and is then exhausted', async () => {
    expect(RETRY_DELAYS_MS).to.deep.equal(LADDER_MS);
    const id = await newDelivery();
    for (const delayMs of LADDER_MS) {
      const earliest = (await clock()) + delayMs;
      expect(await attempt(id, 500, () => 0)).to.equal('retry');
      const latest = (await clock()) + delayMs;
      const { next_step_at } = await deliveryOf(store.database, id);
      expect(next_step_at!.getTime()).to.be.within(earliest, latest);
      await comeAgain(id);
    }
    expect(await attempt(id, 500)).to.equal('exhausted');
    expect(await deliveryOf(store.database, id)).to.include({
      status: 'exhausted',
      attempts: LADDER_MS.length + 1,
      next_step: null,
    });
    expect(await attemptsOf(id)).to.have.length(LADDER_MS.length + 1);
    await prepareDeliveries(store.database, 1_000);
    expect((await deliveryOf(store.database, id)).admitted).to.equal(false);
  });

  it('is put off by up to a fifth longer, so that what failed together does not return together', async () => {
    for (const [random, share] of [
      [0.5, 1.1],
      [1, 1.2],
    ] as const) {
      const id = await newDelivery();
      const earliest = (await clock()) + LADDER_MS[0]! * share;
      await attempt(id, 500, () => random);
      const latest = (await clock()) + LADDER_MS[0]! * share;
      const { next_step_at } = await deliveryOf(store.database, id);
      expect(next_step_at!.getTime()).to.be.within(earliest - 1, latest + 1);
    }
  });

  it('is put off by what the receiver asks for, if that is longer than the ladder, and up to a day', async () => {
    for (const [retryAfterMs, delayMs] of [
      [null, 6 * SECOND_MS],
      [0, 6 * SECOND_MS],
      [5.9 * SECOND_MS, 6 * SECOND_MS],
      [7 * SECOND_MS, 7 * SECOND_MS],
      [24 * HOUR_MS, 24 * HOUR_MS],
      [25 * HOUR_MS, 24 * HOUR_MS],
      [Number.MAX_SAFE_INTEGER, 24 * HOUR_MS],
    ] as const) {
      merchant = await store.newMerchant();
      const id = await newDelivery();
      const earliest = (await clock()) + delayMs;
      expect(await attempt(id, 503, () => 1, retryAfterMs)).to.equal('retry');
      const latest = (await clock()) + delayMs;
      const { next_step_at } = await deliveryOf(store.database, id);
      expect(next_step_at!.getTime(), `${retryAfterMs}`).to.be.within(earliest - 1, latest + 1);
    }
  });

  it('has as many attempts as ever, whatever its receiver asks for', async () => {
    const id = await newDelivery();
    for (const _delayMs of LADDER_MS) {
      expect(await attempt(id, 429, () => 0, HOUR_MS)).to.equal('retry');
      await comeAgain(id);
    }
    expect(await attempt(id, 429, () => 0, HOUR_MS)).to.equal('exhausted');
    expect(await deliveryOf(store.database, id)).to.include({ next_step: null });
  });

  it('waits for its next attempt in the database, without a job', async () => {
    const id = await newDelivery();
    const jobs = await outboxOf(store.database, id);
    await attempt(id, 500);
    expect(await outboxOf(store.database, id)).to.deep.equal(jobs);
  });

  it('is found by the job of its newest step only, and only while it is admitted', async () => {
    const id = await newDelivery();
    const { step_no } = await deliveryOf(store.database, id);
    expect(await find(id, step_no - 1)).to.equal(null);
    expect(await find(id, step_no)).to.include({ event_id: id, attempts: 0 });
    await attempt(id, 500);
    expect(await find(id, step_no)).to.equal(null);
    expect(await find(id, step_no + 1)).to.equal(null);
  });

  it('counts an attempt once, also when two were under way', async () => {
    const id = await newDelivery();
    const { step_no } = await deliveryOf(store.database, id);
    const delivery = await find(id, step_no);
    const outcomes = [200, 500, 200].map((status) => outcomeOf({ status }));
    for (const outcome of outcomes) await recordAttempt(store.database, delivery!, outcome);
    expect(await attemptsOf(id)).to.have.length(1);
    expect(await deliveryOf(store.database, id)).to.include({ status: 'delivered', attempts: 1 });
  });

  /** The database's time, which is the one that counts. */
  async function clock(): Promise<number> {
    const row = await firstRow<{ now: Date }>(store.database, 'SELECT clock_timestamp() AS now');
    return row!.now.getTime();
  }
});
