import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hearBalances, latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import { proveWorld } from '../../src/domain/gateway-accounts/prove-world.ts';
import type { SubAccount } from '../../src/domain/gateway-results.ts';
import type { Return } from '../../src/domain/payments/kinds.ts';
import { lockPayment, refOf } from '../../src/domain/payments/payment-store.ts';
import { insertAttempt } from '../../src/domain/submission/attempts.ts';
import { undoPayment } from '../../src/domain/support/undo-payment.ts';
import { AMOUNT_CENTS, failed, PAYOUT_FEE_CENTS, succeeded, useStore } from '../support/world.ts';

const RECEIPT_OF_ANOTHER = {
  id: randomUUID(),
  kind: 'receipt_of_another',
  trans_id: null,
  details: {},
} as const;

describe('A balance that a gateway tells', () => {
  const store = useStore();
  let gateway = '';

  /** Each test has a gateway of its own, because the money of all merchants is in one balance. */
  beforeEach(() => {
    gateway = `gateway-${store.merchantId}`;
  });

  /** The gateway tells a balance. Nothing is booked while the answer is on its way. */
  async function tell(cents: number, sub_account: SubAccount = 'utility') {
    const told = { sub_account, current_cents: cents, available_cents: cents };
    await hearBalances(store.database, gateway, [told], new Date(Date.now() + 60_000));
    const proofs = await latestProofs(store.database);
    return proofs.find((each) => each.gateway === gateway && each.sub_account === sub_account)!;
  }

  const collect = (ref_no: string) => store.newCollection({ gateway, ref_no });
  const receipt = (name: string) => `${name}${store.merchantId}`;
  const moved = (name: string) => succeeded({ transId: receipt(name), externalRef: null });

  const differing = async () => {
    const { differences } = await proveWorld(store.database, []);
    return differences.find((each) => each.gateway === gateway);
  };

  it('agrees with the payments that the gateway has moved, and says what the ledger has', async () => {
    await store.learn(await collect('a'), moved('A'));
    await store.topUp(50_000, 'bank');
    await store.learn(await store.newPayout({ gateway, amount_cents: 4_000 }), {
      ...moved('P'),
      amountCents: 4_000,
    });
    expect(await tell(AMOUNT_CENTS - 4_000)).to.include({
      ledger_cents: AMOUNT_CENTS - 4_000,
      difference_cents: 0,
      may_rise_cents: 0,
      may_fall_cents: 0,
      differs_since: null,
    });
  });

  describe('that comes late', () => {
    const MINUTE_MS = 60_000;
    const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);
    const hear = async (cents: number, askedAt: Date) => {
      const told = {
        sub_account: 'utility',
        current_cents: cents,
        available_cents: cents,
      } as const;
      await hearBalances(store.database, gateway, [told], askedAt);
      const proofs = await latestProofs(store.database);
      return proofs.find((each) => each.gateway === gateway)!;
    };

    it('may lack all that was booked since its question, though a proof came between', async () => {
      await hear(0, ago(30));
      await store.learn(await collect('a'), moved('A'));
      expect(await hear(0, ago(20))).to.include({
        difference_cents: -AMOUNT_CENTS,
        may_fall_cents: AMOUNT_CENTS,
        differs_since: null,
      });
      // What was booked is counted by the proof before, and still newer than this question.
      await store.owner.raw(
        "UPDATE balance_proofs SET counted_until = now() + interval '1 second', counted_cents = :cents WHERE gateway = :gateway",
        { cents: AMOUNT_CENTS, gateway },
      );
      expect(await hear(0, ago(10))).to.include({
        difference_cents: -AMOUNT_CENTS,
        may_fall_cents: AMOUNT_CENTS,
        differs_since: null,
      });
    });

    it('proves nothing if the answer to a later question has overtaken it', async () => {
      await store.learn(await collect('a'), moved('A'));
      const newer = await hear(AMOUNT_CENTS, new Date());
      expect(await hear(-5, ago(10))).to.deep.equal(newer);
    });
  });

  it('agrees while payments on their way explain it, and not a cent beyond', async () => {
    for (const payment of [await collect('on its way'), await store.newPayout({ gateway })]) {
      await store.transaction((trx) => insertAttempt(trx, payment));
    }
    // Nobody has sent this one.
    await collect('not sent');
    for (const cents of [-AMOUNT_CENTS, 0, AMOUNT_CENTS]) {
      expect((await tell(cents)).differs_since, `${cents}`).to.equal(null);
    }
    for (const cents of [-AMOUNT_CENTS - 1, AMOUNT_CENTS + 1]) {
      expect((await tell(cents)).differs_since, `${cents}`).to.be.a('date');
    }
    const { in_flight } = await proveWorld(store.database, []);
    expect(in_flight.filter((each) => each.gateway === gateway)).to.deep.equal(
      ['collection', 'payout'].map((kind) => ({
        ...{ gateway, kind, age: 'up to 5 minutes', count: 1, amount_cents: AMOUNT_CENTS },
      })),
    );
  });

  it('may lack what was booked while the answer was on its way', async () => {
    await store.learn(await collect('a'), moved('A'));
    const told = { sub_account: 'utility', current_cents: 0, available_cents: 0 } as const;
    await hearBalances(store.database, gateway, [told]);
    expect(await differing()).to.equal(undefined);
    expect((await tell(0)).differs_since).to.be.a('date');
  });

  it('differs since the first time that it did, until it agrees', async () => {
    const first = await tell(100);
    const again = await tell(250);
    expect(again.told_at).to.be.above(first.told_at);
    expect(again.differs_since).to.deep.equal(first.differs_since);
    expect((await tell(0)).differs_since).to.equal(null);
    expect((await tell(1)).differs_since).to.be.above(again.told_at);
  });

  it('differs on while payments on their way may only hide the difference', async () => {
    const first = await tell(-5_000);
    const payout = await store.newPayout({ gateway });
    await store.transaction((trx) => insertAttempt(trx, payout));
    // The payout explains as much, and the gateway tells the same as before.
    const hidden = await tell(-5_000);
    expect(hidden.may_fall_cents).to.be.at.least(5_000);
    expect(hidden.differs_since).to.deep.equal(first.differs_since);
    // No payment on its way can have brought this much.
    const gone = await tell(0);
    expect(gone.differs_since).to.equal(null);
  });

  it('differs on when it agrees to the cent by chance, and no longer when it does so again', async () => {
    const first = await tell(-AMOUNT_CENTS);
    const collection = await collect('as large as the hole');
    await store.transaction((trx) => insertAttempt(trx, collection));
    // The customer may have paid, which nobody has told us yet.
    expect((await tell(0)).differs_since).to.deep.equal(first.differs_since);
    expect((await tell(0)).differs_since).to.equal(null);
  });

  it('agrees again when what is on its way cannot hide the difference', async () => {
    await tell(-20_000);
    const payout = await store.newPayout({ gateway });
    await store.transaction((trx) => insertAttempt(trx, payout));
    expect((await tell(-4_000)).differs_since).to.equal(null);
  });

  it('is compared with all that was ever booked, of which old entries are counted once', async () => {
    await store.learn(await collect('old'), moved('OLD'));
    await tell(AMOUNT_CENTS);
    // As if the proof had come two hours after the entry.
    await store.owner.raw(
      `UPDATE balance_proofs SET counted_until = now(), counted_cents = ledger_cents
       WHERE gateway = ?`,
      [gateway],
    );
    await store.learn(await collect('new'), moved('NEW'));
    for (let time = 1; time <= 2; time += 1) {
      expect(await tell(2 * AMOUNT_CENTS)).to.include({ ledger_cents: 2 * AMOUNT_CENTS });
    }
  });

  it('is proven in turn when two answers come at once', async () => {
    await Promise.all([tell(5), tell(5), tell(5)]);
    const proofs = await store.rows<{ differs_since: Date }>(
      'SELECT DISTINCT differs_since FROM balance_proofs WHERE gateway = :gateway',
      { gateway },
    );
    expect(proofs).to.have.length(1);
  });

  it('is missing after an hour without an answer', async () => {
    const telling = [{ name: gateway, float: {} }, { name: 'mute' }];
    expect((await proveWorld(store.database, telling)).untold).to.deep.equal([gateway]);
    await tell(0);
    expect((await proveWorld(store.database, telling)).untold).to.deep.equal([]);
    await store.owner.raw(
      `UPDATE balance_proofs SET told_at = told_at - interval '61 minutes' WHERE gateway = ?`,
      [gateway],
    );
    expect((await proveWorld(store.database, telling)).untold).to.deep.equal([gateway]);
  });

  describe('shows the next morning', () => {
    /** Tells what is really there. The difference is what the books have too little. */
    async function expectDifference(toldCents: number, difference_cents: number) {
      const proof = await tell(toldCents);
      expect(proof).to.include({ difference_cents });
      expect(proof.differs_since).to.be.a('date');
      return (await differing())!.candidates;
    }

    it('a completion by hand with the receipt of another payment', async () => {
      const [a, b] = [await collect('a'), await collect('b')];
      // Only the customer of b has paid.
      await store.learn(a, moved('B'), 'support');
      await store.learn(b, succeeded({ transId: null, externalRef: null }), 'poll');
      const candidates = await expectDifference(AMOUNT_CENTS, -AMOUNT_CENTS);
      expect(candidates[0]).to.include({ what: 'decided by hand', id: a.id });
    });

    it('another amount than was booked', async () => {
      const word = succeeded({ transId: null, externalRef: null, amountCents: null });
      await store.learn(await collect('a'), word, 'poll');
      await expectDifference(100, 100 - AMOUNT_CENTS);
    });

    it('a wrong undo', async () => {
      const collection = await collect('a');
      await store.learn(collection, moved('A'));
      await tell(AMOUNT_CENTS);
      await store.transaction(async (trx) =>
        undoPayment(trx, (await lockPayment(trx, refOf(collection)))!, RECEIPT_OF_ANOTHER),
      );
      const candidates = await expectDifference(AMOUNT_CENTS, AMOUNT_CENTS);
      expect(candidates[0]).to.include({ what: 'decided by hand', id: collection.id });
    });

    it('a failed row that was read as a success', async () => {
      await store.learn(await store.newPayout({ gateway }), moved('P'), 'statement');
      await expectDifference(0, AMOUNT_CENTS);
    });

    it('a return of too much', async () => {
      const collection = await collect('late');
      await store.learn(collection, failed());
      await store.learn(collection, moved('LATE'));
      const row = await store.firstRow<Return>(
        'SELECT * FROM returns WHERE merchant_id = :merchant_id',
        store.merchant,
      );
      await store.learn({ ...row!, kind: 'return' }, moved('BACK'));
      // 100.00 came, and 250.00 went.
      await expectDifference(AMOUNT_CENTS - 25_000, AMOUNT_CENTS - 25_000);
    });

    it('a charge that was not booked', async () => {
      await store.learn(await store.newPayout({ gateway }), moved('P'));
      expect((await tell(-AMOUNT_CENTS)).differs_since).to.equal(null);
      const proof = await tell(-PAYOUT_FEE_CENTS, 'charges');
      expect(proof).to.include({ ledger_cents: 0, difference_cents: -PAYOUT_FEE_CENTS });
      expect(proof.differs_since).to.be.a('date');
    });
  });
});
