import { expect } from 'chai';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import type { Reversal } from '../../src/domain/payments/kinds.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { claimSubmission } from '../../src/domain/submission/claim-submission.ts';
import { withFastClock } from '../support/fast-clock.ts';
import {
  NOT_FOUND,
  NOT_TAKEN,
  PAYMENT_KINDS,
  POLL_FIRST_MS,
  SUBMISSION_QUEUE,
  succeeded,
  UNKNOWN,
  useStore,
  type Work,
} from '../support/world.ts';

const A_DAY_MS = 86_400_000;

describe('A submission that may not go yet', () => {
  const store = useStore({ merchant: 'all' });

  afterEach(() => store.rows('DELETE FROM paused_channels'));

  const claimWhilePaused = async ({ current }: Work) => {
    const payment = await current();
    return claimSubmission(store.database, refOf(payment), payment.step_no, {
      pollFirstMs: POLL_FIRST_MS,
      gateways: ['simulator'],
      allPaused: true,
    });
  };

  const pause = ({ channel }: AnyPayment) => store.transaction((trx) => pauseChannel(trx, channel));

  const resume = ({ channel }: AnyPayment) =>
    store.transaction((trx) => resumeChannel(trx, channel));

  /** It looks again in half a minute, through the same queue, and nothing counts as an attempt. */
  async function expectPutOff(payment: AnyPayment, work: Work): Promise<void> {
    expect(await work.attempts()).to.deep.equal([]);
    const after = await work.current();
    expect(after).to.include({ status: 'pending', next_step: 'submit', parked_reason: null });
    expect(after.step_no).to.be.greaterThan(payment.step_no);
    const wait = await store.firstRow<{ is_later: boolean }>(
      `SELECT run_at > now() + interval '20 seconds' AS is_later FROM outbox
       WHERE row_id = :id AND step_no = :step_no AND queue = :queue`,
      { id: payment.id, step_no: after.step_no, queue: SUBMISSION_QUEUE[payment.kind] },
    );
    expect(wait).to.deep.equal({ is_later: true });
  }

  for (const kind of PAYMENT_KINDS) {
    it(`is put off while the channel of a ${kind} is paused, and goes on after`, async () => {
      const payment = await store.newPayment(kind);
      const work = store.workOn(payment);
      await pause(payment);
      expect(await work.claim()).to.equal(null);
      expect(await work.claim()).to.equal(null);
      await expectPutOff(payment, work);
      await resume(payment);
      expect(await work.claim()).to.include({ attemptNo: 1 });
    });

    it(`is put off while everything is paused, and the ${kind} goes on after`, async () => {
      const payment = await store.newPayment(kind);
      const work = store.workOn(payment);
      expect(await claimWhilePaused(work)).to.equal(null);
      await expectPutOff(payment, work);
      expect(await work.claim()).to.include({ attemptNo: 1 });
    });

    it(`asks about a ${kind} that may have arrived even while everything is paused`, async () => {
      const payment = await store.newPayment(kind);
      const work = store.workOn(payment);
      await work.claim();
      expect(await claimWhilePaused(work)).to.equal(null);
      expect(await work.current()).to.include({ status: 'pending', next_step: 'poll' });
      expect(await work.results()).to.deep.equal([null]);
    });

    it(`sends a ${kind} again after the pause when the attempt before came to nothing`, async () => {
      const payment = await store.newPayment(kind);
      const work = store.workOn(payment);
      await work.answer(await work.claim(), NOT_TAKEN);
      expect(await claimWhilePaused(work)).to.equal(null);
      expect(await work.current()).to.include({ next_step: 'submit' });
      expect(await work.claim()).to.include({ attemptNo: 2 });
    });
  }

  it('goes at once on a channel that is not the paused one', async () => {
    const payment = await store.newPayment('payout');
    await pause({ ...payment, channel: 63907 });
    expect(await store.workOn(payment).claim()).to.include({ attemptNo: 1 });
  });

  describe('of a reversal whose collection has no receipt yet', () => {
    let reversal: Reversal;
    let work: Work;

    beforeEach(async () => {
      reversal = await store.newReversal(null);
      work = store.workOn(reversal);
    });

    const learnReceipt = (transId: string) =>
      store.learn(
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
    const reversal = await store.newReversal();
    await store.rows(
      `UPDATE collections SET trans_id = 'CORRECTED'
       WHERE merchant_id = :merchant_id AND id = :collection_id`,
      reversal,
    );
    const claimed = await store.workOn(reversal).claim();
    expect(claimed!.payment).to.include({ original_trans_id: 'CORRECTED' });
  });

  for (const kind of ['receipt_of_another', 'doubted', 'failure_after_success'] as const) {
    it(`is put off while the receipt of its collection is in question (${kind})`, async () => {
      const reversal = await store.newReversal();
      const work = store.workOn(reversal);
      const { merchant_id, collection_id: id } = reversal;
      await store.transaction((trx) =>
        openDiscrepancy(trx, {
          kind,
          payment: { kind: 'collection', merchant_id, id },
          details: {},
        }),
      );
      expect(await work.claim()).to.equal(null);
      await expectPutOff(reversal, work);
      await store.rows(
        `UPDATE discrepancies SET resolved_at = now(), resolution = 'dismissed',
           resolved_by = 'x', resolved_reason = 'x' WHERE payment_id = :id`,
        { id },
      );
      expect(await work.claim()).to.include({ attemptNo: 1 });
    });
  }

  it('is put off while somebody may have had the money of its collection sent back', async () => {
    const reversal = await store.newReversal();
    const work = store.workOn(reversal);
    const { merchant_id, collection_id } = reversal;
    await store.transaction((trx) =>
      openDiscrepancy(trx, {
        ...{ kind: 'unknown_movement', gateway: 'simulator', payment: null, trans_id: 'BACK' },
        details: { booked_for: `collection ${collection_id} of merchant ${merchant_id}` },
      }),
    );
    expect(await work.claim()).to.equal(null);
    await expectPutOff(reversal, work);
    await store.rows(
      `UPDATE discrepancies SET resolved_at = now(), resolution = 'dismissed',
         resolved_by = 'x', resolved_reason = 'x' WHERE trans_id = 'BACK'`,
    );
    expect(await work.claim()).to.include({ attemptNo: 1 });
  });

  it('is no matter for a return, which goes without a receipt if it must', async () => {
    const payment = await store.newReturn();
    await store.rows('UPDATE returns SET original_trans_id = NULL WHERE id = :id', {
      id: payment.id,
    });
    expect(await store.workOn(payment).claim()).to.include({ attemptNo: 1 });
  });
});

describe('A submission after the deadline', () => {
  const store = useStore({ merchant: 'all' });

  const makeLate = ({ kind, id }: AnyPayment) =>
    store.rewrite(`UPDATE ${kind}s SET deadline_at = now() - interval '1 second' WHERE id = :id`, {
      id,
    });

  async function expectNeverTaken(payment: AnyPayment, work: Work): Promise<void> {
    const before = (await store.outboxOf(payment.id)).length;
    expect(await work.claim()).to.equal(null);
    const after = await work.current();
    expect(after).to.include({ status: 'pending', next_step: null });
    expect(after.parked_reason).to.include('overdue');
    expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['never_taken']);
    expect(await store.outboxOf(payment.id)).to.have.length(before);
    expect(await store.countOf('events WHERE payment_id = :id', payment as never)).to.equal(0);
  }

  it('parks a collection that nobody has taken, for support to fail', async () => {
    const collection = await store.newCollection();
    await makeLate(collection);
    await expectNeverTaken(collection, store.workOn(collection));
  });

  it('takes it for late by the clock of the database, not by that of this machine', async () => {
    const collection = await store.newCollection();
    const { claim } = store.workOn(collection);
    expect(await withFastClock(A_DAY_MS, () => claim())).to.include({ attemptNo: 1 });
  });

  it('parks it also when every attempt has come to nothing', async () => {
    const refused = await store.newCollection();
    const work = store.workOn(refused);
    await work.answer(await work.claim(), NOT_TAKEN);
    await makeLate(refused);
    await expectNeverTaken(refused, work);
  });

  it('parks it when the gateway has ruled out that it ever arrived', async () => {
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    await work.answer(await work.claim(), UNKNOWN);
    for (let asked = 0; asked < 3; asked += 1) await work.hear(NOT_FOUND);
    await makeLate(collection);
    await expectNeverTaken(collection, work);
  });

  it('goes on asking about a collection that may have arrived', async () => {
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    await work.claim();
    await makeLate(collection);
    expect(await work.claim()).to.equal(null);
    expect(await work.current()).to.include({ next_step: 'poll', parked_reason: null });
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal([]);
  });

  for (const kind of ['payout', 'reversal', 'return'] as const) {
    it(`still happens for a ${kind}: who gets money is glad of it at any time`, async () => {
      const payment = await store.newPayment(kind);
      await makeLate(payment);
      expect(await store.workOn(payment).claim()).to.include({ attemptNo: 1 });
    });
  }

  for (const kind of ['payout', 'reversal', 'return'] as const) {
    it(`goes on for a ${kind} that waits to be sent and is on the support list`, async () => {
      const payment = await store.newPayment(kind);
      await makeLate(payment);
      await openOverdue(store.database);
      const work = store.workOn(payment);
      for (let tries = 0; tries < 2; tries += 1) await work.answer(await work.claim(), NOT_TAKEN);
      expect(await work.current()).to.include({ next_step: 'submit', parked_reason: null });
      expect(await store.discrepanciesOf(payment.id)).to.deep.equal(['overdue']);
    });
  }

  it('waits on for a reversal whose receipt never comes and that is on the support list', async () => {
    const reversal = await store.newReversal(null);
    await makeLate(reversal);
    await openOverdue(store.database);
    const work = store.workOn(reversal);
    expect(await work.claim()).to.equal(null);
    expect(await work.current()).to.include({ next_step: 'submit' });
    expect(await store.discrepanciesOf(reversal.id)).to.deep.equal(['overdue']);
  });

  it('sends a reversal whose receipt comes after its deadline', async () => {
    const reversal = await store.newReversal(null);
    await makeLate(reversal);
    const work = store.workOn(reversal);
    expect(await work.claim()).to.equal(null);
    await store.rows(`UPDATE collections SET trans_id = 'LATER9' WHERE id = :id`, {
      id: reversal.collection_id,
    });
    const claimed = await work.claim();
    expect(claimed).to.include({ attemptNo: 1 });
    expect(claimed!.payment).to.include({ original_trans_id: 'LATER9' });
  });
});
