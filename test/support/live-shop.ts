import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Database, rows } from '../../src/connections/database.ts';
import { collectionBody, payoutBody, request } from './api-client.ts';
import { eventually } from './eventually.ts';
import type { FakeMerchant } from './fake-merchant.ts';
import { expectRightBooks } from './ledger-check.ts';
import type { TestMerchant } from './test-merchant.ts';

const PAYS = '+254712345678';
const HAS_NOTHING = '+254712345001';
/** How many send at once, and how long each rests after a payment. */
const SENDERS = 4;
const REST_MS = 300;
const LOOK_INTERVAL_MS = 200;
const ALL_ENDED_WITHIN_MS = 60_000;

export interface LiveShop {
  /** With `/api/v1` at its end. */
  baseUrl: string;
  merchant: TestMerchant;
  receiver: FakeMerchant;
}

interface Payment {
  refNo: string;
  status: string;
}

/** A shop that sends payments of all kinds, and knows how each must end. */
export function openLiveShop(shop: LiveShop, name: string) {
  const expected: Payment[] = [];
  /** Nobody knows whether these were accepted. */
  const unclear = new Set<string>();
  let count = 0;

  async function post(path: string, body: Record<string, unknown>) {
    const url = `${shop.baseUrl}${path}`;
    const answer = await request('POST', url, { access: shop.merchant.access, body });
    // A reversal that the gateway does not answer to in time is accepted all the same.
    if (answer.status === 200 || answer.status === 502) return answer.body;
    unclear.add(String(body.ref_no));
    throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  const newFields = () => {
    count += 1;
    return { ref_no: `${name}-${count}`, callback_url: shop.receiver.url };
  };

  async function collect(payfrom: string, status: string): Promise<{ id: string; refNo: string }> {
    const fields = newFields();
    const path = '/collections/checkouts/initiate';
    const { id } = await post(path, collectionBody({ ...fields, payfrom }));
    expected.push({ refNo: fields.ref_no, status });
    return { id, refNo: fields.ref_no };
  }

  async function pay(payto: string, status: string): Promise<void> {
    const fields = newFields();
    await post('/payouts/initiate', payoutBody(shop.merchant, { ...fields, payto }));
    expected.push({ refNo: fields.ref_no, status });
  }

  async function collectAndReverse(stopped?: AbortSignal): Promise<void> {
    const { id, refNo } = await collect(PAYS, 'completed');
    const url = `${shop.baseUrl}/collections/checkouts/${id}`;
    for (;;) {
      const { body } = await request('GET', url, { access: shop.merchant.access });
      if (body.status === 'completed') break;
      // While nothing is sent, nothing completes.
      if (stopped?.aborted) return;
      await sleep(LOOK_INTERVAL_MS);
    }
    const fields = newFields();
    await post('/reversals/initiate', { ...fields, checkout_ref_no: refNo });
    expected.push({ refNo: fields.ref_no, status: 'completed' });
  }

  const KINDS = [
    () => collect(PAYS, 'completed'),
    () => pay(PAYS, 'completed'),
    () => collect(HAS_NOTHING, 'failed'),
    () => pay(HAS_NOTHING, 'failed'),
    (stopped?: AbortSignal) => collectAndReverse(stopped),
  ];

  return {
    /** Sends one payment of each kind. @throws when any is not accepted */
    async sendOneOfEach(): Promise<void> {
      await Promise.all(KINDS.map((send) => send()));
    },

    /** Sends all the time, until told to stop. Each error is noted, and the sender goes on. */
    async sendUntil(stopped: AbortSignal): Promise<Error[]> {
      const errors: Error[] = [];
      const send = async (_: unknown, sender: number) => {
        for (let turn = sender; !stopped.aborted; turn += 1) {
          await KINDS[turn % KINDS.length]!(stopped).catch((error) => errors.push(error));
          await sleep(REST_MS);
        }
      };
      await Promise.all(Array.from({ length: SENDERS }, send));
      return errors;
    },

    sentCount: () => expected.length,

    /** Fails unless every payment that was accepted ends as it must, each with one event that is delivered, and the books are right. */
    async expectRightEnds(database: Database): Promise<void> {
      await eventually('every payment to end', () => isAllEnded(database), ALL_ENDED_WITHIN_MS);
      const found = await rows<Payment>(
        database,
        `SELECT p.ref_no AS "refNo", p.status FROM (
           SELECT ref_no, status FROM collections UNION ALL SELECT ref_no, status FROM payouts
           UNION ALL SELECT ref_no, status FROM reversals) p WHERE p.ref_no LIKE :name || '-%'`,
        { name },
      );
      const inOrder = (list: Payment[]) => list.sort((a, b) => (a.refNo < b.refNo ? -1 : 1));
      const isClear = ({ refNo }: Payment) => !unclear.has(refNo);
      expect(inOrder(found.filter(isClear))).to.deep.equal(inOrder(expected));
      for (const { refNo } of expected) {
        const ids = shop.receiver.webhooksFor(refNo).map(({ headers }) => headers['webhook-id']);
        expect(new Set(ids).size, `events that the merchant got for ${refNo}`).to.equal(1);
      }
      await expectRightBooks(database);
    },
  };
}

async function isAllEnded(database: Database): Promise<boolean> {
  const [row] = await rows<{ open: number }>(
    database,
    `SELECT (SELECT count(*) FROM collections WHERE next_step IS NOT NULL)
       + (SELECT count(*) FROM payouts WHERE next_step IS NOT NULL)
       + (SELECT count(*) FROM reversals WHERE next_step IS NOT NULL)
       + (SELECT count(*) FROM events WHERE sequence IS NULL)
       + (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered') AS open`,
  );
  return row!.open === 0;
}
