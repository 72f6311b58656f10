import { expect } from 'chai';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { oneWebhook, statementOf } from '../support/flow-checks.ts';
import { payoutBooks } from '../support/ledger-check.ts';
import { flowBackends } from '../support/matrix.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import type { TestService } from '../support/test-service.ts';
import {
  AMOUNT_CENTS,
  discrepanciesOf,
  eventually,
  historyOf,
  newPayout,
  PAYOUT_FEE_CENTS,
  reread,
  useService,
} from '../support/world.ts';

const COST_CENTS = AMOUNT_CENTS + PAYOUT_FEE_CENTS;

interface Expectation {
  behaviour: string;
  status: 'completed' | 'failed';
  code: number;
  /** How often the gateway has paid. */
  movements: 0 | 1;
}

const PAID = { status: 'completed', code: 0, movements: 1 } as const;
const REFUSED = { status: 'failed', movements: 0 } as const;

const ENDINGS: Readonly<Record<string, Expectation>> = {
  '678': { behaviour: 'success', ...PAID },
  '001': { behaviour: 'insufficient funds', ...REFUSED, code: 1 },
  '032': { behaviour: 'cancelled', ...REFUSED, code: 1032 },
  '037': { behaviour: 'no answer', ...REFUSED, code: 1037 },
  '101': { behaviour: 'no callback, polling finds it', ...PAID },
  '102': { behaviour: 'the callback comes twice', ...PAID },
  '103': { behaviour: 'the callback overtakes the acknowledgement', ...PAID },
  '104': { behaviour: 'taken, but the answer is lost', ...PAID },
  '105': { behaviour: 'never arrived, and the answer is lost', ...PAID },
  '106': { behaviour: '503 twice, then taken', ...PAID },
  '108': { behaviour: 'success after a long time', ...PAID },
};
const FAILURE_THEN_SUCCESS = '107';
const OTHER_AMOUNT = '111';

