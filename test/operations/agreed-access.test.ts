import { expect } from 'chai';
import { firstRow, rows } from '../../src/connections/database.ts';
import { HOUR_MS } from '../../src/time.ts';
import { runAdmin } from '../support/admin-runs.ts';
import { rewrite } from '../support/database.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { otpOf } from '../support/totp.ts';
import { type Doors, openDoors, REASON } from './doors.ts';

interface Person {
  email: string;
  token: string;
  secret: string | null;
}

describe('Access that others have agreed to', () => {
  let doors: Doors;

  beforeEach(async () => {
    doors = await openDoors({ NEW_ACCESS_HOLD_MS: '0' });
  });

  afterEach(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  /** Each one-time password may be used again: the tests are faster than the clock. */
  async function run({ token, secret }: Omit<Person, 'email'>, args: string[], env = {}) {
    await rewrite(database(), 'UPDATE staff_totp_secrets SET last_step = 0', {});
    const otp = secret ? ['--otp', otpOf(secret)] : [];
    return runAdmin([...args, ...otp, '--reason', REASON, '--json'], {
      input: '',
      env: { DATABASE_URL: doors.test.testDatabase.url, MALIPO_STAFF_TOKEN: token, ...env },
    });
  }
  const asked = async (person: Person, args: string[], isWithOtp = true) =>
    JSON.parse((await run(isWithOtp ? person : { ...person, secret: null }, args)).stdout);
  const agree = (person: Person, approval: string) =>
    run(person, ['approval', 'approve', approval]);
  const passDays = (days: number) =>
    rewrite(
      database(),
      "UPDATE staff SET created_at = created_at - :days * 86400 * interval '1 second'",
      { days },
    );
  const stateOf = (email: string) =>
    firstRow<object>(database(), 'SELECT active, role FROM staff WHERE email = :email', { email });

  /** Makes an admin who does all that the handbook says. */
  async function newAdminBy(maker: Person, name: string, agreeing?: Person): Promise<Person> {
    const email = `${name}@y.example`;
    const made = await asked(maker, ['staff', 'create', name, '--email', email, '--role', 'admin']);
    if (agreeing) expect((await agree(agreeing, made.approval)).stderr).to.equal('');
    const given = { email, token: made.token, secret: null };
    const { token } = await asked(given, ['staff', 'new-token']);
    const own = { ...given, token };
    const { secret } = await asked(own, ['staff', 'begin-totp']);
    const confirmed = await run(own, ['staff', 'confirm-totp', otpOf(secret)]);
    expect(confirmed.stderr).to.equal('');
    return { email, token, secret };
  }

  it('leaves nobody who has agreed to it alone, whatever one does to a member who has left', async () => {
    const mallory = doors.admin;
    const dave = await doors.newAdmin();
    await passDays(200);
    const bob = await newAdminBy(dave, 'bob', mallory);
    const carol = await newAdminBy(dave, 'carol', mallory);
    expect((await run(dave, ['staff', 'deactivate', dave.email])).stderr).to.equal('');
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const user = ['--merchant', String(merchant_id), '--email', 'asha@shop.example'];
    const access = await asked(mallory, ['user', 'create', ...user, '--role', 'Admin'], false);
    expect(access).to.include({ booked: false });
    const member = ['--email', 'sock@x.example', '--role', 'admin'];
    expect(await asked(mallory, ['staff', 'create', 'Sock', ...member])).to.include({
      booked: false,
    });
    const lower = await run(mallory, ['staff', 'update', dave.email, '--role', 'viewer']);
    expect(lower.stderr).to.equal('');
    expect(
      await asked(mallory, ['staff', 'create', 'Soko', ...member.with(1, 's@x.example')]),
    ).to.include({ booked: false });
    expect((await agree(bob, access.approval)).stderr).to.equal('');
    // Dave has seen the tokens of both, and might act as both.
    const out = await asked(bob, ['staff', 'deactivate', mallory.email]);
    expect((await agree(carol, out.approval)).stderr).to.include('are not two people');
  });

  it('keeps nobody from shutting out the one who has made them both', async () => {
    const mallory = doors.admin;
    await passDays(2);
    const bob = await newAdminBy(mallory, 'bob');
    const carol = await newAdminBy(mallory, 'carol');
    const out = await asked(bob, ['staff', 'deactivate', mallory.email]);
    expect((await agree(carol, out.approval)).stderr).to.equal('');
    expect(await stateOf(mallory.email)).to.include({ active: false });
  });

  it('makes a second person of everybody who was there on the first day', async () => {
    const mallory = doors.admin;
    const bob = await newAdminBy(mallory, 'bob');
    await passDays(10);
    await rewrite(
      database(),
      "UPDATE audit_log SET happened_at = happened_at - interval '10 days'",
      {},
    );
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const user = ['--merchant', String(merchant_id), '--email', 'asha@shop.example'];
    const access = await asked(mallory, ['user', 'create', ...user, '--role', 'Admin'], false);
    expect(access).to.include({ booked: false });
    expect((await agree(bob, access.approval)).stderr).to.equal('');
  });

  it('is given as it was asked for: the request shows the role, and a change ends it', async () => {
    const [bob, ghost] = [await doors.newAdmin(), await doors.newAdmin()];
    await passDays(200);
    const leave = await asked(bob, ['staff', 'deactivate', ghost.email]);
    await agree(doors.admin, leave.approval);
    const wake = await asked(doors.admin, ['staff', 'update', ghost.email, '--reactivate']);
    const [request] = await rows<{ preview: string }>(
      database(),
      'SELECT preview FROM approvals WHERE decision IS NULL',
    );
    expect(request!.preview).to.include(`${ghost.email} is let in again, as admin.`);
    const demote = await run(doors.admin, ['staff', 'update', ghost.email, '--role', 'viewer']);
    expect(demote.stderr).to.equal('');
    expect((await agree(bob, wake.approval)).stderr).to.include('has changed since the request');
    expect(await stateOf(ghost.email)).to.deep.equal({ active: false, role: 'viewer' });
  });

  it('approves nothing by one-time passwords that were begun long ago, and confirmed now', async () => {
    const { admin } = doors;
    await doors.newAdmin();
    await passDays(200);
    const made = await asked(admin, ['staff', 'reset-totp', (await doors.newAdmin()).email]);
    expect(made).to.include({ booked: false });
    const later = await doors.newAdmin();
    await rewrite(database(), 'UPDATE staff SET totp = false WHERE email = :email', later);
    await rewrite(
      database(),
      'DELETE FROM staff_totp_secrets WHERE staff_id = (SELECT id FROM staff WHERE email = :email)',
      later,
    );
    const { secret } = await asked({ ...later, secret: null }, ['staff', 'begin-totp']);
    await rewrite(
      database(),
      "UPDATE staff_totp_secrets SET created_at = created_at - interval '13 hours'",
      {},
    );
    await run({ ...later, secret: null }, ['staff', 'confirm-totp', otpOf(secret)]);
    const held = { NEW_ACCESS_HOLD_MS: String(12 * HOUR_MS) };
    const approve = ['approval', 'approve', made.approval];
    const refused = await run({ ...later, secret }, approve, held);
    expect(refused.stderr).to.include('are new: they approve nothing for 12 h');
  });

  it('is asked for by nobody so often that other requests are hidden', async () => {
    const other = await doors.newAdmin();
    const { merchant_id } = await createTestMerchant(doors.test.service);
    const create = async (number: number) => {
      const app = ['app', 'create', '--merchant', String(merchant_id), '--products', 'collections'];
      return run({ ...other, secret: null }, [...app, '--name', `Till ${number}`]);
    };
    for (let number = 0; number < 20; number += 1) {
      expect((await create(number)).stderr).to.equal('');
    }
    expect((await create(20)).stderr).to.include('20 requests of yours are open');
  });
});
