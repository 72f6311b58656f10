import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hasRow, inTransaction, rows, type Transaction } from '../../src/connections/database.ts';
import { openDiscrepancy } from '../../src/domain/discrepancies/discrepancy.ts';
import { changeUser, createUser } from '../../src/domain/merchants/user.ts';
import { takeBackAdoption } from '../../src/domain/settlement/adoptions.ts';
import { changeRoleAsAsked } from '../../src/domain/staff/replace-access.ts';
import { adoptAsAsked, planAdoption } from '../../src/domain/support/adopt-movements.ts';
import { eventually } from '../support/eventually.ts';
import { newReceipt } from '../support/statements.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { type Doors, nextOtp, openDoors, REASON } from './doors.ts';

describe('What one person may do alone', () => {
  let doors: Doors;

  beforeEach(async () => {
    doors = await openDoors();
  });

  afterEach(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  /** Runs a command of an admin that waits for a change which ends only then. */
  const during = (change: (trx: Transaction) => Promise<unknown>, args: string[]) =>
    whileChanging(change, () => doors.run([...args, '--json'], doors.admin));

  async function whileChanging<Answer>(
    change: (trx: Transaction) => Promise<unknown>,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const asked = await inTransaction(database(), async (trx) => {
      await change(trx);
      let isAnswered = false;
      const running = ask().finally(() => {
        isAnswered = true;
      });
      const isWaiting = () =>
        hasRow(
          database(),
          `SELECT FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
      await eventually('it waits, or is answered', async () => isAnswered || isWaiting());
      return { running };
    });
    return asked.running;
  }

  it('is not to let a user in again whom somebody shuts out meanwhile', async () => {
    await doors.newAdmin();
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const email = 'asha@x.example';
    await createUser(database(), merchant_id, {
      email,
      password: 'correct horse battery',
      role: 'Admin',
    });
    const { stderr } = await during(
      (trx) => changeUser(trx, { email }, { active: false }, { holdMs: 0 }),
      ['user', 'update', email, '--reactivate'],
    );
    expect(stderr).to.include('has changed since you looked at it');
    const [user] = await rows(database(), 'SELECT active FROM users WHERE email = :email', {
      email,
    });
    expect(user).to.deep.equal({ active: false });
  });

  it('is not to let a user in again by a form from when the user was shut out before', async () => {
    await doors.newAdmin();
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const email = 'asha@x.example';
    const id = await createUser(database(), merchant_id, {
      email,
      password: 'correct horse battery',
      role: 'Admin',
    });
    const set = (active: boolean) => (trx: Transaction) =>
      changeUser(trx, { email }, { active }, { holdMs: 0 });
    await inTransaction(database(), set(false));
    const path = `/merchants/${merchant_id}/users/${id}/change/reactivate`;
    const browser = await doors.browserOf(doors.admin);
    const version = /name="version" value="([^"]+)"/.exec((await browser.get(path)).text)![1]!;
    await inTransaction(database(), set(true));
    const answer = await whileChanging(set(false), () =>
      browser.post(path, { version, reason: REASON }),
    );
    expect(answer.status).to.equal(422);
    expect(answer.text).to.include('Nothing was changed');
    const [user] = await rows(database(), 'SELECT active FROM users WHERE email = :email', {
      email,
    });
    expect(user).to.deep.equal({ active: false });
  });

  it('is not to leave a member a role that two people take away meanwhile', async () => {
    await doors.newAdmin();
    const { email } = await doors.newAdmin();
    const { stderr } = await during(
      (trx) => {
        const was = { role: 'admin', active: true } as const;
        return changeRoleAsAsked(trx, { email, role: 'viewer', was });
      },
      ['staff', 'update', email, '--role', 'admin', '--otp', nextOtp(doors.admin)],
    );
    expect(stderr).to.include('has changed since you looked at it');
    const [member] = await rows(database(), 'SELECT role FROM staff WHERE email = :email', {
      email,
    });
    expect(member).to.deep.equal({ role: 'viewer' });
  });

  it('is not to book what was booked with two people, once that is taken back', async () => {
    const { config } = doors.test.service;
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const receipt = newReceipt();
    const details = { kind: 'collection', reference: randomUUID(), account: '+254712345678' };
    const unknown = { kind: 'unknown_movement', gateway: 'simulator', payment: null } as const;
    await inTransaction(database(), (trx) =>
      openDiscrepancy(trx, { ...unknown, trans_id: receipt, amount_cents: 20_000, details }),
    );
    const plan = await planAdoption(database(), { merchant_id, receipts: [receipt] }, config);
    const by = { requested_by: doors.admin.email, reason: REASON };
    await inTransaction(database(), (trx) => adoptAsAsked(trx, plan, by, config));
    const [adoption] = await rows<{ id: string }>(
      database(),
      'SELECT id FROM adoptions WHERE merchant_id = :merchant_id',
      { merchant_id },
    );
    const of = ['--merchant', String(merchant_id), '--reference', receipt];
    const { stderr } = await during(
      async (trx) => {
        await rows(trx, 'SELECT FROM merchants WHERE id = :merchant_id FOR NO KEY UPDATE', {
          merchant_id,
        });
        await takeBackAdoption(trx, { merchant_id, id: adoption!.id }, 'Two people agree');
      },
      ['wallet', 'adjust', '--wallet', 'collection', '--amount', '197.00', ...of],
    );
    expect(stderr).to.include('was taken back a moment ago');
    const [wallet] = await rows(
      database(),
      `SELECT balance_cents FROM wallets WHERE merchant_id = :merchant_id AND kind = 'collection'`,
      { merchant_id },
    );
    expect(wallet).to.deep.equal({ balance_cents: 0 });
  });
});