for (const backend of flowBackends('redis')) {
  describe(`A payout, with its queues in ${backend}`, () => {
    const service = useService({ backend, workers: PROCESS_TYPES, merchant: 'none' });
    /** Nobody puts money back there, as when the refunds worker is down. */
    const withoutRefunds = useService({
      backend,
      workers: PROCESS_TYPES.filter((type) => type !== 'refunds'),
      merchant: 'none',
    });
    let shop: FakeMerchant;
    /** One for each ending, all under way at once. */
    const payouts = new Map<string, Payout>();
    let uncertain: Payout;

    before(async () => {
      shop = await startFakeMerchant();
      for (const ending of [...Object.keys(ENDINGS), FAILURE_THEN_SUCCESS, OTHER_AMOUNT]) {
        payouts.set(ending, await initiate(service, ending));
      }
      uncertain = await initiate(withoutRefunds, FAILURE_THEN_SUCCESS);
    });

    after(async () => {
      await shop.close();
    });

    async function initiate(where: TestService, ending: string): Promise<Payout> {
      const merchant = await createTestMerchant(where);
      return newPayout(where.database, merchant, {
        payto: `+254712345${ending}`,
        callback_url: shop.url,
      });
    }

    const ended = (payout: Payout, where: TestService = service): Promise<Payout> =>
      eventually(`the end of ${payout.payto}`, async () => {
        const current = await reread(where.database, payout);
        const isOver = current.status === 'completed' || current.refund_posted_at !== null;
        return isOver && current;
      });

    const books = (payout: Payout, where: TestService = service) =>
      payoutBooks(where.database, payout.merchant_id);

    for (const [ending, expected] of Object.entries(ENDINGS)) {
      it(`ends ${expected.status} when the gateway answers with: ${expected.behaviour}`, async () => {
        const payout = await ended(payouts.get(ending)!);
        expect(payout).to.include({
          status: expected.status,
          result_code: expected.code,
          next_step: null,
          parked_reason: null,
        });
        const isPaid = expected.status === 'completed';
        const { notification, data } = await oneWebhook(service, shop, payout);
        expect(notification).to.deep.equal({
          type: 'payout',
          event: isPaid ? 'transaction.completed' : 'transaction.failed',
        });
        expect(data).to.include({ result_code: expected.code, trans_id: payout.trans_id ?? '' });
        const statement = await statementOf(service, payout.id);
        expect(statement).to.have.length(expected.movements);
        for (const line of statement) {
          expect(line).to.include({ kind: 'payout', account: payout.payto, amount: '100.00' });
          expect(line.trans_id).to.equal(payout.trans_id);
        }
        expect(await books(payout)).to.deep.equal({
          'wallet:payout': isPaid ? 0 : COST_CENTS,
          payouts_in_flight: 0,
          fees: isPaid ? PAYOUT_FEE_CENTS : 0,
          gateway_float: isPaid ? AMOUNT_CENTS : 0,
          suspense: 0,
        });
        expect(await service.discrepanciesOf(payout.id)).to.deep.equal([]);
        await service.expectSoundLedger();
      });
    }

    it('stays open on the support list when another amount was paid, with that amount in suspense', async () => {
      const payout = payouts.get(OTHER_AMOUNT)!;
      await eventually('a discrepancy', async () => {
        const kinds = await service.discrepanciesOf(payout.id);
        return kinds.join() === 'other_amount';
      });
      const current = await service.reread(payout);
      expect(current.status).to.be.oneOf(['pending', 'processing']);
      expect(current.parked_reason).to.include('other_amount');
      const [line] = await statementOf(service, payout.id);
      const paidCents = Math.round(Number(line!.amount) * 100);
      expect(paidCents).to.not.equal(AMOUNT_CENTS);
      expect(await books(payout)).to.deep.equal({
        'wallet:payout': 0,
        payouts_in_flight: COST_CENTS,
        fees: 0,
        gateway_float: paidCents,
        suspense: -paidCents,
      });
      expect(shop.webhooksFor(payout.ref_no)).to.deep.equal([]);
    });

    it('that was refunded and arrives all the same is a discrepancy, its money in suspense', async () => {
      const payout = payouts.get(FAILURE_THEN_SUCCESS)!;
      await eventually('a discrepancy', async () => {
        const kinds = await service.discrepanciesOf(payout.id);
        return kinds.join() === 'paid_after_refund';
      });
      expect(await ended(payout)).to.include({ status: 'failed', result_code: 1037 });
      const { notification } = await oneWebhook(service, shop, payout);
      expect(notification).to.deep.equal({ type: 'payout', event: 'transaction.failed' });
      expect(await statementOf(service, payout.id)).to.have.length(1);
      expect(await books(payout)).to.deep.equal({
        'wallet:payout': COST_CENTS,
        payouts_in_flight: 0,
        fees: 0,
        gateway_float: AMOUNT_CENTS,
        suspense: -AMOUNT_CENTS,
      });
      await service.expectSoundLedger();
    });

    it('that arrives before its refund is completed, and never refunded', async () => {
      const payout = await ended(uncertain, withoutRefunds);
      expect(payout).to.include({ status: 'completed', refund_posted_at: null, next_step: null });
      const history = await historyOf(withoutRefunds.database, refOf(payout));
      expect(history.map(({ to_status }) => to_status)).to.include('failed');
      const { notification } = await oneWebhook(withoutRefunds, shop, payout);
      expect(notification).to.deep.equal({ type: 'payout', event: 'transaction.completed' });
      expect(await statementOf(withoutRefunds, payout.id)).to.have.length(1);
      expect(await books(payout, withoutRefunds)).to.deep.equal({
        'wallet:payout': 0,
        payouts_in_flight: 0,
        fees: PAYOUT_FEE_CENTS,
        gateway_float: AMOUNT_CENTS,
        suspense: 0,
      });
      expect(await discrepanciesOf(withoutRefunds.database, payout.id)).to.deep.equal([]);
    });
  });
}
