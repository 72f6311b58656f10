import { expect } from 'chai';
import { MAX_WAITING_OF_MERCHANT } from '../../src/api/routes/payments.ts';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import type { Verdict } from '../../src/domain/gateway-results.ts';
import { REVERSAL_STATES } from '../../src/domain/payments/kinds.ts';
import { STATUS_CODES } from '../../src/domain/payments/payment.ts';
import { findReversal } from '../../src/domain/reversals/create-reversal.ts';
import { itChecksFields } from '../support/field-tests.ts';
import { REVERSAL_FIELDS } from '../support/reversal-fields.ts';
import { createTestApp, createTestUser } from '../support/test-merchant.ts';
import { walletBalance } from '../support/wallet-balance.ts';
import { documentedEvents } from '../support/webhook-schemas.ts';
import {
  expectRefusal,
  failed,
  newCollection,
  newCompletedCollection,
  receiptOf,
  request,
  reversalBody,
  succeeded,
  type TestMerchant,
  useService,
} from '../support/world.ts';

const TAKEN = 'Reference number already exists';
const IN_PROGRESS = 'A reversal is already in progress';
const DONE = 'Collection has already been reversed';
const UNFINISHED = 'Only a completed collection can be reversed';

/** Of a collection without receipt: nobody waits for it to be sent. */
describe('Initiating a reversal', () => {
  const service = useService({ merchant: 'none' });
  let merchant: TestMerchant;
  /** The completed collection of every merchant that was made here. */
  const originals = new Map<number, string>();

  before(async () => {
    merchant = await newOwner();
  });

  after(async () => {
    await service.expectSoundLedger();
  });

  async function newOwner(): Promise<TestMerchant> {
    const owner = await service.newMerchant();
    originals.set(owner.merchant_id, await newOriginal(owner));
    return owner;
  }

  const newOriginal = async (owner: TestMerchant) =>
    (await newCompletedCollection(service.database, owner, null)).ref_no;
  const bodyOf = (overrides: Record<string, unknown> = {}, owner = merchant) =>
    reversalBody(originals.get(owner.merchant_id)!, overrides);
  const initiate = (body: unknown, { access } = merchant) =>
    request('POST', `${service.baseUrl}/reversals/initiate`, { access, body });
  const get = (path: string, { access } = merchant) =>
    request('GET', `${service.baseUrl}${path}`, { access });
  const detail = (refNo: string, owner = merchant) => get(`/reversals/${refNo}`, owner);
  const recorded = () => service.countOf('reversals');
  const stored = async (ref_no: string, { merchant_id } = merchant) =>
    (await findReversal(service.database, { merchant_id, ref_no }))!;

  it('answers with the record, which is then stored with its first job', async () => {
    const owner = await newOwner();
    const body = bodyOf({ reason: 'Out of stock' }, owner);
    const answer = await initiate(body, owner);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const { created_at, ...rest } = answer.body;
    const { id } = await stored(String(body.ref_no), owner);
    expect(rest).to.deep.equal({
      id,
      ref_no: body.ref_no,
      checkout_ref_no: body.checkout_ref_no,
      original_trans_id: null,
      amount: '100.00',
      reversed_net_amount: '98.50',
      reversed_commission: '1.50',
      status: 0,
      status_label: 'unprocessed',
      result_description: null,
      trans_id: null,
      reason: 'Out of stock',
      payment_completed_at: null,
    });
    expect(new Date(created_at).toISOString()).to.equal(created_at);
    expect((await detail(String(body.ref_no), owner)).body).to.deep.equal(answer.body);
    expect(await service.outboxOf(id)).to.deep.equal([
      { queue: 'reversals-simulator', kind: 'reversal', step: 'submit', row_id: id, step_no: 1 },
    ]);
  });

  for (const reason of [undefined, null, '']) {
    it(`needs no reason: ${JSON.stringify(reason)}`, async () => {
      const owner = await newOwner();
      const answer = await initiate(bodyOf({ reason }, owner), owner);
      expect([answer.status, answer.body.reason]).to.deep.equal([200, null]);
    });
  }

  itChecksFields(REVERSAL_FIELDS, {
    bodyOf,
    initiate,
    recorded,
    newOwner,
    read: async ({ body }, owner) => ({ ...(await stored(body.ref_no, owner)), ...body }),
  });

  it('refuses another amount, currency or app than the collection’s, and takes the right ones', async () => {
    const owner = await newOwner();
    const before = await recorded();
    const second = await createTestApp(service, owner.merchant_id, ['collections']);
    const person = await createTestUser(service, owner.merchant_id, 'Finance');
    const { app_code } = owner;
    const INVALID = [
      [{ amount: '5.00' }, 'amount', 'amount_not_of_collection'],
      [{ amount: '100.01' }, 'amount', 'amount_not_of_collection'],
      [{ amount: 100 }, 'amount', 'invalid_amount'],
      [{ currency: 'USD' }, 'currency', 'invalid_field'],
      [{ app_code: second.app_code }, 'app_code', 'invalid_field'],
    ] as const;
    for (const caller of [owner, { ...owner, ...person }]) {
      for (const [overrides, field, code] of INVALID) {
        const answer = await initiate(bodyOf(overrides, owner), caller);
        expectRefusal(answer, 400, `Invalid ${field}`, { code, field });
      }
    }
    expect(await recorded()).to.equal(before);
    const right = bodyOf({ amount: '100.00', currency: 'KES', app_code }, owner);
    expect((await initiate(right, owner)).body.amount).to.equal('100.00');
  });

  it('refuses a collection that is open, failed, or not there', async () => {
    const before = await recorded();
    const open = await newCollection(service.database, merchant);
    expectRefusal(await initiate(reversalBody(open.ref_no)), 400, UNFINISHED);
    await service.learn(open, failed());
    expectRefusal(await initiate(reversalBody(open.ref_no)), 400, UNFINISHED);
    expectRefusal(await initiate(reversalBody('nothing')), 404, 'Transaction not found');
    expect(await recorded()).to.equal(before);
  });

  it('takes nothing while the channel is paused', async () => {
    const before = await recorded();
    await service.transaction((trx) => pauseChannel(trx, 63902));
    try {
      expectRefusal(await initiate(bodyOf()), 503, 'Service temporarily unavailable');
      expect(await recorded()).to.equal(before);
    } finally {
      await service.transaction((trx) => resumeChannel(trx, 63902));
    }
  });

  it('may be tried again after a failure, under another reference, and succeeds once', async () => {
    const owner = await newOwner();
    const first = bodyOf({}, owner);
    expect((await initiate(first, owner)).status).to.equal(200);
    expectRefusal(await initiate(bodyOf({}, owner), owner), 409, IN_PROGRESS);
    await service.learn(await stored(String(first.ref_no), owner), failed());
    expectRefusal(await initiate(first, owner), 409, TAKEN);
    const second = bodyOf({}, owner);
    expect((await initiate(second, owner)).status).to.equal(200);
    await service.learn(await stored(String(second.ref_no), owner), succeeded());
    expectRefusal(await initiate(bodyOf({}, owner), owner), 409, DONE);
    const balance = await walletBalance(service.database, owner.merchant_id, 'collection');
    expect(balance).to.equal(0);
  });

  it('refuses a reference that another reversal has', async () => {
    const owner = await newOwner();
    const body = bodyOf({}, owner);
    expect((await initiate(body, owner)).status).to.equal(200);
    const other = { ...body, checkout_ref_no: await newOriginal(owner) };
    expectRefusal(await initiate(other, owner), 409, TAKEN);
  });

  for (const [what, refNo, text] of [
    ['of their own', undefined, IN_PROGRESS],
    ['that are all the same', 'same-1', TAKEN],
  ] as const) {
    it(`accepts one of many reversals of a collection at once, with references ${what}`, async () => {
      const owner = await newOwner();
      const overrides = refNo ? { ref_no: refNo } : {};
      const answers = await Promise.all(
        Array.from({ length: MAX_WAITING_OF_MERCHANT }, () =>
          initiate(bodyOf(overrides, owner), owner),
        ),
      );
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused).to.have.length(MAX_WAITING_OF_MERCHANT - 1);
      for (const answer of refused) expectRefusal(answer, 409, text);
      const from = 'reversals WHERE merchant_id = :id';
      expect(await service.countOf(from, { id: owner.merchant_id })).to.equal(1);
    });
  }

  it('books it on the token’s app, a person’s on that of the collection', async () => {
    const owner = await service.newMerchant();
    const sister = await createTestApp(service, owner.merchant_id, ['collections']);
    const person = await createTestUser(service, owner.merchant_id, 'Finance');
    for (const [{ access }, app_code] of [
      [owner, owner.app_code],
      [sister, sister.app_code],
      [person, owner.app_code],
    ] as const) {
      const body = reversalBody(await newOriginal(owner), { app_code });
      const answer = await initiate(body, { ...owner, access });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect((await stored(answer.body.ref_no, owner)).app_code).to.equal(app_code);
    }
  });

  describe('and reading it', () => {
    const ENDS: [Verdict, status: number, label: string, event: string, code: number][] = [
      [succeeded({ transId: 'BACK1' }), 3, 'reversed', 'transaction.completed', 0],
      [failed({ code: 2_001 }), 2, 'failed', 'transaction.failed', 1],
    ];
    for (const [verdict, status, status_label, event, result_code] of ENDS) {
      it(`shows that it is ${status_label}, and the merchant hears of that`, async () => {
        const owner = await newOwner();
        const { body: open } = await initiate(bodyOf({}, owner), owner);
        const reversal = await stored(open.ref_no, owner);
        await service.learn(reversal, verdict);
        const { body } = await detail(open.ref_no, owner);
        expect(body).to.include({
          status,
          status_label,
          result_description: verdict.description,
          trans_id: verdict.outcome === 'succeeded' ? receiptOf(reversal, 'BACK1') : null,
        });
        expect((await get(`/reversals?status=${status}`, owner)).body.results).to.deep.equal([
          body,
        ]);
        const [told] = await documentedEvents(service.database, reversal.id, 'reversalEnded');
        expect(told.notification).to.deep.equal({ type: 'reversal', event });
        expect(told.data).to.include({
          result_code,
          ref_no: open.ref_no,
          checkout_ref_no: open.checkout_ref_no,
          transaction_fee: '0.00',
        });
      });
    }

    it('has for every state the code that lists filter by', () => {
      for (const [status, { code }] of Object.entries(REVERSAL_STATES)) {
        expect(STATUS_CODES[code]).to.equal(status);
      }
    });

    it('lists those of one collection', async () => {
      const owner = await newOwner();
      const { body } = await initiate(bodyOf({}, owner), owner);
      const other = await initiate(reversalBody(await newOriginal(owner)), owner);
      expect(other.status).to.equal(200);
      const path = `/reversals?checkout_ref_no=${body.checkout_ref_no}`;
      expect((await get(path, owner)).body.results).to.deep.equal([body]);
      expect((await get('/reversals?checkout_ref_no=none', owner)).body.results).to.deep.equal([]);
      const bad = await get('/reversals?checkout_ref_no=a.b', owner);
      expectRefusal(bad, 400, 'Invalid query parameter: checkout_ref_no');
    });

    it('shows the receipt of the original as soon as a reversal knows it', async () => {
      const owner = await newOwner();
      const { body } = await initiate(bodyOf({}, owner), owner);
      await service.rows(
        `UPDATE reversals SET original_trans_id = 'RCPT1' WHERE ref_no = :ref_no`,
        { ref_no: body.ref_no },
      );
      expect((await detail(body.ref_no, owner)).body.original_trans_id).to.equal('RCPT1');
    });

    it('finds nothing that is not the merchant’s own, by the same answer as for nothing at all', async () => {
      const other = await newOwner();
      const theirs = await initiate(bodyOf({}, other), other);
      for (const refNo of [
        ...[theirs.body.ref_no, crypto.randomUUID(), 'initiate', '%00', '..%2f', "' OR true --"],
        ...['x'.repeat(61), 'x'.repeat(2_000), '%F0%9F%8E%89', originals.get(other.merchant_id)!],
      ]) {
        expectRefusal(await detail(refNo), 404, 'Transaction not found');
      }
    });
  });
});
