import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { toldIn } from '../support/told.ts';
import { failed, RESOLVING, rejection, succeeded, useStore } from '../support/world.ts';

const PHONE = '+254712001001';
const ASKED_BY = { requested_by: 'amina@x.example', reason: 'Restore' };

describe('A file that has a wrong receipt for money', () => {
  const store = useStore({ fresh: true });
  const { at, read, tell, whyTwo } = toldIn(store);

  const list = (kind: 'collection' | 'payout', account: string | null) => {
    const line = { kind, reference: null, account, amountCents: 10_000 };
    return read([{ ...line, transId: 'SKL4X1Y2Z8', completedAt: at(1) }], 'wrong.csv');
  };
  const paid = (heardAt: Date | null) => ({
    heardAt,
    news: succeeded({
      ...{ transId: 'SKL4X1Y2Z3', externalRef: null, account: PHONE, completedAt: at(1) },
    }),
  });
  const plan = () => {
    const request = { merchant_id: store.merchantId, receipts: ['SKL4X1Y2Z8'] };
    return planAdoption(store.database, request, RESOLVING);
  };
  const begun = async (kind: 'collection' | 'payout') => {
    const made =
      kind === 'collection'
        ? await store.newCollection({ payfrom: PHONE })
        : await store.newPayout({ payto: PHONE });
    await store.rewrite(`UPDATE ${kind}s SET created_at = created_at - interval '20 minutes'`);
    return made;
  };

  for (const kind of ['collection', 'payout'] as const) {
    it(`adds no second ${kind} to one that the gateway has told under its own receipt`, async () => {
      const { news, heardAt } = paid(at(1));
      await tell(await begun(kind), news, heardAt);
      await list(kind, PHONE);
      const refused = await rejection(plan());
      expect(refused.message).to.match(/only a file has told it, and it may be SKL4X1Y2Z3/);
    });
  }

  const FORMS = {
    'by reference': { account: PHONE, completedAt: at(1) },
    'without account': { account: null, completedAt: at(1) },
    'with the day': {
      account: PHONE,
      completedAt: new Date(`${at(1).toISOString().slice(0, 10)}Z`),
    },
  };
  for (const [how, form] of Object.entries(FORMS)) {
    it(`adds no money twice that another form of it lists ${how} alone`, async () => {
      const kind = 'collection';
      await list(kind, PHONE);
      const reference = randomUUID();
      const line = { kind, reference, amountCents: 10_000, transId: null } as const;
      await read([{ ...line, ...form }], 'by-reference.csv');
      for (const receipts of [['SKL4X1Y2Z8'], [reference]]) {
        const asked = { merchant_id: store.merchantId, receipts };
        const refused = await rejection(planAdoption(store.database, asked, RESOLVING));
        expect(refused.message).to.match(/once with its receipt and once without/);
      }
    });
  }

  it('is no second finding of money that another form of it lists without our reference', async () => {
    const reference = randomUUID();
    const line = { kind: 'collection', account: PHONE, amountCents: 10_000 } as const;
    const receipts = ['SKL4X1Y2Z1', 'SKL4X1Y2Z2'] as const;
    const of = (transId: string, named: string | null) => [
      { ...line, reference: named, transId, completedAt: at(transId === receipts[0] ? 1 : 5) },
    ];
    await read(of(receipts[0], null), 'plain.csv');
    await read(of(receipts[0], reference), 'named.csv');
    await read(of(receipts[1], reference), 'named-2.csv');
    await read(of(receipts[1], null), 'plain-2.csv');
    for (const receipt of receipts) {
      const asked = { merchant_id: store.merchantId, receipts: [receipt] };
      const planned = await planAdoption(store.database, asked, RESOLVING);
      expect(planned.lines).to.have.length(1);
    }
  });

  it('adds no money twice that is booked by hand, and that another form of it lists by reference alone', async () => {
    await list('collection', PHONE);
    const entry = {
      ...({
        kind: 'adjustment',
        wallet: 'collection',
        against: 'losses',
        reason: 'Found',
      } as const),
      ...{ merchant_id: store.merchantId, amount_cents: 9_850 },
    };
    const book = (reference: string) =>
      store.transaction((trx) => bookOperatorEntry(trx, { ...entry, reference }));
    await book('SKL4X1Y2Z8');
    const [found] = await store.rows<{ id: string }>('SELECT id FROM discrepancies');
    await store.resolve(found!, 'dismissed');
    const reference = randomUUID();
    const line = { kind: 'collection', reference, amountCents: 10_000, transId: null } as const;
    await read([{ ...line, account: PHONE, completedAt: at(1) }], 'by-reference.csv');
    const asked = { merchant_id: store.merchantId, receipts: [reference] };
    const refused = await rejection(planAdoption(store.database, asked, RESOLVING));
    expect(refused.message).to.match(/once with its receipt and once without/);
    expect((await rejection(book(reference))).message).to.match(/may be the money of SKL4X1Y2Z8/);
  });

  for (const account of [PHONE, '+2547*****001', null]) {
    it(`lets no late money go back by itself that was adopted under it (${account})`, async () => {
      const collection = await begun('collection');
      await tell(collection, failed({ externalRef: null }), at(0));
      await list('collection', account);
      const adopted = await plan();
      await store.transaction((trx) => adoptAsAsked(trx, adopted, ASKED_BY, RESOLVING));
      const { news, heardAt } = paid(null);
      await tell(collection, news, heardAt);
      expect(await store.returnsOf()).to.deep.equal([]);
      const { id } = await store.discrepancyOf('paid_after_failure', collection);
      expect(await whyTwo(id, 'returned')).to.be.a('string');
    });
  }
});
