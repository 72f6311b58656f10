import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { createTestMerchant, createTestUser, type TestMerchant } from '../support/test-merchant.ts';
import { otpOf } from '../support/totp.ts';
import { type Doors, nextOtp, openDoors, REASON } from './doors.ts';

describe('Access that staff give to a merchant', () => {
  let doors: Doors;
  let merchant: TestMerchant;

  beforeEach(async () => {
    doors = await openDoors({ NEW_ACCESS_HOLD_MS: '3600000' });
    merchant = await createTestMerchant(doors.test.service);
  });

  afterEach(() => doors.close());

  const database = () => doors.test.testDatabase.database;
  const agree = async (approval: string) => {
    const second = await doors.newAdmin();
    const args = ['approval', 'approve', approval, '--otp', nextOtp(second), '--json'];
    return JSON.parse((await doors.run(args, second)).stdout);
  };
  const ask = async (args: string[]) => {
    const { status, stdout, stderr } = await doors.run([...args, '--json'], doors.admin);
    expect([status, stderr]).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  };
  const countOf = async (table: string) => (await rows(database(), `SELECT FROM ${table}`)).length;

  const number = () => String(merchant.merchant_id);
  const code = () => String(merchant.app_code);
  const SHOP = ['--name', 'Shop', '--products', 'payouts'];

  it('waits for a second admin, who alone sees the secret of the app', async () => {
    await doors.newAdmin();
    const asked = await ask(['app', 'create', number(), ...SHOP]);
    expect(JSON.stringify(asked)).to.not.include('as_');
    expect(await countOf('apps')).to.equal(1);
    const done = await agree(asked.approval);
    expect(done.app_secret).to.match(/^as_/);
    const [app] = await rows(database(), `SELECT * FROM apps WHERE name = 'Shop'`);
    expect(app).to.deep.include({ merchant_id: merchant.merchant_id, products: ['payouts'] });
    const [line] = await rows(
      database(),
      `SELECT * FROM audit_log WHERE action = 'app.create' AND reason IS NOT NULL`,
    );
    expect(line).to.deep.include({ actor: doors.admin.email, reason: REASON });
  });

  it('is shown once at the console too', async () => {
    const second = await doors.newAdmin();
    const { approval } = await ask(['app', 'rotate-secret', code()]);
    const browser = await doors.browserOf(second);
    const page = await browser.get(`/approvals/${approval}`);
    expect(page.text).to.include('The app gets a new secret');
    const sent = await doors.send(browser, `/approvals/${approval}`, {
      as: 'approved',
      otp: otpOf(second.secret!, 1),
    });
    expect([sent.status, /as_[\w-]{40}/.test(sent.text)]).to.deep.equal([200, true]);
    expect(await countOf('app_secrets')).to.equal(2);
  });

  it('tells the second admin what it is and what it becomes', async () => {
    await doors.newAdmin();
    const user = await createTestUser(doors.test.service, merchant.merchant_id, 'Operator');
    for (const args of [
      ['user', 'update', user.email, '--role', 'Admin'],
      ['merchant', 'update', number(), '--debt-limit', '5000', '--user-ips', 'none'],
      ['app', 'create', number(), '--name', 'Till. May call from: 10.0.0.1', ...SHOP.slice(2)],
    ]) {
      await ask(args);
    }
    const previews = await rows<{ preview: string }>(
      database(),
      'SELECT preview FROM approvals ORDER BY id',
    );
    const lines = previews.map(({ preview }) => preview.split('\n'));
    expect(lines[0]).to.include('Role: Admin. It is Operator now.');
    expect(lines[1]).to.include.members([
      'Debt limit: 5000.00. It is 0.00 now.',
      'Addresses of its users: any address. It is any address now.',
    ]);
    expect(lines[2]).to.include.members([
      'Name: "Till. May call from: 10.0.0.1".',
      'May call from: any address.',
    ]);
  });

  const alone: Record<string, () => string[]> = {
    'a rate limit': () => ['merchant', 'update', number(), '--rate-per-minute', '70'],
    'a name of an app': () => ['app', 'update', code(), '--name', 'Till'],
    'a suspension': () => ['app', 'suspend', code()],
    'the brake': () => ['merchant', 'hold-payouts', number()],
    'the end of all sessions and secrets': () => ['merchant', 'revoke-all', number()],
  };
  for (const [what, args] of Object.entries(alone)) {
    it(`one admin alone: ${what}`, async () => {
      await doors.newAdmin();
      expect(await ask(args())).to.not.have.property('approval');
    });
  }

  it('keeps the name by which a second person knows the merchant of a request', async () => {
    await doors.newAdmin();
    expect(await ask(['merchant', 'update', number(), '--name', 'Big Shop'])).to.have.property(
      'approval',
    );
  });

  it('lets two admins say how much money can leave in a minute', async () => {
    await doors.newAdmin();
    const more = ['merchant', 'update', number(), '--payouts-per-minute', '600'];
    expect(await ask(more)).to.have.property('approval');
  });

  it('is not given once what it is about has changed since the request', async () => {
    const other = await doors.newAdmin();
    const wider = await ask(['merchant', 'update', number(), '--debt-limit', '5000']);
    const secret = await ask(['app', 'rotate-secret', code()]);
    await doors.run(['merchant', 'update', number(), '--rate-per-minute', '5'], other);
    await doors.run(['app', 'suspend', code()], other);
    for (const { approval } of [wider, secret]) {
      const second = await doors.newAdmin();
      const args = ['approval', 'approve', approval, '--otp', nextOtp(second)];
      const { stderr } = await doors.run(args, second);
      expect(stderr, approval === wider.approval ? 'merchant' : 'secret').to.include(
        'It has changed since the request',
      );
    }
    const [row] = await rows(database(), 'SELECT debt_limit_cents FROM merchants WHERE id = :id', {
      id: merchant.merchant_id,
    });
    expect(row).to.deep.equal({ debt_limit_cents: 0 });
  });

  it('never has a password in a request', async () => {
    await doors.newAdmin();
    const args = ['user', 'create', number(), '--email', 'a@x.example', '--role', 'Admin'];
    const { stderr } = await doors.run([...args, '--password-stdin'], doors.admin, 'correct horse');
    expect(stderr).to.include('Leave --password-stdin out');
    expect(await countOf('approvals')).to.equal(0);
  });

  it('is given at once where no other admin is there, and sends no money out for a while', async () => {
    const user = await createTestUser(doors.test.service, merchant.merchant_id, 'Finance');
    await ask(['app', 'rotate-secret', code()]);
    await ask(['user', 'update', user.email, '--new-password']);
    for (const table of ['users', 'app_secrets']) {
      const held = await rows(
        database(),
        `SELECT FROM ${table} WHERE outgoing_from > now() + interval '59 minutes'`,
      );
      expect(held, table).to.have.length(1);
    }
  });
});
