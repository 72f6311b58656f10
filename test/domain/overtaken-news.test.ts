import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Database, firstRow } from '../../src/connections/database.ts';
import type { ParsedCallback } from '../../src/domain/gateway-results.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { type Callback, findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { keepCallback } from '../support/callbacks.ts';
import { newPayment, PAYMENT_KINDS } from '../support/payment-kinds.ts';
import {
  createTestStore,
  discrepanciesOf,
  failed,
  learn,
  newsOf,
  parserOf,
  reread,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

const FAILURE: ParsedCallback = { reference: null, verdict: failed() };

describe('A failure that is heard before or after a success', () => {
  let store: TestStore;
  let database: Database;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    database = store.database;
    merchant = await store.newMerchant();
  });

  after(() => store.drop());

  for (const kind of PAYMENT_KINDS) {
    it(`is overtaken when it was heard before it, for a ${kind}`, async () => {
      const payment = await newPayment(kind, database, merchant);
      const id = await keepCallback(database, 'simulator', refOf(payment), '{}');
      await learn(database, payment, succeeded(), 'poll');
      expect(await process(id)).to.equal('repeat');
      expect(await discrepanciesOf(database, payment.id)).to.deep.equal([]);
      expect(await reread(database, payment)).to.include({ status: 'completed' });
    });

    it(`is contrary when it was heard after it, for a ${kind}`, async () => {
      const payment = await newPayment(kind, database, merchant);
      await learn(database, payment, succeeded(), 'poll');
      const id = await keepCallback(database, 'simulator', refOf(payment), '{}');
      expect(await process(id)).to.equal('discrepancy');
      expect(await discrepanciesOf(database, payment.id)).to.deep.equal(['failure_after_success']);
    });
  }

  for (const kind of PAYMENT_KINDS) {
    it(`is contrary when both have waited to be applied, for a ${kind}`, async () => {
      const payment = await newPayment(kind, database, merchant);
      const bodies = [newsOf(payment, succeeded()), failed()].map((news) => JSON.stringify(news));
      const ids = [];
      for (const body of bodies) {
        ids.push(await keepCallback(database, 'simulator', refOf(payment), body));
        // The gateway tells of both some milliseconds apart.
        await sleep(5);
      }
      const job = await findStoredCallback(database, payment.merchant_id, ids[0]!);
      await processCallback(database, job!, parserOf);
      expect(await reread(database, payment)).to.include({ status: 'completed' });
      expect(await discrepanciesOf(database, payment.id)).to.deep.equal(['failure_after_success']);
    });
  }

  async function process(id: string) {
    const row = await firstRow<Callback>(database, 'SELECT * FROM callbacks WHERE id = :id', {
      id,
    });
    const callback = await findStoredCallback(database, row!.merchant_id, id);
    return processCallback(database, callback!, () => () => FAILURE);
  }
});
