import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { firstRow } from '../../src/connections/database.ts';
import { HOUR_MS } from '../../src/time.ts';
import { runAdmin } from '../support/admin-runs.ts';
import type { TestMember } from '../support/console.ts';
import { rewrite } from '../support/database.ts';
import { makeFolder } from '../support/make-folder.ts';
import { SO_FAR } from '../support/so-far.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { otpOf, wrongOtpOf } from '../support/totp.ts';
import { type Doors, openDoors, REASON } from './doors.ts';

const PASSWORD = 'seven purple lanterns drift';

describe('Access that others have given', () => {
  let doors: Doors;

  beforeEach(async () => {
    doors = await openDoors();
    await rewrite(database(), "UPDATE staff SET created_at = created_at - interval '200 days'", {});
  });

  afterEach(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  /** Each one-time password may be used again: the tests are faster than the clock. */
  async function runWith(
    token: string,
    args: string[],
    otp: string | null = null,
    as = ['--json'],
  ) {
    await rewrite(database(), 'UPDATE staff_totp_secrets SET last_step = 0', {});
    const given = otp ? ['--otp', otp] : [];
    return runAdmin([...args, ...given, '--reason', REASON, ...as], {
      input: '',
      env: { DATABASE_URL: doors.test.testDatabase.url, MALIPO_STAFF_TOKEN: token },
    });
  }
  const withOtp = (member: TestMember, args: string[]) =>
    runWith(member.token, args, otpOf(member.secret!));

  it('ends, when the member replaces the token, with all that may have been begun with it', async () => {
    const { admin, test } = doors;
    const other = await doors.newAdmin();
    const email = 'job@x.example';
    const create = ['staff', 'create', 'Night job', '--email', email, '--role', 'admin'];
    const { token, approval } = JSON.parse((await withOtp(admin, create)).stdout);
    await withOtp(other, ['approval', 'approve', approval]);
    // Whoever has asked has seen the token.
    const browser = test.client();
    await browser.get('/password');
    await browser.post('/password', { email, token, password: PASSWORD, again: PASSWORD });
    expect((await runWith(token, ['staff', 'begin-totp'])).status).to.equal(0);
    const kept = () =>
      firstRow<object>(
        database(),
        `SELECT password_hash IS NOT NULL AS password, EXISTS (SELECT FROM staff_totp_secrets
           WHERE staff_id = staff.id) AS secret, session_no FROM staff WHERE email = :email`,
        { email },
      );
    const before = await kept();
    expect(before).to.include({ password: true, secret: true });
    const own = JSON.parse((await runWith(token, ['staff', 'new-token'])).stdout);
    expect(await kept()).to.include({ password: false, secret: false });
    expect(await kept()).to.not.include({
      session_no: (before as { session_no: number }).session_no,
    });
    // Nor does a token that the giver has renewed as the member, and handed over in its place.
    await browser.get('/password');
    const again = { email, token: own.token, password: PASSWORD, again: PASSWORD };
    await browser.post('/password', again);
    const renewed = await runWith(own.token, ['staff', 'new-token'], null, []);
    expect(renewed.stdout).to.include('the password of the console has ended');
    expect(await kept()).to.include({ password: false });
  });

  for (const [times, days] of [
    [1, 31],
    [2, 31],
    [1, 91],
  ] as const) {
    it(`is given still after ${days} days, if its token was renewed ${times} times without a one-time password`, async () => {
      const { admin, test } = doors;
      const other = await doors.newAdmin();
      const create = ['staff', 'create', 'Xena', '--email', 'xena@x.example', '--role', 'admin'];
      const made = JSON.parse((await withOtp(admin, create)).stdout);
      await withOtp(other, ['approval', 'approve', made.approval]);
      let { token } = made;
      for (let time = 0; time < times; time += 1) {
        token = JSON.parse((await runWith(token, ['staff', 'new-token'])).stdout).token;
      }
      const age = `interval '${days} days'`;
      await rewrite(database(), `UPDATE staff SET created_at = created_at - 2 * ${age}`, {});
      await rewrite(database(), `UPDATE audit_log SET happened_at = happened_at - ${age}`, {});
      const { merchant_id } = await createTestMerchant(test.service);
      const topUp = ['wallet', 'topup', '--merchant', String(merchant_id), '--amount', '5000'];
      const asked = JSON.parse((await runWith(token, [...topUp, '--reference', 'X1'])).stdout);
      const alone = await withOtp(admin, ['approval', 'approve', asked.approval]);
      expect(alone.stderr).to.include('are not two people here');
    });
  }

  it('lets nobody be guessed at without end: failures are forgotten three times a day', async () => {
    const other = await doors.newAdmin();
    const guess = () =>
      runWith(other.token, ['staff', 'deactivate', doors.viewer.email], wrongOtpOf(other.secret!));
    const letIn = () => withOtp(doors.admin, ['staff', 'update', other.email, '--forget-failures']);
    for (let time = 0; time < 3; time += 1) {
      await guess();
      expect((await letIn()).stderr).to.equal('');
    }
    await guess();
    expect((await letIn()).stderr).to.include('were forgotten 3 times within a day');
  });

  it('leaves nobody alone: one of those who gave it agrees, but not about money', async () => {
    const { admin, test } = doors;
    const [bob, carol] = [await doors.newAdmin(), await doors.newAdmin()];
    await rewrite(database(), "UPDATE staff SET created_at = created_at - interval '200 days'", {});
    const { approval } = JSON.parse(
      (await withOtp(bob, ['staff', 'reset-totp', admin.email])).stdout,
    );
    await withOtp(carol, ['approval', 'approve', approval]);
    const { merchant_id } = await createTestMerchant(test.service);
    const of = ['--merchant', String(merchant_id)];
    const asked = async (args: string[]) => JSON.parse((await runWith(admin.token, args)).stdout);
    const user = ['user', 'create', ...of, '--email', 'asha@x.example', '--role', 'Admin'];
    const access = await asked(user);
    expect(access).to.include({ booked: false });
    const agreed = await withOtp(carol, ['approval', 'approve', access.approval]);
    expect(agreed.stderr).to.equal('');
    const renew = await asked(['staff', 'reset-totp', bob.email]);
    const kept = await withOtp(carol, ['approval', 'approve', renew.approval]);
    expect(kept.stderr).to.include('are not two people here');
    const money = await asked(['wallet', 'topup', ...of, '--amount', '5000', '--reference', 'X1']);
    const refused = await withOtp(carol, ['approval', 'approve', money.approval]);
    expect(refused.stderr).to.include('are not two people here');
  });

  it('keeps nobody from shutting out the one who has asked for it', async () => {
    const { admin } = doors;
    const [bob, carol] = [await doors.newAdmin(), await doors.newAdmin()];
    await rewrite(database(), "UPDATE staff SET created_at = created_at - interval '200 days'", {});
    const given = JSON.parse((await withOtp(admin, ['staff', 'new-token', bob.email])).stdout);
    await withOtp(carol, ['approval', 'approve', given.approval]);
    const { token } = JSON.parse(
      (await runWith(given.token, ['staff', 'new-token'], otpOf(bob.secret!))).stdout,
    );
    const out = await runWith(token, ['staff', 'deactivate', admin.email], otpOf(bob.secret!));
    const agreed = await withOtp(carol, ['approval', 'approve', JSON.parse(out.stdout).approval]);
    expect(agreed.stderr).to.equal('');
    const late = await runWith(admin.token, ['staff', 'list']);
    expect(late.stderr).to.not.equal('');
  });

  it('makes nobody the second person of a request about oneself', async () => {
    const dave = doors.admin;
    const [bob, carol, erin] = [
      await doors.newAdmin(),
      await doors.newAdmin(),
      await doors.newAdmin(),
    ];
    await rewrite(database(), "UPDATE staff SET created_at = created_at - interval '200 days'", {});
    const given = JSON.parse((await withOtp(erin, ['staff', 'new-token', bob.email])).stdout);
    await withOtp(carol, ['approval', 'approve', given.approval]);
    const { token } = JSON.parse(
      (await runWith(given.token, ['staff', 'new-token'], otpOf(bob.secret!))).stdout,
    );
    const leave = JSON.parse((await withOtp(carol, ['staff', 'deactivate', erin.email])).stdout);
    expect((await withOtp(dave, ['approval', 'approve', leave.approval])).stderr).to.equal('');
    // Dave is the only other admin now, and may not decide about himself.
    const out = await runWith(token, ['staff', 'deactivate', dave.email], otpOf(bob.secret!));
    const agreed = await withOtp(carol, ['approval', 'approve', JSON.parse(out.stdout).approval]);
    expect(agreed.stderr).to.equal('');
  });

  it('is given anew to nobody who was an admin without a second one', async () => {
    const dave = doors.admin;
    const [bob, ghost] = [await doors.newAdmin(), await doors.newAdmin()];
    await rewrite(database(), "UPDATE staff SET created_at = created_at - interval '200 days'", {});
    const leave = JSON.parse((await withOtp(bob, ['staff', 'deactivate', ghost.email])).stdout);
    await withOtp(dave, ['approval', 'approve', leave.approval]);
    const wake = await withOtp(dave, ['staff', 'update', ghost.email, '--reactivate']);
    // With two admins, each may shut the other one out. A third one without a token would hinder that.
    expect((await withOtp(bob, ['staff', 'deactivate', dave.email])).stderr).to.equal('');
    expect(JSON.parse(wake.stdout)).to.include({ booked: false });
    expect((await runWith(dave.token, ['staff', 'list'])).stderr).to.not.equal('');
  });

  it('is given anew to an admin when another admin has agreed', async () => {
    const [bob, ghost] = [await doors.newAdmin(), await doors.newAdmin()];
    const leave = JSON.parse((await withOtp(bob, ['staff', 'deactivate', ghost.email])).stdout);
    await withOtp(doors.admin, ['approval', 'approve', leave.approval]);
    const wake = await withOtp(doors.admin, ['staff', 'update', ghost.email, '--reactivate']);
    const { approval } = JSON.parse(wake.stdout);
    expect((await withOtp(bob, ['approval', 'approve', approval])).stderr).to.equal('');
    const found = await firstRow<object>(
      database(),
      'SELECT active, role FROM staff WHERE email = :email',
      { email: ghost.email },
    );
    expect(found).to.deep.equal({ active: true, role: 'admin' });
  });

  it('lets nobody ask with a given token, and agree as the one who has seen it', async () => {
    const { admin, test } = doors;
    const carol = await doors.newAdmin();
    const bob = await doors.newAdmin();
    await rewrite(database(), "UPDATE staff SET created_at = created_at - interval '200 days'", {});
    const given = JSON.parse((await withOtp(admin, ['staff', 'new-token', bob.email])).stdout);
    await withOtp(carol, ['approval', 'approve', given.approval]);
    const { merchant_id } = await createTestMerchant(test.service);
    const of = ['--merchant', String(merchant_id)];
    const user = ['user', 'create', ...of, '--email', 'asha@x.example', '--role', 'Admin'];
    const { approval } = JSON.parse((await runWith(given.token, user)).stdout);
    const alone = await withOtp(admin, ['approval', 'approve', approval]);
    expect(alone.stderr).to.include('are not two people here');
    const agreed = await withOtp(carol, ['approval', 'approve', approval]);
    expect(agreed.stderr).to.equal('');
  });

  it('approves nothing by one-time passwords that are new', async () => {
    const held = await openDoors({
      NEW_ACCESS_HOLD_MS: String(12 * HOUR_MS),
      CHANNELS: '63902=simulator',
    });
    try {
      const kept = held.test.testDatabase.database;
      await rewrite(kept, "UPDATE staff SET created_at = created_at - interval '200 days'", {});
      const { merchant_id } = await createTestMerchant(held.test.service);
      const top = ['wallet', 'topup', '--merchant', String(merchant_id), '--amount', '9000000'];
      const asked = await held.run([...top, '--reference', 'X1', '--json'], held.admin);
      const other = await held.newAdmin();
      const { approval } = JSON.parse(asked.stdout);
      const approve = async () => {
        await rewrite(kept, 'UPDATE staff_totp_secrets SET last_step = 0', {});
        return held.run(['approval', 'approve', approval, '--otp', otpOf(other.secret!)], other);
      };
      expect((await approve()).stderr).to.include('are new: they approve nothing for 12 h');
      // To compare what another member has brought is to approve it.
      const path = join(makeFolder('statements'), 'statement.csv');
      writeFileSync(
        path,
        'reference,trans_id,amount,completed_at\n,A1,50.00,2026-11-20T10:00:00Z\n',
      );
      const days = ['--from', SO_FAR.from, '--to', SO_FAR.to, '--utc-offset', '+03:00'];
      const file = ['--channel', '63902', '--file', path, '--kind', 'payout', ...days, '--json'];
      const brought = await held.run(['reconcile', 'check', ...file], held.admin);
      await rewrite(kept, 'UPDATE staff_totp_secrets SET last_step = 0', {});
      const compare = ['reconcile', 'compare', JSON.parse(brought.stdout).id];
      const compared = await held.run([...compare, '--otp', otpOf(other.secret!)], other);
      expect(compared.stderr).to.include('are new: they approve nothing for 12 h');
      await rewrite(
        kept,
        "UPDATE staff_totp_secrets SET created_at = now() - interval '13 hours'",
        {},
      );
      expect((await approve()).stderr).to.equal('');
      // Nor is a file compared of a member who has lost access since.
      const colleague = await held.newAdmin();
      await rewrite(
        kept,
        "UPDATE staff_totp_secrets SET created_at = now() - interval '13 hours'",
        {},
      );
      const { id } = JSON.parse(
        (await held.run(['reconcile', 'check', ...file], colleague)).stdout,
      );
      await rewrite(kept, 'UPDATE staff SET active = false WHERE email = :email', colleague);
      await rewrite(kept, 'UPDATE staff_totp_secrets SET last_step = 0', {});
      const agreeing = ['reconcile', 'compare', id, '--otp', otpOf(other.secret!)];
      expect((await held.run(agreeing, other)).stderr).to.include('may not do this any more');
    } finally {
      await held.close();
    }
  });
});
