import { expect } from 'chai';
import {
  type DiscrepancyKind,
  openDiscrepancy,
} from '../../src/domain/discrepancies/discrepancy.ts';
import { OperatorRefusal } from '../../src/domain/errors.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { RESOLUTIONS, type Resolution } from '../../src/domain/support/resolution.ts';
import { changeStep } from '../../src/jobs/outbox.ts';
import { DISCREPANCY_STORIES } from '../support/discrepancies/stories.ts';
import type { Decided } from '../support/discrepancies/story.ts';
import { receiptOf, rejection, succeeded, useStore } from '../support/world.ts';

describe('A discrepancy', () => {
  const store = useStore();

  afterEach(async () => {
    await store.expectRightBooks();
    const suspense = await store.accountBalance('suspense');
    expect(suspense, 'suspense').to.equal(await store.suspenseOwed());
  });

  /** All that is stored of the merchant's money, payments and what is undecided. */
  async function snapshot(): Promise<unknown> {
    const tables = ['collections', 'payouts', 'reversals', 'returns', 'movements', 'wallets'];
    const parts = [...tables, 'events', 'journals', 'discrepancies', 'payment_history'].map(
      (table) => `SELECT '${table}' AS of, md5(string_agg(CAST(t AS text), '|'
         ORDER BY CAST(t AS text))) AS digest FROM ${table} t WHERE merchant_id = :id`,
    );
    return store.rows(parts.join(' UNION ALL '), { id: store.merchantId });
  }

  async function expectDecided(payment: AnyPayment, decided: Decided): Promise<void> {
    const now = await store.reread(payment);
    expect(now.status).to.equal(decided.status);
    const step = now.parked_reason === null ? now.next_step : 'parked';
    expect(step ?? 'none', 'what it does next').to.equal(decided.step ?? 'none');
    expect(await store.booksOf(), 'books').to.deep.equal(decided.books);
    expect(await store.eventsOf(payment), 'told').to.deep.equal(decided.told ?? []);
    const returns = (await store.returnsOf()).map(({ amount_cents }) => amount_cents);
    expect(returns, 'on its way back').to.deep.equal(decided.returns ?? []);
    const left = (await store.discrepanciesOf(payment.id)).filter(
      (kind) => !kind.endsWith(' (resolved)'),
    );
    expect(left, 'undecided').to.deep.equal(decided.left ?? []);
  }

  for (const [what, { kind, arrange, decisions }] of Object.entries(DISCREPANCY_STORIES)) {
    for (const as of RESOLUTIONS) {
      const decided = decisions[as];
      if (!decided) continue;
      it(`(${kind}) of ${what} can be resolved as ${as}`, async () => {
        const payment = await arrange(store);
        const resolved = await store.resolve(await store.discrepancyOf(kind), as);
        expect(resolved).to.include({
          resolution: as,
          resolved_by: 'tester',
          resolved_reason: 'because',
        });
        expect(resolved.resolved_at).to.be.an.instanceOf(Date);
        await expectDecided(payment, decided);
      });
    }

    it(`(${kind}) of ${what} cannot be resolved in another way`, async () => {
      await arrange(store);
      const discrepancy = await store.discrepancyOf(kind);
      const before = await snapshot();
      for (const as of RESOLUTIONS.filter((resolution) => !decisions[resolution])) {
        const refusal = await rejection(store.resolve(discrepancy, as));
        expect(refusal, as).to.be.instanceOf(OperatorRefusal);
      }
      expect(await snapshot()).to.deep.equal(before);
    });
  }

  const WITHOUT_PAYMENT: DiscrepancyKind[] = [
    'missing_at_gateway',
    'unknown_movement',
    'receipt_of_another',
    'other_payment',
    'unreadable_callback',
    'unknown_payment',
  ];
  for (const kind of WITHOUT_PAYMENT) {
    it(`(${kind}) can only be dismissed`, async () => {
      const payment = await store.newCollection();
      const { merchant_id } = store.merchant;
      const of: Record<string, AnyPayment['id'] | null> = {
        missing_at_gateway: payment.id,
        receipt_of_another: payment.id,
        other_payment: payment.id,
        unreadable_callback: payment.id,
        unknown_payment: '0192f0c0-0000-7000-8000-000000000000',
      };
      const id = of[kind] ?? null;
      await store.transaction((trx) =>
        openDiscrepancy(trx, {
          kind,
          gateway: 'simulator',
          payment: id === null ? null : { kind: 'collection', merchant_id, id },
          details: {},
        }),
      );
      const found = await store.firstRow<{ id: string }>(
        'SELECT id FROM discrepancies WHERE kind = :kind ORDER BY id DESC',
        { kind },
      );
      const before = await store.reread(payment);
      for (const as of RESOLUTIONS.filter((resolution) => resolution !== 'dismissed')) {
        const { message } = await rejection(store.resolve(found!, as));
        expect(message).to.equal(`This discrepancy (${kind}) can only be resolved as dismissed`);
      }
      expect(await store.resolve(found!, 'dismissed')).to.include({ resolution: 'dismissed' });
      expect(await store.reread(payment)).to.deep.equal(before);
    });
  }

  describe('once resolved', () => {
    const arrange = (what: keyof typeof DISCREPANCY_STORIES) =>
      DISCREPANCY_STORIES[what]!.arrange(store);

    it('is resolved once, whoever decides at the same moment', async () => {
      const payment = await arrange('another amount for an open collection');
      const discrepancy = await store.discrepancyOf('other_amount');
      const outcomes = await Promise.allSettled(
        (['accept-amount', 'returned', 'accept-amount', 'returned'] as const).map((as) =>
          store.resolve(discrepancy, as),
        ),
      );
      const done = outcomes.filter(({ status }) => status === 'fulfilled');
      expect(done).to.have.length(1);
      const { resolution } = (done[0] as PromiseFulfilledResult<{ resolution: Resolution }>).value;
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') {
          expect((outcome.reason as Error).message).to.equal(
            `Discrepancy ${discrepancy.id} is resolved already: ${resolution}`,
          );
        }
      }
      const story = DISCREPANCY_STORIES['another amount for an open collection']!;
      await expectDecided(payment, story.decisions[resolution]!);
    });

    it('as the same money has the right receipt, and the wrong one is free again', async () => {
      const payment = await arrange(
        'the receipt of a payout that support completed under another one',
      );
      await store.resolve(await store.discrepancyOf('second_success'), 'same');
      expect((await store.reread(payment)).trans_id).to.equal(receiptOf(payment));
      const receipts = await store.rows<{ receipt: string }>(
        'SELECT receipt FROM receipts WHERE payment_id = :id',
        payment,
      );
      expect(receipts).to.deep.equal([{ receipt: receiptOf(payment) }]);
    });

    it('takes the commission of the merchant on what has moved', async () => {
      await store.rows(
        'UPDATE merchants SET commission_bps = 1000, commission_fixed_cents = 10 WHERE id = :id',
        { id: store.merchantId },
      );
      await arrange('another amount for an open collection');
      await store.resolve(await store.discrepancyOf('other_amount'), 'accept-amount');
      const books = { commission: 510, 'wallet:collection': 4_490, gateway_float: -5_000 };
      expect(await store.booksOf()).to.deep.equal(books);
    });

    it('tells the merchant the amount that has moved', async () => {
      const payment = await arrange('another amount for an open collection');
      await store.resolve(await store.discrepancyOf('other_amount'), 'accept-amount');
      const event = await store.firstRow<{ body: string }>(
        'SELECT body FROM events WHERE payment_id = :id',
        { id: payment.id },
      );
      const { data } = JSON.parse(event!.body);
      expect(data).to.include({ result_code: 0, amount: '50.00', trans_id: receiptOf(payment) });
    });

    it('leaves nothing in suspense when the customer has got the money back', async () => {
      await arrange('another amount for an open collection');
      await store.resolve(await store.discrepancyOf('other_amount'), 'returned');
      const [back] = await store.returnsOf();
      await store.hear(back!, succeeded({ transId: 'BACK1', amountCents: 5_000 }));
      expect(await store.booksOf()).to.deep.equal({});
    });

    it('returns to whoever has paid', async () => {
      const payment = await arrange('money of a stranger for a failed collection');
      await store.resolve(await store.discrepancyOf('other_account'), 'returned');
      const [back] = await store.returnsOf();
      expect(back).to.include({ account: '+254733999999', original_trans_id: receiptOf(payment) });
    });

    it('lets the refund of a failed payout go on, which tells the merchant', async () => {
      const payment = await arrange('a payout to a stranger before the refund');
      await store.resolve(await store.discrepancyOf('other_account'), 'returned');
      await store.refund(payment);
      expect(await store.booksOf()).to.deep.equal({ bank: -10_250, 'wallet:payout': 10_250 });
      expect(await store.eventsOf(payment)).to.deep.equal(['failed']);
    });

    it('ends the payment with the last of its questions, in either order', async () => {
      for (const first of ['other_amount', 'second_success'] as const) {
        store.merchant = await store.newMerchant();
        const payment = await arrange('a second receipt while another amount is undecided');
        const second = first === 'other_amount' ? 'second_success' : 'other_amount';
        await store.resolve(await store.discrepancyOf(first), 'returned');
        expect(await store.reread(payment)).to.include({ status: 'pending' });
        await store.resolve(await store.discrepancyOf(second), 'returned');
        expect(await store.reread(payment)).to.include({
          status: 'failed',
          parked_reason: null,
        });
        expect(await store.eventsOf(payment)).to.deep.equal(['failed']);
      }
    });

    it('answers what was asked about a payment that did not end', async () => {
      const payment = await arrange('an overdue collection');
      await store.hear(payment, succeeded({ amountCents: 5_000 }));
      await store.resolve(await store.discrepancyOf('other_amount'), 'accept-amount');
      expect(await store.discrepancyOf('overdue')).to.include({ resolution: 'superseded' });
    });

    it('lets what was parked for it alone be asked about again', async () => {
      const open = await store.newCollection();
      await store.transaction(async (trx) => {
        await openDiscrepancy(trx, { kind: 'other_account', payment: refOf(open), details: {} });
        await changeStep(trx, refOf(open), { park: 'discrepancy: other_account' });
      });
      await store.resolve(await store.discrepancyOf('other_account'), 'dismissed');
      expect(await store.reread(open)).to.include({
        next_step: 'poll',
        parked_reason: null,
      });
    });
  });

  describe('that needs more than the payout wallet holds', () => {
    it('is refused until it is topped up', async () => {
      const payment = await store.newPayout();
      await store.hear(payment, succeeded({ amountCents: 12_000 }));
      const discrepancy = await store.discrepancyOf('other_amount');
      const before = await snapshot();
      const { message } = await rejection(store.resolve(discrepancy, 'accept-amount'));
      expect(message).to.equal('The payout wallet does not hold the money for it: top it up first');
      expect(await snapshot()).to.deep.equal(before);
      await store.topUp(2_000, 'more');
      await store.resolve(discrepancy, 'accept-amount');
      const fees = { fees: 250, gateway_float: 12_000 };
      expect(await store.booksOf()).to.deep.equal({ bank: -12_250, ...fees });
      expect(await store.reread(payment)).to.include({
        status: 'completed',
        amount_cents: 12_000,
      });
    });

    it('is refused when less has moved than the fee', async () => {
      const payment = await store.newPayout();
      await store.hear(payment, succeeded({ amountCents: 249 }));
      const discrepancy = await store.discrepancyOf('other_amount');
      const { message } = await rejection(store.resolve(discrepancy, 'accept-amount'));
      expect(message).to.equal('Less has moved than the fee: resolve it as returned or failed');
    });
  });
});
