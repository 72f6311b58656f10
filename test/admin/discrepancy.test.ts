import { expect } from 'chai';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { discrepancyOf, hear, makeOverdue } from '../support/discrepancies/scene.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { newCollection, receiptOf, reread, succeeded } from '../support/payments.ts';
import { SECOND, SUCCESS } from '../support/settle-stories.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const NOBODY = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';
const HALF = succeeded({ amountCents: 5_000 });

describe('admin discrepancy', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  beforeEach(async () => {
    merchant = await createTestMerchant({ database: admin.database, config });
  });

  const scene = () => ({ database: admin.database, merchant });
  const newOther = async (refNo: string) =>
    hear(scene(), await newCollection(admin.database, merchant, { ref_no: refNo }), HALF);
  const list = async (options = '') =>
    (await admin.json(`discrepancy list --merchant ${merchant.merchant_id} ${options}`))
      .discrepancies as Document[];

  it('lists what support needs to decide, oldest first', async () => {
    const collection = await newOther('half');
    const payout = await newPayout(admin.database, merchant);
    await hear(scene(), payout, SUCCESS, SECOND);
    const [first, second, ...others] = await list();
    expect(others).to.deep.equal([]);
    expect(first).to.include({
      kind: 'other_amount',
      what: 'another amount moved than was asked for',
      merchant_id: merchant.merchant_id,
      payment_kind: 'collection',
      payment_id: collection.id,
      ref_no: 'half',
      status: 'pending',
      asked: '100.00',
      amount: '50.00',
      suspense: '50.00',
      account: '+254712345678',
      trans_id: receiptOf(collection),
      resolved_at: null,
    });
    expect(first!.allowed).to.deep.equal(['accept-amount', 'returned']);
    expect(second).to.include({
      kind: 'second_success',
      payment_id: payout.id,
      trans_id: receiptOf(payout, 'RCPT2'),
    });
    expect(second!.allowed).to.deep.equal(['returned', 'failed']);
    const byKind = await list('--kind second_success');
    expect(byKind.map(({ id }) => id)).to.deep.equal([second!.id]);
    const after = await list(`--limit 1 --after ${first!.id}`);
    expect(after.map(({ id }) => id)).to.deep.equal([second!.id]);
    expect(await list('--resolved')).to.deep.equal([]);
    const text = await admin.text(`discrepancy list --merchant ${merchant.merchant_id}`);
    expect(text)
      .to.match(
        /^ID +SINCE +WHAT +MERCHANT +PAYMENT +STATUS +ASKED +MOVED +MOVED AT +IN SUSPENSE +ACCOUNT/,
      )
      .and.match(
        /other_amount: another amount .* collection half +pending +100\.00 +50\.00 .* 50\.00/,
      )
      .and.match(/\(2 discrepancies\)\n$/);
  });

  it('shows every finding about one receipt, on each list and in JSON', async () => {
    const collection = await newOther('twice');
    for (const amountCents of [7_000, 8_000]) {
      await hear(scene(), collection, succeeded({ amountCents, account: '+254722000000' }));
    }
    const [, found] = await list();
    expect(found).to.include({ kind: 'other_account', gateway: 'simulator', amount: '70.00' });
    const shown = { account: '+254722000000', booked: '50.00', decided: false };
    const evidence = (found!.evidence as Document[]).map(({ found_at, ...facts }) => {
      expect(found_at).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
      return facts;
    });
    expect(evidence).to.deep.equal([
      { amount: '70.00', ...shown },
      { amount: '80.00', ...shown },
    ]);
    const text = await admin.text(`discrepancy list --merchant ${merchant.merchant_id}`);
    expect(text)
      .to.match(/ALSO FOUND$/m)
      .and.match(/other_account: .* 70\.00 .* amount 80\.00$/m);
    const file = await admin.text(`payment show ${collection.id}`);
    expect(file).to.match(/^Evidence:\n.*\n.* 70\.00 .*\n.* 80\.00 /m);
  });

  it('shows what was decided before beside what was found since', async () => {
    const collection = await newOther('again');
    await hear(scene(), collection, succeeded({ amountCents: 7_000, account: '+254722000000' }));
    const { id } = await discrepancyOf(scene(), 'other_account');
    await admin.change(`discrepancy resolve ${id} --as dismissed`);
    for (const amountCents of [8_000, 9_000]) {
      await hear(scene(), collection, succeeded({ amountCents, account: '+254722000000' }));
    }
    const found = (await list('--kind other_account'))[0]!;
    expect(
      (found.evidence as Document[]).map(({ amount, decided }) => [amount, decided]),
    ).to.deep.equal([
      ['70.00', true],
      ['80.00', false],
      ['90.00', false],
    ]);
    const text = await admin.text(`discrepancy list --merchant ${merchant.merchant_id}`);
    expect(text)
      .to.match(/other_account: .* 80\.00 .* amount 90\.00$/m)
      .and.not.include('70.00');
  });

  it('resolves one, says what it did, and writes that down', async () => {
    const collection = await newOther('accepted');
    const { id } = await discrepancyOf(scene(), 'other_amount');
    const answer = await admin.changeJson(`discrepancy resolve ${id} --as accept-amount`);
    expect(answer).to.include({
      id,
      resolution: 'accept-amount',
      resolved_by: 'tester',
      resolved_reason: 'because',
      previous_status: 'pending',
      status: 'completed',
      asked: '50.00',
      suspense: null,
    });
    const entries = [
      { account: 'suspense', amount: '-50.00' },
      // The commission is the configuration's, on what has moved.
      { account: 'commission', amount: '0.75' },
      { account: 'wallet:collection', amount: '49.25' },
    ];
    const [journal, ...others] = answer.booked as Document[];
    expect(others).to.deep.equal([]);
    expect(journal).to.include({ kind: 'completed', source: 'collection' });
    expect(journal!.entries).to.deep.equal(entries);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'discrepancy.resolve',
      merchant_id: merchant.merchant_id,
      subject: `discrepancy ${id}`,
      details: {
        kind: 'other_amount',
        resolution: 'accept-amount',
        stake_cents: collection.amount_cents,
        payment: `collection ${collection.id}`,
        status: { from: 'pending', to: 'completed' },
        journals: [journal],
      },
    });
    expect((await list('--resolved')).map((found) => found.id)).to.deep.equal([id]);
    expect(await list()).to.deep.equal([]);
  });

  it('tells people the same', async () => {
    const payout = await newPayout(admin.database, merchant, { ref_no: 'lost-1' });
    await hear(scene(), payout, HALF);
    const { id } = await discrepancyOf(scene(), 'other_amount');
    const lines = (await admin.change(`discrepancy resolve ${id} --as failed`)).split('\n');
    expect(lines.slice(0, 7)).to.deep.equal([
      `Discrepancy ${id} (other_amount) is resolved as failed`,
      '  payment        payout lost-1',
      '  status         failed',
      '  status before  pending',
      '  amount         100.00',
      '',
      'Booked:',
    ]);
    expect(lines[8]).to.match(/ movement +cleared +\S+ \S+ EAT +suspense 50\.00, losses -50\.00$/);
  });

  it('takes the receipt of an overdue payment, and of no other', async () => {
    const payout = await makeOverdue(scene(), await newPayout(admin.database, merchant));
    await newOther('without');
    const other = await discrepancyOf(scene(), 'other_amount');
    const { id } = await discrepancyOf(scene(), 'overdue');
    const resolve = `discrepancy resolve ${id} --as completed --trans-id RCPT9`;
    expect(await admin.changeJson(resolve)).to.include({ status: 'completed' });
    expect((await reread(admin.database, payout)).trans_id).to.equal('RCPT9');
    expect((await admin.lastAudit()).details).to.include({ trans_id: 'RCPT9' });
    await admin.refused([
      [resolve, `Discrepancy ${id} is resolved already: completed`],
      [
        `discrepancy resolve ${other.id} --as completed --trans-id RCPT9`,
        'This discrepancy (other_amount) can only be resolved as accept-amount, returned',
      ],
      [`discrepancy resolve ${NOBODY} --as dismissed`, `There is no discrepancy ${NOBODY}`],
    ]);
  });

  it('lets one of two who decide at once do it', async () => {
    await newOther('raced');
    const { id } = await discrepancyOf(scene(), 'other_amount');
    const command = (as: string) => `discrepancy resolve ${id} --as ${as} --reason because`;
    const runs = await Promise.all([
      admin.run(command('returned')),
      admin.run(command('accept-amount')),
    ]);
    expect(runs.map(({ status }) => status)).to.have.members([0, 1]);
    const audits = (await admin.audits()).filter(({ subject }) => subject.endsWith(id));
    expect(audits).to.have.length(1);
  });
});
