import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import {
  BAD_AS_OF,
  BAD_DATE,
  BAD_PAGE,
  BAD_PAGE_SIZE,
  BAD_PHONE,
  BAD_REF_NO,
  expectBadValues,
} from '../support/query-cases.ts';
import { expectRefusal, PAYER, receiptOf, succeeded, useService } from '../support/world.ts';

const BALANCE = '/wallets/balance';
const TRANSACTIONS = '/wallets/transactions';

describe('Wallets', () => {
  const service = useService();

  async function collect(refNo: string, transId = 'RCPT1'): Promise<string> {
    const collection = await service.newCollection({ ref_no: refNo });
    await service.learn(collection, succeeded({ transId }));
    return collection.id;
  }

  const topUp = (amountCents: number, reference: string) => service.topUp(amountCents, reference);
  const adjust = (amountCents: number, reference: string) =>
    service.transaction((trx) =>
      bookOperatorEntry(trx, {
        kind: 'adjustment',
        merchant_id: service.merchantId,
        wallet: 'collection',
        amount_cents: amountCents,
        reference,
        reason: 'Correction',
      }),
    );
  const transfer = (amount: string, ref_no: string) =>
    service.client.post('/wallets/transfers', { amount, ref_no });

  it('show both balances, a negative one too', async () => {
    const balances = async () => (await service.client.get(BALANCE)).body;
    expect(await balances()).to.deep.equal({
      payout_wallet_balance: '0.00',
      collection_wallet_balance: '0.00',
      currency: 'KES',
    });
    await collect('c1');
    await topUp(1_234_567, 'bank-1');
    await adjust(-9_855, 'fix-1');
    expect(await balances()).to.deep.equal({
      payout_wallet_balance: '12345.67',
      collection_wallet_balance: '-0.05',
      currency: 'KES',
    });
  });

  it('are missing until they are set up', async () => {
    const drop = (kind: string) =>
      rows(service.owner, 'DELETE FROM wallets WHERE merchant_id = :id AND kind = :kind', {
        id: service.merchantId,
        kind,
      });
    for (const kind of ['payout', 'collection']) {
      await drop(kind);
      const detail = 'Wallet not found or not initialized';
      expectRefusal(await service.client.get(BALANCE), 403, detail);
      expectRefusal(await transfer('1.00', 'T1'), 403, detail);
    }
    expect((await service.client.get(TRANSACTIONS)).body.results).to.deep.equal([]);
  });

  it('show every movement with all of its fields, newest first', async () => {
    const collected = await collect('c1', 'RCPT9');
    await topUp(5_000, 'bank-1');
    expect((await transfer('10.00', 't1')).status).to.equal(200);
    await adjust(-100, 'fix-1');
    const { body } = await service.client.get(TRANSACTIONS);
    expect(body).to.include({ count: 5, next: null, previous: null });
    const COMMON = { account: null, trans_id: null };
    const shown = body.results.map(({ id, created_at, ...rest }: Record<string, unknown>) => {
      expect(id).to.match(/^[0-9a-f-]{36}$/);
      expect(created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      return rest;
    });
    expect(shown[0]).to.deep.equal({
      ...COMMON,
      wallet: 'collection',
      type: 'adjustment',
      direction: 'debit',
      amount: '1.00',
      balance_after: '87.50',
      ref_no: 'fix-1',
      description: 'Correction',
    });
    expect(shown.slice(1, 3)).to.have.deep.members([
      {
        ...COMMON,
        wallet: 'payout',
        type: 'transfer',
        direction: 'credit',
        amount: '10.00',
        balance_after: '60.00',
        ref_no: 't1',
        description: 'Transfer from the collection wallet',
      },
      {
        ...COMMON,
        wallet: 'collection',
        type: 'transfer',
        direction: 'debit',
        amount: '10.00',
        balance_after: '88.50',
        ref_no: 't1',
        description: 'Transfer to the payout wallet',
      },
    ]);
    expect(shown[3]).to.include({ wallet: 'payout', type: 'topup', balance_after: '50.00' });
    expect(shown[4]).to.include({
      wallet: 'collection',
      type: 'collection',
      direction: 'credit',
      amount: '98.50',
      balance_after: '98.50',
      ref_no: 'c1',
      account: PAYER,
      trans_id: receiptOf({ id: collected }, 'RCPT9'),
    });
  });

  it('are found by each filter alone and by several together', async () => {
    await collect('c1');
    await collect('c2');
    await topUp(5_000, 'bank-1');
    await transfer('10.00', 't1');
    const CASES: [query: string, count: number][] = [
      ['', 5],
      ['wallet=collection', 3],
      ['wallet=payout', 2],
      ['type=collection', 2],
      ['type=transfer', 2],
      ['type=fee', 0],
      ['wallet=payout&type=transfer', 1],
      ['wallet=payout&type=collection', 0],
      ['ref_no=c1', 1],
      ['ref_no=bank-1', 1],
      ['ref_no=C1', 0],
      ['phone=%2B254712345678', 2],
      ['phone=254712345678&ref_no=c2&wallet=collection&type=collection', 1],
      ['phone=%2B254733123456', 0],
      ['date_from=2000-01-01&date_to=9999-12-31', 5],
      ['date_to=2000-01-01', 0],
      ['date_from=9999-12-31', 0],
      ['page=4&page_size=2', 0],
    ];
    for (const [query, count] of CASES) {
      const { status, body } = await service.client.get(`${TRANSACTIONS}?${query}`);
      expect([query, status, body.results.length]).to.deep.equal([query, 200, count]);
    }
    const one = await service.client.get(`${TRANSACTIONS}?wallet=collection&page_size=2`);
    const next = new URL(one.body.next);
    expect(next.searchParams.get('wallet')).to.equal('collection');
    const two = await service.client.get(next.pathname.replace('/api/v1', '') + next.search);
    expect(two.body.results.map(({ ref_no }: { ref_no: string }) => ref_no)).to.deep.equal(['c1']);
  });

  it('refuse a bad value by its parameter’s name', async () => {
    await expectBadValues(service.client, TRANSACTIONS, {
      page: BAD_PAGE,
      page_size: BAD_PAGE_SIZE,
      as_of: BAD_AS_OF,
      wallet: ['', 'x', 'PAYOUT', 'bank', 'payout%00'],
      type: ['', 'x', 'commission', 'Fee'],
      ref_no: [...BAD_REF_NO, 'x'.repeat(61)],
      phone: BAD_PHONE,
      date_from: BAD_DATE,
      date_to: BAD_DATE,
    });
    const answer = await service.client.get(
      `${TRANSACTIONS}?date_from=2026-03-02&date_to=2026-03-01`,
    );
    expectRefusal(answer, 400, 'Invalid query parameter: date_from');
  });

  it('chain from each balance to the one after it, also of movements at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const work = Array.from({ length: 12 }, async (_, number) => {
        const name = `${round}-${number}`;
        if (number % 3 === 0) await collect(`c${name}`);
        else if (number % 3 === 1) await topUp(100 + number, `b${name}`);
        else await transfer('1.00', `t${name}`);
      });
      await Promise.all(work);
    }
    const cents = (amount: string) => Math.round(Number(amount) * 100);
    for (const wallet of ['collection', 'payout']) {
      const { body } = await service.client.get(`${TRANSACTIONS}?wallet=${wallet}&page_size=100`);
      let balance = 0;
      for (const { amount, direction, balance_after } of body.results.reverse()) {
        balance += direction === 'credit' ? cents(amount) : -cents(amount);
        expect(cents(balance_after)).to.equal(balance);
      }
      const balances = (await service.client.get(BALANCE)).body;
      expect(cents(balances[`${wallet}_wallet_balance`])).to.equal(balance);
    }
  });
});
