import { expect } from 'chai';
import { openOverdue } from '../../src/domain/discrepancies/overdue.ts';
import type { AnyPayment } from '../../src/domain/payments/payment-store.ts';
import { resolveDiscrepancy } from '../../src/domain/support/resolve-discrepancy.ts';
import {
  ACKNOWLEDGED,
  failed,
  NOT_TAKEN,
  RESOLVING,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

describe('An overdue payment that support fails', () => {
  const store = useStore();

  async function makeLate({ kind, id }: AnyPayment): Promise<void> {
    await store.rewrite(
      `UPDATE ${kind}s SET deadline_at = now() - interval '1 minute' WHERE id = :id`,
      { id },
    );
  }

  async function resolve(payment: AnyPayment, as: 'completed' | 'failed', transId?: string) {
    const row = await store.firstRow<{ id: string }>(
      'SELECT id FROM discrepancies WHERE payment_id = :id AND resolved_at IS NULL',
      { id: payment.id },
    );
    const decision = { as, actor: 'asha', reason: 'asked them', transId: transId ?? null };
    return store.transaction((trx) => resolveDiscrepancy(trx, row!.id, decision, RESOLVING));
  }

  async function overduePayout() {
    const payout = await store.newPayout();
    await makeLate(payout);
    const work = store.workOn(payout);
    await work.answer(await work.claim(), NOT_TAKEN);
    await openOverdue(store.database);
    return { payout, work };
  }

  it('is not failed while it is being sent', async () => {
    const { payout, work } = await overduePayout();
    const claimed = await work.claim();
    expect(await rejection(resolve(payout, 'failed'))).to.include({
      name: 'OperatorRefusal',
      message: 'The payout is being sent at this moment: try again in a minute',
    });
    expect(await work.current()).to.include({ status: 'pending' });
    await work.answer(claimed, NOT_TAKEN);
    await resolve(payout, 'failed');
    expect(await work.current()).to.include({ status: 'failed', next_step: 'refund' });
  });

  it('is for support again when the gateway has taken it after all', async () => {
    const { payout, work } = await overduePayout();
    const claimed = await work.claim();
    await work.setAttempts(`started_at = started_at - interval '1 minute'`);
    await resolve(payout, 'failed');
    await work.answer(claimed, ACKNOWLEDGED);
    expect(await store.discrepanciesOf(payout.id)).to.include('taken_after_failure');
  });

  it('is not for support when the gateway itself said that it failed before it answered', async () => {
    const payout = await store.newPayout();
    const work = store.workOn(payout);
    const claimed = await work.claim();
    await store.learn(payout, failed(), 'callback');
    await work.answer(claimed, ACKNOWLEDGED);
    expect(await store.discrepanciesOf(payout.id)).to.deep.equal([]);
  });

  it('is given a receipt once, by whichever of two decisions is first', async () => {
    const payments = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const collection = await store.newCollection();
        const work = store.workOn(collection);
        await work.answer(await work.claim(), ACKNOWLEDGED);
        await makeLate(collection);
        await openOverdue(store.database);
        return collection;
      }),
    );
    const decided = await Promise.allSettled(
      payments.map((payment) => resolve(payment, 'completed', 'ONCE1')),
    );
    expect(decided.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    const now = await Promise.all(payments.map((payment) => store.reread(payment)));
    expect(now.filter(({ status }) => status === 'completed')).to.have.length(1);
  });

  it('is asked about again when a poll brings only what is known of it', async () => {
    const collection = await store.newCollection();
    const work = store.workOn(collection);
    await work.answer(await work.claim(), ACKNOWLEDGED);
    const news = succeeded({ transId: 'ODD1', account: '+254722000000' });
    await work.hear(news);
    await store.rows(
      `UPDATE collections SET parked_reason = NULL, next_step = 'poll', next_step_at = now()
       WHERE id = :id`,
      { id: collection.id },
    );
    const { step_no } = await work.current();
    const after = await work.hear(news);
    expect(after).to.include({ next_step: 'poll', step_no: step_no + 1 });
  });
});
