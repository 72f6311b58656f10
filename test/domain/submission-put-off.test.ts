import { expect } from 'chai';
import { firstRow, inTransaction, rows } from '../../src/connections/database.ts';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import { openOverdue } from '../../src/domain/discrepancies/discrepancy.ts';
import type { Reversal } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { claimSubmission } from '../../src/domain/submission/claim-submission.ts';
import { withFastClock } from '../support/fast-clock.ts';
import {
  newPayment,
  newReversal,
  PAYMENT_KINDS,
  SUBMISSION_QUEUE,
} from '../support/payment-kinds.ts';
import {
  countOf,
  createTestStore,
  discrepanciesOf,
  learn,
  newCollection,
  newReturn,
  outboxOf,
  succeeded,
  type TestStore,
} from '../support/payments.ts';
import {
  NOT_FOUND,
  NOT_TAKEN,
  POLL_FIRST_MS,
  UNKNOWN,
  type Work,
  workOn,
} from '../support/submissions.ts';
import type { TestMerchant } from '../support/test-merchant.ts';

const A_DAY_MS = 86_400_000;

describe('A submission that may not go yet', () => {
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    merchant = await store.newMerchant();
  });

  after(() => store.drop());

  afterEach(() => rows(store.database, 'DELETE FROM paused_channels'));

  const claimWhilePaused = async ({ current }: Work) => {
    const payment = await current();
    return claimSubmission(store.database, refOf(payment), payment.step_no, {
      pollFirstMs: POLL_FIRST_MS,
      gateways: ['simulator'],
      allPaused: true,
    });
  };

  const pause = ({ channel }: AnyPayment) =>
    inTransaction(store.database, (trx) => pauseChannel(trx, channel));

  const resume = ({ channel }: AnyPayment) =>
    inTransaction(store.database, (trx) => resumeChannel(trx, channel));

  /** It looks again in half a minute, through the same queue, and nothing counts as an attempt. */
  async function expectPutOff(payment: AnyPayment, work: Work): Promise<void> {
    expect(await work.attempts()).to.deep.equal([]);
    const after = await work.current();
    expect(after).to.include({ status: 'pending', next_step: 'submit', parked_reason: null });
    expect(after.step_no).to.be.greaterThan(payment.step_no);
    const wait = await firstRow<{ is_later: boolean }>(
      store.database,
      `SELECT run_at > now() + interval '20 seconds' AS is_later FROM outbox
       WHERE row_id = :id AND step_no = :step_no AND queue = :queue`,
      { id: payment.id, step_no: after.step_no, queue: SUBMISSION_QUEUE[payment.kind] },
    );
    expect(wait).to.deep.equal({ is_later: true });
  }

  for (const kind of PAYMENT_KINDS) {
    it(`is put off while the channel of a ${kind} is paused, and goes on after`, async () => {
      const payment = await newPayment(kind, store.database, merchant);
      const work = workOn(store.database, payment);
      await pause(payment);
      expect(await work.claim()).to.equal(null);
      expect(await work.claim()).to.equal(null);
      await expectPutOff(payment, work);
      await resume(payment);
      expect(await work.claim()).to.include({ attemptNo: 1 });
    });

    it(`is put off while everything is paused, and the ${kind} goes on after`, async () => {
      const payment = await newPayment(kind, store.database, merchant);
      const work = workOn(store.database, payment);
      expect(await claimWhilePaused(work)).to.equal(null);
      await expectPutOff(payment, work);
      expect(await work.claim()).to.include({ attemptNo: 1 });
    });

    it(`asks about a ${kind} that may have arrived even while everything is paused`, async () => {
      const payment = await newPayment(kind, store.database, merchant);
      const work = workOn(store.database, payment);
      await work.claim();
      expect(await claimWhilePaused(work)).to.equal(null);
      expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
      expect(await work.results()).to.deep.equal([null]);
    });

    it(`sends a ${kind} again after the pause when the attempt before came to nothing`, async () => {
      const payment = await newPayment(kind, store.database, merchant);
      const work = workOn(store.database, payment);
      await work.answer(await work.claim(), NOT_TAKEN);
      expect(await claimWhilePaused(work)).to.equal(null);
      expect(await work.current()).to.include({ next_step: 'submit' });
      expect(await work.claim()).to.include({ attemptNo: 2 });
    });
  }

  it('goes at once on a channel that is not the paused one', async () => {
    const payment = await newPayment('payout', store.database, merchant);
    await pause({ ...payment, channel: 63907 });
    expect(await workOn(store.database, payment).claim()).to.include({ attemptNo: 1 });
  });

  describe('of a reversal whose collection has no receipt yet', () => {
    let reversal: Reversal;
    let work: Work;

    beforeEach(async () => {
      reversal = await newReversal(store.database, merchant, null);
      work = workOn(store.database, reversal);
    });

    const learnReceipt = (transId: string) =>
      learn(
        store.database,
        { ...reversal, kind: 'collection', id: reversal.collection_id } as never,
        succeeded({ transId }),
      );

    it('is put off until the collection learns it, and carries it then', async () => {
      expect(reversal.original_trans_id).to.equal(null);
      expect(await work.claim()).to.equal(null);
      await expectPutOff(reversal, work);
      await learnReceipt('LATER1');
      const claimed = await work.claim();
      expect(claimed).to.include({ attemptNo: 1 });
      expect(claimed!.payment).to.include({ original_trans_id: 'LATER1' });
      expect(await work.current()).to.include({ original_trans_id: 'LATER1' });
    });

    it('is claimed once, however many try when the receipt has come', async () => {
      await learnReceipt('LATER2');
      const claims = await Promise.all(Array.from({ length: 10 }, () => work.claim()));
      expect(claims.filter((claimed) => claimed !== null)).to.have.length(1);
      expect(await work.results()).to.deep.equal([null]);
    });
  });

  it('carries the receipt that its collection has at the claim, if support has corrected it', async () => {
    const reversal = await newReversal(store.database, merchant);
    await rows(
      store.database,
      `UPDATE collections SET trans_id = 'CORRECTED'
       WHERE merchant_id = :merchant_id AND id = :collection_id`,
      reversal,
    );
    const claimed = await workOn(store.database, reversal).claim();
    expect(claimed!.payment).to.include({ original_trans_id: 'CORRECTED' });
  });

  it('is no matter for a return, which goes without a receipt if it must', async () => {
    const payment = await newReturn(store.database, merchant);
    await rows(store.database, 'UPDATE returns SET original_trans_id = NULL WHERE id = :id', {
      id: payment.id,
    });
    expect(await workOn(store.database, payment).claim()).to.include({ attemptNo: 1 });
  });
});

