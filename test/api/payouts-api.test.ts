import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { rows } from '../../src/connections/database.ts';
import { pauseChannel, resumeChannel } from '../../src/domain/channels/channel-store.ts';
import { findPayment } from '../../src/domain/payments/payment-store.ts';
import { HOUR_MS } from '../../src/time.ts';
import { expectBothForms } from '../support/created-at.ts';
import { itChecksFields } from '../support/field-tests.ts';
import { accountBalance } from '../support/ledger-check.ts';
import { PAYOUT_FIELDS } from '../support/payout-fields.ts';
import { walletBalance } from '../support/wallet-balance.ts';
import { documentedEvents } from '../support/webhook-schemas.ts';
import {
  expectRefusal,
  payoutBody,
  receiptOf,
  request,
  succeeded,
  type TestMerchant,
  useService,
} from '../support/world.ts';

const RICH_CENTS = 100_000_000_00;
const MPESA = 63902;
const EQUITY = 68;
const ACCOUNT = '0110123456789';
const POOR = 'Insufficient balance in payout wallet';
const TAKEN = 'Reference number already exists';

describe('Initiating a payout', () => {
  const env = { CHANNELS: `${MPESA}=simulator,63903=simulator,63907=simulator,68=simulator` };
  const service = useService({ env, merchant: 'none' });
  let merchant: TestMerchant;

  before(async () => {
    merchant = await newOwner();
  });

  after(async () => {
    await service.expectSoundLedger();
  });

  async function newOwner(fundsCents = RICH_CENTS): Promise<TestMerchant> {
    const owner = await service.newMerchant();
    await topUpPayoutWallet(service.database, owner.merchant_id, fundsCents, 'T1');
    return owner;
  }

  const bodyOf = (overrides: Record<string, unknown> = {}, owner = merchant) =>
    payoutBody(owner, overrides);
  const initiate = (body: unknown, { access } = merchant) =>
    request('POST', `${service.baseUrl}/payouts/initiate`, { access, body });
  const detail = (id: string, { access } = merchant) =>
    request('GET', `${service.baseUrl}/payouts/${id}`, { access });
  const recorded = () => service.countOf('payouts');
  const balance = ({ merchant_id } = merchant) =>
    walletBalance(service.database, merchant_id, 'payout');
  const stored = (id: string, { merchant_id } = merchant) =>
    findPayment(service.database, { kind: 'payout', merchant_id, id });

  it('answers with the record, which is then debited and stored with its first job', async () => {
    const before = (await balance())!;
    const body = bodyOf({ category: 'gaming', narration: 'Prize', channel: 63903 });
    const answer = await initiate(body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const { id, created_at, created_at_iso, ...rest } = answer.body;
    expect(rest).to.deep.equal({
      payto: '+254712345678',
      amount: '100.00',
      ref_no: body.ref_no,
      status: 'pending',
      category: 'gaming',
      channel: 63903,
      channel_name: 'Airtel Money',
      channel_type: 'Mobile Money',
    });
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expectBothForms({ created_at, created_at_iso });
    expect(await balance()).to.equal(before - 10_000);
    expect(await service.outboxOf(id)).to.deep.equal([
      { queue: 'submission-simulator', kind: 'payout', step: 'submit', row_id: id, step_no: 1 },
    ]);
  });

  it('fills in the category, the narration and the channel of the carrier', async () => {
    const answer = await initiate(bodyOf({ category: null, narration: '', channel: null }));
    expect(answer.body).to.include({ category: 'other', channel: MPESA, channel_name: 'M-PESA' });
    expect((await detail(answer.body.id)).body.narration).to.equal('Disbursement');
  });

  it('takes a bank account over the channel of its bank', async () => {
    const answer = await initiate(bodyOf({ payto: ACCOUNT, channel: EQUITY }));
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body).to.include({
      payto: ACCOUNT,
      channel: EQUITY,
      channel_name: 'Equity',
      channel_type: 'Bank',
    });
  });

  const required = PAYOUT_FIELDS.required.filter((field) => field !== 'app_code');
  // The token says which app it is; people are asked for it.
  itChecksFields(
    { ...PAYOUT_FIELDS, required },
    {
      bodyOf,
      initiate,
      recorded,
      newOwner,
      read: async ({ body }, owner) => ({ ...(await stored(body.id, owner)), ...body }),
    },
  );

  for (const [what, fields, detailText] of [
    [
      'a bank account without channel',
      { payto: ACCOUNT },
      'Channel is required for bank account payouts',
    ],
    [
      'a bank account over a phone’s channel',
      { payto: ACCOUNT, channel: MPESA },
      'Invalid channel code: 63902',
    ],
    ['a phone over a bank’s channel', { channel: EQUITY }, 'Invalid channel code: 68'],
    ['a channel that does not exist', { channel: 4_711 }, 'Invalid channel code: 4711'],
    [
      'a phone without plus over its channel',
      { payto: '0712345678', channel: MPESA },
      'Invalid phone number',
    ],
    ['a channel without driver', { payto: ACCOUNT, channel: 1 }, 'Channel is not available: 1'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const before = await recorded();
      expectRefusal(await initiate(bodyOf(fields)), 400, detailText);
      expect(await recorded()).to.equal(before);
    });
  }

  it('takes nothing on a channel that is paused', async () => {
    const before = [await recorded(), await balance()];
    await service.transaction((trx) => pauseChannel(trx, MPESA));
    try {
      expectRefusal(await initiate(bodyOf()), 503, 'Service temporarily unavailable');
      expect([await recorded(), await balance()]).to.deep.equal(before);
    } finally {
      await service.transaction((trx) => resumeChannel(trx, MPESA));
    }
  });

  it('refuses, and records nothing, without a wallet for the money', async () => {
    const owner = await service.newMerchant();
    const bindings = { id: owner.merchant_id };
    await rows(service.owner, 'DELETE FROM wallets WHERE merchant_id = :id', bindings);
    const answer = await initiate(bodyOf({}, owner), owner);
    expectRefusal(answer, 403, 'Wallet not found or not initialized');
    const from = 'payouts WHERE merchant_id = :id';
    expect(await service.countOf(from, bindings)).to.equal(0);
  });

  it('debits the fee too, by the default or by the merchant’s own rate', async () => {
    const RATES: [assignments: string, fee: string, cents: number][] = [
      ['payout_fee_bps = NULL', '0.00', 0],
      ['payout_fee_bps = 200', '2.00', 200],
      ['payout_fee_bps = 0, payout_fee_fixed_cents = 500', '5.00', 500],
    ];
    const owner = await newOwner();
    for (const [assignments, fee, cents] of RATES) {
      await service.rows(`UPDATE merchants SET ${assignments} WHERE id = :id`, {
        id: owner.merchant_id,
      });
      const before = (await balance(owner))!;
      const { body } = await initiate(bodyOf({}, owner), owner);
      expect((await detail(body.id, owner)).body).to.include({ fee });
      expect(await balance(owner)).to.equal(before - 10_000 - cents);
    }
  });

  it('counts a payout to a phone as overdue after 4 hours, to a bank after 48', async () => {
    for (const [fields, hours] of [
      [{}, 4],
      [{ payto: ACCOUNT, channel: EQUITY }, 48],
    ] as const) {
      const { body } = await initiate(bodyOf(fields));
      const { deadline_at, created_at } = (await stored(body.id))!;
      expect(deadline_at.getTime() - created_at.getTime()).to.equal(hours * HOUR_MS);
    }
  });

  it('refuses a reference that the merchant has used, and no other merchant’s', async () => {
    const body = bodyOf();
    expect((await initiate(body)).status).to.equal(200);
    expectRefusal(await initiate(body), 409, TAKEN);
    const other = await newOwner();
    expect((await initiate({ ...body, app_code: other.app_code }, other)).status).to.equal(200);
  });

  it('records one of 50 identical requests that come at once', async () => {
    const owner = await newOwner();
    const body = bodyOf({}, owner);
    const answers = await Promise.all(Array.from({ length: 50 }, () => initiate(body, owner)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(49);
    for (const answer of refused) expectRefusal(answer, 409, TAKEN);
    expect(await balance(owner)).to.equal(RICH_CENTS - 10_000);
  });

  it('accepts exactly what the wallet can pay of 100 payouts at once', async () => {
    const owner = await newOwner(500_000);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => initiate(bodyOf({}, owner), owner)),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(50);
    for (const answer of refused) expectRefusal(answer, 400, POOR);
    expect(await balance(owner)).to.equal(0);
    const from = 'payouts WHERE merchant_id = :id';
    expect(await service.countOf(from, { id: owner.merchant_id })).to.equal(50);
    const inFlight = await accountBalance(service.database, owner.merchant_id, 'payouts_in_flight');
    expect(inFlight).to.equal(500_000);
    await service.expectSoundLedger();
  });

  it('repeats the first answer for a key, and debits once', async () => {
    const owner = await newOwner();
    const body = bodyOf({}, owner);
    const send = () =>
      service.clientOf(owner).post('/payouts/initiate', body, { 'idempotency-key': 'k' });
    const first = await send();
    const again = await send();
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(await balance(owner)).to.equal(RICH_CENTS - 10_000);
  });

  describe('and reading it', () => {
    it('shows what is not known yet as null, and the outcome when there is one', async () => {
      const { body: record } = await initiate(bodyOf());
      const open = {
        ...record,
        result_code: null,
        result_description: null,
        trans_id: null,
        external_ref: null,
        payment_completed_at: null,
        narration: 'Disbursement',
        fee: '0.00',
      };
      expect((await detail(record.id)).body).to.deep.equal(open);
      const payout = await stored(record.id);
      await service.learn(payout!, succeeded());
      expect((await detail(record.id)).body).to.deep.equal({
        ...open,
        status: 'completed',
        result_code: 0,
        result_description: 'Done',
        trans_id: receiptOf(record),
        external_ref: 'GW-1',
        payment_completed_at: '2026-11-20T10:00:00.000Z',
      });
      const [event] = await documentedEvents(service.database, record.id, 'payoutEnded');
      expect(event.notification).to.deep.equal({
        type: 'payout',
        event: 'transaction.completed',
      });
      expect(event.data.id).to.equal(record.id);
    });

    it('finds nothing that is not the merchant’s own, by the same answer as for nothing at all', async () => {
      const other = await newOwner();
      const theirs = await initiate(bodyOf({}, other), other);
      expect((await detail(theirs.body.id.toUpperCase(), other)).status).to.equal(200);
      for (const id of [theirs.body.id, crypto.randomUUID(), 'x', '%00', '..%2f']) {
        expectRefusal(await detail(id), 404, 'Transaction not found');
      }
    });
  });
});
