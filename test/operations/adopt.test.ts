import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { refOf } from '../../src/domain/payments/payment-store.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { casesOf } from '../../src/domain/support/discrepancy-cases.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';
import { learn, newCollection, succeeded } from '../support/payments.ts';
import { newReceipt } from '../support/statements.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import {
  type DoorCase,
  type Doors,
  expectRefusedAtBothDoors,
  expectSameAtBothDoors,
  nextOtp,
  openDoors,
  REASON,
} from './doors.ts';

interface Forgotten {
  merchant_id: number;
  receipts: string[];
}

describe('The adoption of forgotten money', () => {
  let doors: Doors;

  before(async () => {
    doors = await openDoors();
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  /** A merchant, and two collections of which only the gateway knows. */
  async function forgotten(amount_cents = 10_000, by = 'statement'): Promise<Forgotten> {
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const receipts = [newReceipt(), newReceipt()];
    for (const trans_id of receipts) {
      const details = { kind: 'collection', reference: randomUUID(), account: '+254712345678' };
      await inTransaction(database(), (trx) =>
        openDiscrepancy(trx, {
          ...{ kind: 'unknown_movement', gateway: 'simulator', payment: null, trans_id, details },
          amount_cents,
          told: { by, at: null },
        }),
      );
    }
    return { merchant_id, receipts };
  }

  const CASE: DoorCase<Forgotten> = {
    name: 'discrepancy.adopt',
    make: forgotten,
    role: 'admin',
    command: ({ merchant_id, receipts }) => [
      ...['discrepancy', 'adopt', '--merchant', String(merchant_id)],
      ...['--receipts', receipts.join(',')],
    ],
    page: ({ merchant_id }) => `/merchants/${merchant_id}/adopt`,
    form: ({ receipts }) => ({ receipts: receipts.join(',') }),
    effect: async ({ merchant_id }) => ({
      requests: await rows(
        database(),
        `SELECT action, subject, amount_cents, payload, preview, decision FROM approvals
         WHERE merchant_id = :merchant_id`,
        { merchant_id },
      ),
      balances: await walletBalances(database(), merchant_id),
    }),
    names: ({ merchant_id, receipts: [first, second] }) => ({
      MERCHANT: String(merchant_id),
      FIRST: first!,
      SECOND: second!,
    }),
    becomes: { balances: { collection: 0, payout: 0 } },
  };

  it('waits for a second person at both doors', () => expectSameAtBothDoors(doors, CASE));

  it('refuses a lower role, and a change without a reason', () =>
    expectRefusedAtBothDoors(doors, CASE));

  it('says that nothing but a file has told of the money', async () => {
    const { merchant_id, receipts } = await forgotten(10_000, 'file');
    const asked = await doors.run(
      [...CASE.command({ merchant_id, receipts }), '--json'],
      await doors.newAdmin(),
    );
    expect(JSON.parse(asked.stdout).preview[1]).to.include(
      'commission 1.50. Only a file has told it: look for it in the portal.',
    );
  });

  it('shows each line before, and is booked by the approval of another person', async () => {
    const found = await forgotten();
    const first = await doors.newAdmin();
    const asked = await doors.run(
      [...CASE.command({ ...found, receipts: [...found.receipts, 'MISSING'] }), '--json'],
      first,
    );
    const { approval, preview } = JSON.parse(asked.stdout);
    expect(preview).to.deep.equal([
      `2 movements of KES 200.00 come to the books of merchant ${found.merchant_id}.`,
      ...found.receipts.map(
        (receipt) => `${receipt} at simulator: collection of 100.00, commission 1.50.`,
      ),
      'In all, the collection wallet changes by KES 197.00.',
      'The merchant must not send these payments again.',
      'Not adopted: MISSING: no open unknown movement has it.',
    ]);
    const own = await doors.run(['approval', 'approve', approval, '--otp', nextOtp(first)], first);
    expect(own.stderr).to.include('somebody else must decide');
    const second = await doors.newAdmin();
    const done = await doors.run(
      ['approval', 'approve', approval, '--otp', nextOtp(second)],
      second,
    );
    expect([done.status, done.stderr]).to.deep.equal([0, '']);
    expect((await walletBalances(database(), found.merchant_id)).collection).to.equal(19_700);
    const [line] = await rows<Record<string, unknown>>(
      database(),
      `SELECT actor, reason, subject, details FROM audit_log
       WHERE action = 'discrepancy.adopt' AND merchant_id = :merchant_id AND reason IS NOT NULL`,
      found,
    );
    expect(line).to.deep.include({
      actor: first.email,
      reason: REASON,
      subject: `merchant ${found.merchant_id}`,
    });
    expect(line!.details).to.deep.include({
      adopted: found.receipts.map((receipt) => {
        return { receipt, kind: 'collection', amount: '100.00', cost: '1.50' };
      }),
      approved_by: second.email,
    });
  });

  it('is taken back by two people, however little the payment that claims it is', async () => {
    const { service } = doors.test;
    const merchant = await createTestMerchant(service);
    const { receipts } = await forgotten(20_000);
    const { merchant_id } = merchant;
    const plan = await planAdoption(database(), { merchant_id, receipts }, service.config);
    const by = { requested_by: doors.admin.email, reason: REASON };
    await inTransaction(database(), (trx) => adoptAsAsked(trx, plan, by, service.config));
    const collection = await newCollection(database(), merchant);
    const news = succeeded({ transId: receipts[0]!, externalRef: null });
    await learn(database(), collection, news, 'poll');
    const [question] = await casesOf(database(), refOf(collection));
    expect(question).to.include({ kind: 'receipt_of_another', adopted_cents: 20_000 });
    const asked = await doors.run(
      ['discrepancy', 'resolve', question!.id, '--as', 'undo', '--json'],
      await doors.newAdmin(),
    );
    expect(JSON.parse(asked.stdout)).to.have.property('approval');
    const [approval] = await rows<{ amount_cents: number }>(
      database(),
      'SELECT amount_cents FROM approvals WHERE merchant_id = :merchant_id',
      { merchant_id },
    );
    expect(approval!.amount_cents, 'the money of the adoption').to.equal(20_000);
    expect((await casesOf(database(), refOf(collection)))[0]!.resolved_at).to.equal(null);
  });

  it('begins in the list of discrepancies, with what was selected', async () => {
    const { merchant_id, receipts } = await forgotten();
    const browser = await doors.browserOf(doors.admin);
    const list = await browser.get('/discrepancies?kind=unknown_movement');
    expect(list.text).to.include('action="/adoption"');
    for (const receipt of receipts) expect(list.text).to.include(`name="receipt ${receipt}"`);
    const boxes = receipts.map((receipt) => `receipt%20${receipt}=on`).join('&');
    const chosen = await browser.get(`/adoption?merchant=${merchant_id}&${boxes}`);
    expect(chosen.location).to.equal(
      `/merchants/${merchant_id}/adopt?receipts=${receipts.join('%2C')}`,
    );
    const form = await browser.get(chosen.location!);
    expect(form.text).to.include('2 movements of KES 200.00').and.include('Ask for approval');
    expect((await browser.get('/adoption?merchant=1')).status).to.equal(422);
    const viewer = await doors.browserOf(doors.viewer);
    expect((await viewer.get('/discrepancies?kind=unknown_movement')).text).to.not.include(
      'Adopt the selected',
    );
  });
});
