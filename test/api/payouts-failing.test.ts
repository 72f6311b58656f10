import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { listPayments } from '../../src/domain/payments/list-payments.ts';
import type { PaymentStatus } from '../../src/domain/payments/payment.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { plansOf } from '../support/plans.ts';
import { documentedEvents } from '../support/webhook-schemas.ts';
import {
  failed,
  learn,
  newPayout,
  parserOf,
  receiptOf,
  succeeded,
  useService,
} from '../support/world.ts';

const NO_RESULT = { result_code: null, result_description: null };
/** By the filter: the codes of the list, then the words of the deprecated one. */
const EMPTY = { 0: '', 1: '', 2: '', 3: '', pending: '', failed: '', completed: '' };

describe('A payout that failed', () => {
  const service = useService({ merchant: 'none' });

  async function shop() {
    const merchant = await service.newMerchant();
    const client = service.clientOf(merchant);
    const shown = async (list: string, query: string) => {
      const { body } = await client.get(`${list}?${query}`);
      expect(body.count, `the count at ${list}?${query}`).to.equal(body.results.length);
      return body.results.map(({ ref_no, status }: Payout) => `${ref_no} ${status}`).join(', ');
    };
    const byStatus = async () => {
      const found: Record<string, string> = {};
      for (const status of [0, 1, 2, 3])
        found[status] = await shown('/payouts', `status=${status}`);
      for (const status of ['pending', 'failed', 'completed']) {
        found[status] = await shown('/payouts/list', `status=${status}`);
      }
      return found;
    };
    const pay = (refNo: string) => newPayout(service.database, merchant, { ref_no: refNo });
    return { merchant, client, shown, byStatus, pay };
  }

  const refund = async (payout: Payout) => {
    const { step_no } = await service.reread(payout);
    expect(await refundPayout(service.database, refOf(payout), step_no, { parserOf })).to.equal(
      true,
    );
  };

  it('is shown as processing, without a result, until its refund is posted', async () => {
    const { client, byStatus, pay } = await shop();
    const payout = await pay('p1');
    const detail = async () => (await client.get(`/payouts/${payout.id}`)).body;
    await service.learn(payout, failed());
    expect(await service.reread(payout)).to.include({ status: 'failed' });

    const before = await detail();
    expect(before).to.include({ status: 'processing', ...NO_RESULT });
    expect((await client.get('/payouts')).body.results).to.deep.equal([before]);
    expect(await byStatus()).to.deep.equal({ ...EMPTY, 1: 'p1 processing', pending: 'p1 pending' });
    expect(await documentedEvents(service.database, payout.id, 'payoutEnded')).to.deep.equal([]);

    await refund(payout);
    const after = await detail();
    expect(after).to.include({ status: 'failed', result_code: 1032 });
    expect((await client.get('/payouts')).body.results).to.deep.equal([after]);
    expect(await byStatus()).to.deep.equal({ ...EMPTY, 2: 'p1 failed', failed: 'p1 failed' });
    const [event] = await documentedEvents(service.database, payout.id, 'payoutEnded');
    expect(event.notification.event).to.equal('transaction.failed');
    const { result_code, result_description } = after;
    expect(event.data).to.include({ result_code, result_description });
  });

  it('and arrives before its refund was never shown as failed', async () => {
    const { client, byStatus, pay } = await shop();
    const payout = await pay('p1');
    await service.learn(payout, failed());
    expect(await byStatus()).to.include({ 1: 'p1 processing', 2: '' });
    await service.learn(payout, succeeded());
    const { body } = await client.get(`/payouts/${payout.id}`);
    expect(body).to.include({ status: 'completed', result_code: 0, trans_id: receiptOf(payout) });
    expect(await byStatus()).to.deep.equal({
      ...EMPTY,
      3: 'p1 completed',
      completed: 'p1 completed',
    });
  });

  it('is listed by the status that is shown, among all others and on every page', async () => {
    const { shown, byStatus, client, pay } = await shop();
    const [, acknowledged, refunded, completed, awaiting] = [
      await pay('p1'),
      await pay('p2'),
      await pay('p3'),
      await pay('p4'),
      await pay('p5'),
    ];
    await service.rows(`UPDATE payouts SET status = 'processing' WHERE id = :id`, {
      id: acknowledged.id,
    });
    for (const payout of [refunded, awaiting]) await service.learn(payout, failed());
    await service.learn(completed, succeeded());
    await refund(refunded);

    const all = 'p5 processing, p4 completed, p3 failed, p2 processing, p1 pending';
    expect(await shown('/payouts', '')).to.equal(all);
    expect(await byStatus()).to.deep.equal({
      0: 'p1 pending',
      1: 'p5 processing, p2 processing',
      2: 'p3 failed',
      3: 'p4 completed',
      pending: 'p5 pending, p2 pending, p1 pending',
      failed: 'p3 failed',
      completed: 'p4 completed',
    });
    const first = (await client.get('/payouts?status=1&page_size=1')).body;
    const second = (await client.get('/payouts?status=1&page_size=1&page=2')).body;
    expect([first.count, first.results[0].ref_no]).to.deep.equal([2, 'p5']);
    expect([second.count, second.results[0].ref_no]).to.deep.equal([2, 'p2']);
  });

  it('does not slow down a list: indexes find those that are shown', async () => {
    const { merchant, pay } = await shop();
    const { database, owner } = service;
    const payout = await pay('model');
    const { id } = payout;
    await rows(
      database,
      `INSERT INTO payouts (merchant_id, id, app_code, channel, gateway, payto, amount_cents,
         fee_cents, ref_no, category, narration, callback_url, deadline_at, next_step,
         next_step_at, created_at, reference)
       SELECT merchant_id, gen_random_uuid(), app_code, channel, gateway, payto, amount_cents,
         fee_cents, 'old-' || n, category, narration, callback_url, deadline_at, next_step,
         next_step_at, created_at - n * interval '1 minute',
           gen_random_uuid()
       FROM payouts, generate_series(1, 5000) AS n WHERE merchant_id = :merchant_id AND id = :id`,
      { ...merchant, id },
    );
    await rows(
      database,
      `UPDATE payouts SET next_step = NULL, next_step_at = NULL,
         status = CASE WHEN ref_no LIKE '%3' THEN 'failed' ELSE 'completed' END,
         refund_posted_at = CASE WHEN ref_no LIKE '%3' THEN now() END
       WHERE merchant_id = :merchant_id AND ref_no LIKE 'old-%'`,
      { ...merchant },
    );
    await learn(database, payout, failed());
    await owner.raw('VACUUM ANALYZE payouts');
    const plans = (statuses: PaymentStatus[]) =>
      plansOf(database, () =>
        listPayments(
          database,
          'payout',
          merchant.merchant_id,
          { statuses },
          { page: 1, pageSize: 20, asOf: null },
        ),
      );
    for (const statuses of [['processing'], ['pending', 'processing']] as const) {
      const [count, page] = await plans([...statuses]);
      for (const plan of [count, page]) {
        expect(plan).to.include('payouts_in_flight').and.not.include('Seq Scan');
        expect(plan, 'all payouts of the merchant').to.not.include('payouts_listed');
      }
    }
    const [count] = await plans(['failed']);
    expect(count).to.include('Index Only Scan using payouts_by_status');
  });
});
