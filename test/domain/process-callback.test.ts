import { expect } from 'chai';
import type { ParserOf, Verdict } from '../../src/domain/gateway-results.ts';
import { type AnyPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { findStoredCallback } from '../../src/domain/settlement/callback-store.ts';
import { processCallback } from '../../src/domain/settlement/process-callback.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import {
  DECLINED,
  failed,
  newsOf,
  parserOf,
  rejection,
  succeeded,
  useStore,
} from '../support/world.ts';

describe('A stored callback', () => {
  const store = useStore();

  afterEach(() => store.expectSoundLedger());

  /** Stores what the gateway sends. @returns the callback's id */
  function keep(payment: AnyPayment, body: Verdict | string): Promise<string> {
    const text = typeof body === 'string' ? body : JSON.stringify(newsOf(payment, body));
    return store.keepCallback('simulator', refOf(payment), text);
  }

  async function process(id: string, parse: ParserOf = parserOf) {
    const { merchant_id } = store.merchant;
    const callback = await findStoredCallback(store.database, merchant_id, id);
    return processCallback(store.database, callback!, parse);
  }

  const isStored = async (id: string) =>
    (await findStoredCallback(store.database, store.merchantId, id)) !== null;

  it('of a failure is overtaken by a success that is stored as well, in whatever order', async () => {
    const collection = await store.newCollection();
    const failure = await keep(collection, failed());
    const success = await keep(collection, succeeded({ completedAt: null }));
    expect(await process(failure)).to.equal('repeat');
    expect(await store.reread(collection)).to.include({ status: 'completed' });
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal([]);
    expect(await isStored(success)).to.equal(false);
  });

  describe('of a success is applied before', () => {
    it('a refund is posted', async () => {
      const payout = await store.newPayout();
      await store.learn(payout, failed());
      await keep(payout, succeeded());
      const { step_no } = await store.reread(payout);
      expect(await refundPayout(store.database, refOf(payout), step_no, { parserOf })).to.equal(
        false,
      );
      expect(await store.reread(payout)).to.include({ status: 'completed' });
      expect(await store.booksOf()).to.include({ gateway_float: 10_000 });
    });

    it('the gateway’s refusal of a submission fails a payment', async () => {
      const payout = await store.newPayout();
      const work = store.workOn(payout);
      const claim = await work.claim();
      await keep(payout, succeeded({ externalRef: null }));
      await work.answer(claim, DECLINED);
      expect(await work.current()).to.include({ status: 'completed' });
    });

    it('support gives other money of a payment back, which would fail it', async () => {
      const payout = await store.newPayout();
      await store.learn(payout, succeeded({ amountCents: 5_000 }));
      await keep(payout, succeeded({ transId: 'RCPT2' }));
      await store.resolve(await store.discrepancyOf('other_amount'), 'returned');
      expect(await store.reread(payout)).to.include({ status: 'pending', next_step: null });
      expect(await store.discrepanciesOf(payout.id)).to.include('second_success');
    });

    it('support fails a payment', async () => {
      const payout = await store.newPayout();
      await store.makeOverdue(payout);
      const overdue = await store.discrepancyOf('overdue');
      await keep(payout, succeeded());
      const refusal = await rejection(store.resolve(overdue, 'failed'));
      expect(refusal.message).to.include('is resolved already: superseded');
      expect(await store.reread(payout)).to.include({ status: 'pending' });
    });
  });

  it('that no driver can read is a finding, and later ones are applied', async () => {
    const impossible = succeeded({ amountCents: 0 });
    for (const unreadable of ['not JSON', 'null', impossible]) {
      const collection = await store.newCollection();
      const bad = await keep(collection, unreadable);
      const good = await keep(collection, succeeded({ completedAt: null }));
      expect(await process(good)).to.equal('completed');
      expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['unreadable_callback']);
      expect(await isStored(bad)).to.equal(false);
    }
  });

  it('that no driver can read is a finding also when the payment has ended', async () => {
    const collection = await store.newCollection();
    await store.learn(collection, succeeded());
    expect(await process(await keep(collection, 'not JSON'))).to.equal('rejected');
    expect(await store.discrepanciesOf(collection.id)).to.deep.equal(['unreadable_callback']);
  });

  describe('that a fault of ours keeps from being applied', () => {
    /** The database refuses movements with this receipt. */
    const FAULTY = succeeded({ transId: 'FAULT', completedAt: null });

    before(() =>
      store.owner.raw(`
        CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'a fault of ours'; END $$;
        CREATE TRIGGER fault BEFORE INSERT ON movements FOR EACH ROW
          WHEN (NEW.trans_id = 'FAULT') EXECUTE FUNCTION fault()`),
    );

    it('does not keep others from being applied', async () => {
      const collection = await store.newCollection();
      const bad = await keep(collection, FAULTY);
      const good = await keep(collection, succeeded({ completedAt: null }));
      expect(await process(good)).to.equal('completed');
      expect(await isStored(bad)).to.equal(true);
    });

    it('keeps its payment from failing, by whatever is told next', async () => {
      const payout = await store.newPayout();
      await keep(payout, FAULTY);
      const failure = await keep(payout, failed());
      expect((await rejection(process(failure))).message).to.include('a fault of ours');
      expect((await rejection(store.learn(payout, failed()))).message).to.include(
        'A stored callback of the payment cannot be applied',
      );
      expect(await store.reread(payout)).to.include({ status: 'pending' });
    });

    it('keeps support from deciding, and tells why', async () => {
      const payout = await store.newPayout();
      await store.makeOverdue(payout);
      const overdue = await store.discrepancyOf('overdue', payout);
      await keep(payout, FAULTY);
      expect((await rejection(store.resolve(overdue, 'completed'))).message).to.match(
        /cannot be applied: a fault of ours .*The operators must mend that first/,
      );
    });
  });

  it('of a driver that is configured no more waits for it', async () => {
    const collection = await store.newCollection();
    const id = await keep(collection, succeeded());
    const gone: ParserOf = (name) => {
      throw new Error(`No channel is configured with the driver ${name} any more`);
    };
    expect((await rejection(process(id, gone))).message).to.include('any more');
    expect(await isStored(id)).to.equal(true);
    expect(await store.countOf('callbacks WHERE id = :id AND problem IS NULL', { id })).to.equal(1);
  });
});
