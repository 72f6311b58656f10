import { expect } from 'chai';
import { WRONG, WRONG_CURRENCY } from '../support/collection-fields.ts';
import { valuesThroughApi } from '../support/matrix.ts';
import { expectRefusal, succeeded, useService } from '../support/world.ts';

const POOR = 'Insufficient balance in collection wallet';
const TAKEN = 'Reference number already exists';

describe('A transfer', () => {
  const service = useService();

  /** Its collection wallet holds 98.50. */
  beforeEach(async () => {
    const collection = await service.newCollection();
    await service.learn(collection, succeeded({ transId: `T${service.merchantId}` }));
  });

  afterEach(() => service.expectSoundLedger());

  const transfer = (amount: unknown, ref_no: unknown, headers: Record<string, string> = {}) =>
    service.client.post('/wallets/transfers', { amount, ref_no }, headers);
  const balances = async () => {
    const { body } = await service.client.get('/wallets/balance');
    return [body.collection_wallet_balance, body.payout_wallet_balance];
  };
  const stored = () =>
    service.countOf('transfers WHERE merchant_id = :id', { id: service.merchantId });

  it('moves money at once, and answers with the transaction that the list shows', async () => {
    const answer = await transfer('20.25', 't1');
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({
      wallet: 'collection',
      type: 'transfer',
      direction: 'debit',
      amount: '20.25',
      balance_after: '78.25',
      ref_no: 't1',
    });
    const listed = await service.client.get('/wallets/transactions?wallet=collection&ref_no=t1');
    expect(listed.body.results).to.deep.equal([answer.body]);
    expect(await balances()).to.deep.equal(['78.25', '20.25']);
  });

  it('needs a merchant who is approved', async () => {
    await service.rows('UPDATE merchants SET approved = false WHERE id = :id', {
      id: service.merchantId,
    });
    expectRefusal(
      await transfer('10.00', 'unapproved'),
      403,
      'Your merchant profile is not approved. Please ensure your profile has been verified before initiating transfers.',
    );
    expect(await balances()).to.deep.equal(['98.50', '0.00']);
  });

  it('is in Kenyan shillings', async () => {
    const send = (currency: unknown) =>
      service.client.post('/wallets/transfers', { amount: '10.00', ref_no: 't1', currency });
    const [, detail, wrong] = WRONG_CURRENCY;
    for (const currency of wrong) expectRefusal(await send(currency), 400, detail);
    expect((await send('KES')).status).to.equal(200);
  });

  it('takes the last cent and not one more', async () => {
    expectRefusal(await transfer('98.51', 't1'), 400, POOR);
    expect(await stored()).to.equal(0);
    expect((await transfer('98.50', 't1')).status).to.equal(200);
    expectRefusal(await transfer('1.00', 't2'), 400, POOR);
    expect(await balances()).to.deep.equal(['0.00', '98.50']);
  });

  it('is made once per reference and merchant', async () => {
    await transfer('1.00', 't1');
    expectRefusal(await transfer('1.00', 't1'), 409, TAKEN);
    expectRefusal(await transfer('2.00', 't1'), 409, TAKEN);
    const collection = await service.client.initiate({ ref_no: 't1' });
    expect(collection.status).to.equal(200);
    const other = service.clientOf(await service.newMerchant());
    const theirs = await other.post('/wallets/transfers', { amount: '1.00', ref_no: 't1' });
    expectRefusal(theirs, 400, POOR);
    expect(await balances()).to.deep.equal(['97.50', '1.00']);
  });

  it('never takes more than there is when 20 come at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, number) => transfer('10.00', `t${number}`)),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(done).to.have.length(9);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 400, POOR);
    }
    expect(await balances()).to.deep.equal(['8.50', '90.00']);
    expect(await stored()).to.equal(9);
  });

  it('is made once of 20 with one reference at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => transfer('10.00', 't1')));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 409, TAKEN);
    }
    expect(await balances()).to.deep.equal(['88.50', '10.00']);
  });

  it('is repeated by its Idempotency-Key, and frees the key when it is refused', async () => {
    const key = { 'idempotency-key': 'k1' };
    expectRefusal(await transfer('98.51', 't1', key), 400, POOR);
    const first = await transfer('10.00', 't1', key);
    const again = await transfer('10.00', 't1', key);
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    const reused = 'Idempotency key was used with a different request';
    expectRefusal(await transfer('11.00', 't1', key), 422, reused);
    expect(await balances()).to.deep.equal(['88.50', '10.00']);
  });

  it('asks for what is missing, in order', async () => {
    for (const missing of [undefined, null, '']) {
      expectRefusal(await transfer(missing, 't1'), 400, 'amount field is required');
      expectRefusal(await transfer('1', missing), 400, 'ref_no field is required');
    }
  });

  for (const [field, text, values] of WRONG.filter(([name]) => /amount|ref_no/.test(name))) {
    it(`refuses what is wrong for ${field}`, async () => {
      for (const value of valuesThroughApi(values)) {
        const answer = await service.client.post('/wallets/transfers', {
          amount: '1.00',
          ref_no: 't1',
          [field]: value,
        });
        expectRefusal(answer, 400, text);
      }
      expect(await stored()).to.equal(0);
    });
  }
});