describe('A submission after the deadline', () => {
  let store: TestStore;
  let merchant: TestMerchant;

  before(async () => {
    store = await createTestStore();
    merchant = await store.newMerchant();
  });

  after(() => store.drop());

  const makeLate = ({ kind, id }: AnyPayment) =>
    rows(
      store.database,
      `UPDATE ${kind}s SET deadline_at = now() - interval '1 second' WHERE id = :id`,
      { id },
    );

  async function expectNeverTaken(payment: AnyPayment, work: Work): Promise<void> {
    const before = (await outboxOf(store.database, payment.id)).length;
    expect(await work.claim()).to.equal(null);
    const after = await work.current();
    expect(after).to.include({ status: 'pending', next_step: null });
    expect(after.parked_reason).to.include('overdue');
    expect(await discrepanciesOf(store.database, payment.id)).to.deep.equal(['never_taken']);
    expect(await outboxOf(store.database, payment.id)).to.have.length(before);
    expect(
      await countOf(store.database, 'events WHERE payment_id = :id', payment as never),
    ).to.equal(0);
  }

  it('parks a collection that nobody has taken, for support to fail', async () => {
    const collection = await newCollection(store.database, merchant);
    await makeLate(collection);
    await expectNeverTaken(collection, workOn(store.database, collection));
  });

  it('takes it for late by the clock of the database, not by that of this machine', async () => {
    const collection = await newCollection(store.database, merchant);
    const { claim } = workOn(store.database, collection);
    expect(await withFastClock(A_DAY_MS, () => claim())).to.include({ attemptNo: 1 });
  });

  it('parks it also when every attempt has come to nothing', async () => {
    const refused = await newCollection(store.database, merchant);
    const work = workOn(store.database, refused);
    await work.answer(await work.claim(), NOT_TAKEN);
    await makeLate(refused);
    await expectNeverTaken(refused, work);
  });

  it('parks it when the gateway has ruled out that it ever arrived', async () => {
    const collection = await newCollection(store.database, merchant);
    const work = workOn(store.database, collection);
    await work.answer(await work.claim(), UNKNOWN);
    for (let asked = 0; asked < 3; asked += 1) await work.hear(NOT_FOUND);
    await makeLate(collection);
    await expectNeverTaken(collection, work);
  });

  it('goes on asking about a collection that may have arrived', async () => {
    const collection = await newCollection(store.database, merchant);
    const work = workOn(store.database, collection);
    await work.claim();
    await makeLate(collection);
    expect(await work.claim()).to.equal(null);
    expect(await work.current()).to.include({ next_step: 'poll', parked_reason: null });
    expect(await discrepanciesOf(store.database, collection.id)).to.deep.equal([]);
  });

  for (const kind of ['payout', 'reversal', 'return'] as const) {
    it(`still happens for a ${kind}: who gets money is glad of it at any time`, async () => {
      const payment = await newPayment(kind, store.database, merchant);
      await makeLate(payment);
      expect(await workOn(store.database, payment).claim()).to.include({ attemptNo: 1 });
    });
  }

  for (const kind of ['payout', 'reversal', 'return'] as const) {
    it(`goes on for a ${kind} that waits to be sent and is on the support list`, async () => {
      const payment = await newPayment(kind, store.database, merchant);
      await makeLate(payment);
      await openOverdue(store.database);
      const work = workOn(store.database, payment);
      for (let tries = 0; tries < 2; tries += 1) await work.answer(await work.claim(), NOT_TAKEN);
      expect(await work.current()).to.include({ next_step: 'submit', parked_reason: null });
      expect(await discrepanciesOf(store.database, payment.id)).to.deep.equal(['overdue']);
    });
  }

  it('waits on for a reversal whose receipt never comes and that is on the support list', async () => {
    const reversal = await newReversal(store.database, merchant, null);
    await makeLate(reversal);
    await openOverdue(store.database);
    const work = workOn(store.database, reversal);
    expect(await work.claim()).to.equal(null);
    expect(await work.current()).to.include({ next_step: 'submit' });
    expect(await discrepanciesOf(store.database, reversal.id)).to.deep.equal(['overdue']);
  });

  it('sends a reversal whose receipt comes after its deadline', async () => {
    const reversal = await newReversal(store.database, merchant, null);
    await makeLate(reversal);
    const work = workOn(store.database, reversal);
    expect(await work.claim()).to.equal(null);
    await rows(store.database, `UPDATE collections SET trans_id = 'LATER9' WHERE id = :id`, {
      id: reversal.collection_id,
    });
    const claimed = await work.claim();
    expect(claimed).to.include({ attemptNo: 1 });
    expect(claimed!.payment).to.include({ original_trans_id: 'LATER9' });
  });
});
