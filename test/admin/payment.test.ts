import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { createReversal } from '../../src/domain/reversals/create-reversal.ts';
import { refundPayout } from '../../src/domain/settlement/refund-payout.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { callbackUrl } from '../../src/gateways/callback-address.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { keepCallback } from '../support/callbacks.ts';
import { hear, makeOverdue, neverTake } from '../support/discrepancies/scene.ts';
import { newPayout, reversalRequest } from '../support/payment-kinds.ts';
import {
  newCollection,
  newReturn,
  parserOf,
  receiptOf,
  reread,
  succeeded,
} from '../support/payments.ts';
import { FAILURE, SUCCESS } from '../support/settle-stories.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const NOBODY = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';

describe('admin payment', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  const newMerchant = () => createTestMerchant({ database: admin.database, config });
  const scene = () => ({ database: admin.database, merchant });

  beforeEach(async () => {
    merchant = await newMerchant();
  });

  const idsIn = ({ payments }: Document) => (payments as Document[]).map(({ id }) => id);
  const shown = async (what: string) =>
    ((await admin.json(`payment show ${what}`)).payment as Document).id;

  it('finds a payment by whatever is known of it', async () => {
    const collection = await newCollection(admin.database, merchant, { ref_no: 'order-1' });
    await hear(scene(), collection, succeeded({ transId: 'QWE123', externalRef: 'gw/77' }));
    const [event] = await rows<{ id: string }>(
      admin.database,
      'SELECT id FROM events WHERE payment_id = :id',
      { id: collection.id },
    );
    for (const what of ['order-1', collection.id, 'QWE123', 'gw/77', event!.id]) {
      expect(await shown(what), what).to.equal(collection.id);
    }
  });

  it('finds the payments of a phone, however it is written', async () => {
    const phone = '+254722000111';
    const of = (what: string) => `${what} --merchant ${merchant.merchant_id}`;
    const first = await newCollection(admin.database, merchant, { payfrom: phone });
    for (const what of ['0722000111', '722000111', '254722000111', phone, '0722-000-111']) {
      expect(await shown(of(what)), what).to.equal(first.id);
    }
    const spaced = await admin.json(['payment', 'show', '0722 000 111']);
    expect((spaced.payment as Document).id).to.equal(first.id);
    const payout = await newPayout(admin.database, merchant, { payto: phone });
    const named = await newCollection(admin.database, merchant, { ref_no: '0722000111' });
    const other = await newCollection(admin.database, await newMerchant(), { payfrom: phone });
    expect(idsIn(await admin.json('payment show 0722000111'))).to.deep.equal([
      ...[other.id, named.id, payout.id, first.id],
    ]);
    await admin.refused([['payment show 0722000112', 'No payment is known by "0722000112"']]);
  });

  it('says how to go on when a phone has too many payments', async () => {
    const phone = '+254722000222';
    const model = await newCollection(admin.database, merchant, { payfrom: phone });
    await rows(
      admin.database,
      `INSERT INTO collections SELECT (json_populate_record(c, json_build_object('id',
         gen_random_uuid(), 'reference', gen_random_uuid(), 'ref_no', 'many-' || n))).*
       FROM collections c, generate_series(1, 100) AS n WHERE c.id = :id`,
      { id: model.id },
    );
    const found = await admin.json('payment show 0722000222');
    expect([idsIn(found).length, found.more]).to.deep.equal([100, true]);
    const after = idsIn(found).at(-1);
    const text = await admin.text('payment show 0722000222');
    const line = `Older ones of this phone: payment list --phone ${phone} --after ${after}\n`;
    expect(text.endsWith(line), text.slice(-300)).to.equal(true);
    const rest = await admin.json(`payment list --phone ${phone} --after ${after}`);
    expect(idsIn(rest)).to.have.length(1);
  });

  it('finds a return by its id, its reference at the gateway and its receipt', async () => {
    const payment = await newReturn(admin.database, merchant);
    await hear(scene(), payment, succeeded({ transId: 'BACK77' }));
    for (const what of [payment.id, payment.reference, 'BACK77']) {
      expect(await shown(what)).to.equal(payment.id);
    }
  });

  it('lists several, which a merchant or a kind narrows', async () => {
    const other = await newMerchant();
    const theirs = await newCollection(admin.database, other, { ref_no: 'same' });
    const ours = await newCollection(admin.database, merchant, { ref_no: 'same' });
    const payout = await newPayout(admin.database, merchant, { ref_no: 'same' });
    const all = await admin.json('payment show same');
    expect(idsIn(all)).to.deep.equal([payout.id, ours.id, theirs.id]);
    expect(all.more).to.equal(false);
    expect((all.payments as Document[])[0]).to.include({
      kind: 'payout',
      merchant_id: merchant.merchant_id,
      ref_no: 'same',
      status: 'pending',
      amount: '100.00',
      account: '+254712345678',
    });
    expect(await admin.text('payment show same')).to.match(
      /^It may be one of 3 payments; say which with --merchant, --kind or its id:\nKIND +MERCHANT/,
    );
    expect(await shown(`same --merchant ${other.merchant_id}`)).to.equal(theirs.id);
    expect(await shown(`same --kind payout`)).to.equal(payout.id);
  });

  it('says that a payout waits because its merchant is suspended or its payouts are held', async () => {
    const held = await newMerchant();
    const payout = await newPayout(admin.database, held);
    for (const [brake, release, words] of [
      ['hold-payouts', 'release-payouts', 'the payouts of its merchant are held'],
      ['suspend', 'activate', 'its merchant is suspended'],
    ]) {
      const braked = await admin.changeJson(`merchant ${brake} --merchant ${held.merchant_id}`);
      expect(braked.payouts).to.deep.equal({ waiting: 1, maybe_sent: 0 });
      expect(await admin.text(`payment show ${payout.id}`)).to.match(
        new RegExp(`is pending; next: submit at .* EAT, but ${words}\n`),
      );
      expect((await admin.json(`payment show ${payout.id}`)).payment).to.include({ hold: words });
      await admin.change(`merchant ${release} --merchant ${held.merchant_id}`);
    }
    expect((await admin.json(`payment show ${payout.id}`)).payment).to.include({ hold: null });
  });

  it('says in one line that there is none', async () => {
    await admin.refused([
      ['payment show nothing', 'No payment is known by "nothing"'],
      [`payment show ${NOBODY}`, `No payment is known by "${NOBODY}"`],
      ['payment show order-1 --merchant 999', 'No payment is known by "order-1"'],
    ]);
  });

  it('shows everything about it', async () => {
    const collection = await newCollection(admin.database, merchant, {
      ref_no: 'whole',
      callback_url: 'https://shop.example/hook?key=hush',
    });
    await hear(scene(), collection, SUCCESS, succeeded({ transId: 'RCPT2' }));
    const reversal = await createReversal(admin.database, reversalRequest(collection));
    await prepareDeliveries(admin.database, 0);
    await keepCallback(admin.database, 'simulator', refOf(collection), '{"status":\n"fine"}');
    const file = (await admin.json('payment show whole --kind collection')) as Record<
      string,
      never
    >;
    expect(file.payment).to.include({
      kind: 'collection',
      status: 'completed',
      amount: '100.00',
      commission: '1.50',
      trans_id: receiptOf(collection),
      callback_url: 'https://shop.example/hook?…',
      overdue: false,
    });
    const column = (of: Document[], name: string) => of.map((row) => row[name]);
    expect(column(file.history!, 'to_status')).to.deep.equal(['pending', 'completed']);
    expect(column(file.movements!, 'booked')).to.deep.equal(['settled', 'suspense']);
    expect(column(file.journals!, 'kind')).to.deep.equal(['completed', 'suspense']);
    expect((file.journals![0] as Document).entries).to.deep.equal([
      { account: 'gateway_float', amount: '-100.00' },
      { account: 'commission', amount: '1.50' },
      { account: 'wallet:collection', amount: '98.50' },
    ]);
    expect(column(file.events!, 'type')).to.deep.equal(['transaction.completed']);
    expect(column(file.events!, 'status')).to.deep.equal(['pending']);
    expect(column(file.callbacks!, 'body')).to.deep.equal(['{"status": "fine"}']);
    expect(file.discrepancies![0]).to.include({ kind: 'second_success', suspense: '100.00' });
    expect((file.discrepancies![0] as Document).allowed).to.deep.equal(['returned']);
    expect(column(file.related!, 'id')).to.deep.equal([reversal.id]);
    const back = (await admin.json(`payment show ${reversal.id}`)) as Record<string, Document[]>;
    expect(column(back.related!, 'id')).to.deep.equal([collection.id]);
    const text = await admin.text(`payment show ${collection.id}`);
    expect(text)
      .to.match(/^collection \S+ of merchant \d+ is completed\n/)
      .and.match(/^ {2}amount +100\.00$/m)
      .and.match(/^ {2}discrepancy resolve \S+ --as returned --reason …$/m);
  });

  it('shows what a payment waits for, and whether it is late', async () => {
    const collection = await makeOverdue(scene(), await newCollection(admin.database, merchant));
    const file = (await admin.json(`payment show ${collection.id}`)) as Record<string, Document[]>;
    expect(file.payment).to.include({ overdue: true, next_step: 'poll' });
    expect(file.attempts![0]).to.include({ attempt_no: 1, result: 'unknown', detail: 'timeout' });
    expect(await admin.text(`payment show ${collection.id}`)).to.match(
      /is pending, overdue; next: poll at \d{4}-/,
    );
  });

  it('shows a failed payout with its reason, and that its merchant sees it as processing until the refund', async () => {
    const payout = await newPayout(admin.database, merchant);
    await hear(scene(), payout, FAILURE);
    const show = async () =>
      (await admin.json(`payment show ${payout.id}`)) as Record<string, Document>;
    expect((await show()).payment).to.include({
      status: 'failed',
      shown_status: 'processing',
      result_description: 'Cancelled',
    });
    expect(await admin.text(`payment show ${payout.id}`)).to.match(
      /is failed, shown as processing; next: refund at \d{4}-/,
    );
    const { step_no } = await reread(admin.database, payout);
    await refundPayout(admin.database, refOf(payout), step_no, { parserOf });
    expect((await show()).payment).to.include({ status: 'failed', shown_status: 'failed' });
    expect(await admin.text(`payment show ${payout.id}`)).to.match(/ is failed\n/);
  });

  it('shows neither what proves a callback address nor control characters', async () => {
    const collection = await newCollection(admin.database, merchant);
    const ref = refOf(collection);
    const address = callbackUrl('https://pay.example', config.secretsKeys, 'simulator', ref);
    const proof = address.split('~').at(-1)!;
    await keepCallback(admin.database, 'simulator', ref, `${address} \u001b[2J ${'x'.repeat(900)}`);
    for (const command of [`payment show ${ref.id}`, `payment show ${ref.id} --json`]) {
      const output = await admin.text(command);
      expect(output).to.include('~…').and.not.include(proof);
      expect(output).not.to.include('\u001b').and.not.include('x'.repeat(600));
    }
  });

  it('lists what needs support, oldest first', async () => {
    const parked = await neverTake(scene(), await newCollection(admin.database, merchant));
    const overdue = await makeOverdue(scene(), await newPayout(admin.database, merchant));
    await newCollection(admin.database, merchant);
    await hear(scene(), await newCollection(admin.database, merchant), FAILURE);
    const half = await newPayout(admin.database, merchant);
    await hear(scene(), half, succeeded({ amountCents: 5_000 }));
    const list = async (options: string) =>
      idsIn(await admin.json(`payment list --merchant ${merchant.merchant_id} ${options}`));
    const all = [parked.id, overdue.id, half.id];
    expect(idsIn(await admin.json('payment list --limit 500'))).to.include.members(all);
    expect(await list('--parked')).to.deep.equal([parked.id, half.id]);
    expect(await list('--overdue')).to.deep.equal([parked.id, overdue.id]);
    expect(await list('--overdue --parked')).to.deep.equal(all);
    const both = '--parked --overdue';
    expect(await list(`${both} --kind payout`)).to.deep.equal([overdue.id, half.id]);
    expect(await list(`${both} --limit 1`)).to.deep.equal([parked.id]);
    expect(await list(`${both} --limit 1 --after ${parked.id}`)).to.deep.equal([overdue.id]);
    expect(await list(`${both} --kind return`)).to.deep.equal([]);
    expect(await list(`${both} --kind return --app 5001`)).to.deep.equal([]);
    expect(await list('--parked --app 999999')).to.deep.equal([]);
    expect(await list(`--overdue --amount 100 --channel m-pesa --kind payout`)).to.deep.equal([
      overdue.id,
    ]);
    const other = await newMerchant();
    expect(await admin.text(`payment list --parked --merchant ${other.merchant_id}`)).to.equal(
      'No payments\n',
    );
    expect(await admin.text(`payment list --parked --merchant ${merchant.merchant_id}`))
      .to.match(/ parked: overdue: the gateway has not taken it; overdue since \d/)
      .and.match(/ parked: discrepancy: other_amount$/m);
  });
});
