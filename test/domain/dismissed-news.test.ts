import { expect } from 'chai';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import type { Collection } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { settle } from '../../src/domain/settlement/settle.ts';
import { SO_FAR } from '../support/so-far.ts';
import { lineOf, newReceipt, runStatement } from '../support/statements.ts';
import { AMOUNT_CENTS, failed, parserOf, succeeded, useStore } from '../support/world.ts';

const FAILURE = failed({ externalRef: null });

describe('News that support has dismissed', () => {
  const store = useStore();
  let collection: Collection;
  let receipt: string;

  beforeEach(async () => {
    receipt = newReceipt();
    collection = await store.newCollection();
    await tell(succeeded({ transId: receipt, externalRef: null }));
  });

  /** The answer to a question that is asked now. */
  const tell = (news: Verdict) =>
    store.transaction(async (trx) => {
      const locked = await lockPayment(trx, refOf(collection));
      return settle(trx, locked!, news, { cause: 'poll', heardAt: new Date(), parserOf });
    });

  /** A callback with this body, applied by its job. */
  async function callBack(body: object, address: 'result' | 'answer' = 'result') {
    const askedAt = address === 'answer' ? new Date() : null;
    const place = { ...refOf(collection), address, askedAt };
    const id = await store.keepCallback('simulator', place, JSON.stringify(body));
    const callback = await findStoredCallback(store.database, collection.merchant_id, id);
    return processCallback(store.database, callback!, parserOf);
  }

  const found = () => store.discrepanciesOf(collection.id);

  async function dismiss(kind: 'failure_after_success' | 'other_amount') {
    expect(await found()).to.deep.equal([kind]);
    await store.resolve(await store.discrepancyOf(kind, collection), 'dismissed');
  }

  it('stays silent when the same callback comes again', async () => {
    await callBack(FAILURE);
    await dismiss('failure_after_success');
    await callBack(FAILURE);
    expect(await found()).to.deep.equal(['failure_after_success (resolved)']);
  });

  it('is a question again, once per decision, when a new callback says the same', async () => {
    await callBack(FAILURE);
    for (const sent of [1, 2, 3]) {
      await dismiss('failure_after_success');
      await callBack({ ...FAILURE, sent });
      const { details } = await store.discrepancyOf('failure_after_success', collection);
      expect(details).to.have.nested.property('decided_before.as', 'dismissed');
    }
    await dismiss('failure_after_success');
    await callBack({ ...FAILURE, sent: 3 });
    expect(await found()).to.deep.equal(['failure_after_success (resolved)']);
  });

  for (const [how, ask] of [
    ['at once', () => tell(FAILURE)],
    ['by a callback', () => callBack({ ...FAILURE, sent: Math.random() }, 'answer')],
  ] as const) {
    it(`is a question again by one answer ${how}, and not by each that follows`, async () => {
      await ask();
      await dismiss('failure_after_success');
      await ask();
      await dismiss('failure_after_success');
      for (let asked = 0; asked < 3; asked += 1) await ask();
      expect(await found()).to.deep.equal(['failure_after_success (resolved)']);
    });
  }

  it('is a question again when another source says the same for the first time', async () => {
    for (let asked = 0; asked < 2; asked += 1) {
      await tell(FAILURE);
      await dismiss('failure_after_success');
    }
    await callBack(FAILURE);
    expect(await found()).to.deep.equal(['failure_after_success']);
  });

  it('stays silent when the same statement comes again, and is asked about by a later one', async () => {
    const wrong = { reference: null, transId: receipt, amountCents: AMOUNT_CENTS / 2 };
    const first = [lineOf(collection, wrong)];
    const later = () => [...first, lineOf(collection, { ...OTHERS, completedAt: new Date() })];
    await runStatement(store.database, first, SO_FAR, { covers: [] });
    await dismiss('other_amount');
    await runStatement(store.database, first, SO_FAR, { covers: [] });
    expect(await found()).to.deep.equal(['other_amount (resolved)']);
    await runStatement(store.database, later(), SO_FAR, { covers: [] });
    await dismiss('other_amount');
    // A statement that is fetched every hour would ask for ever.
    await runStatement(store.database, later(), SO_FAR, { covers: [] });
    expect(await found()).to.deep.equal(['other_amount (resolved)']);
  });

  it('stays silent when a file has a line that is still to come, and is asked about by a later one', async () => {
    const wrong = { reference: null, transId: receipt, amountCents: AMOUNT_CENTS / 2 };
    const to = (completedAt: Date) => [
      lineOf(collection, wrong),
      lineOf(collection, { ...OTHERS, completedAt }),
    ];
    const future = to(new Date('2099-01-01'));
    await runStatement(store.database, future, SO_FAR, { covers: [] }, 'file.csv');
    await dismiss('other_amount');
    for (let time = 1; time <= 2; time += 1) {
      await runStatement(store.database, future, SO_FAR, { covers: [] }, 'file.csv');
      expect(await found()).to.deep.equal(['other_amount (resolved)']);
    }
    await runStatement(store.database, to(new Date()), SO_FAR, { covers: [] });
    expect(await found()).to.deep.equal(['other_amount']);
  });
});

/** A movement of nobody here. */
const OTHERS = { reference: 'OF-NOBODY', account: '+254733000222' };
