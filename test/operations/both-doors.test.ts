import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { requireMerchant } from '../../src/domain/merchants/merchant.ts';
import { walletBalances } from '../../src/domain/wallets/list-transactions.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import {
  type DoorCase,
  type Doors,
  expectRefusedAtBothDoors,
  expectSameAtBothDoors,
  nextOtp,
  openDoors,
  REASON,
} from './doors.ts';

describe('An operation at both doors', () => {
  let doors: Doors;

  before(async () => {
    doors = await openDoors();
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;
  const newMerchant = () => createTestMerchant(doors.test.service);
  const pageOf = ({ merchant_id }: TestMerchant) => `/merchants/${merchant_id}`;
  const namesOf = ({ merchant_id }: TestMerchant) => ({ MERCHANT: String(merchant_id) });
  const requestsOf = ({ merchant_id }: TestMerchant) =>
    rows(
      database(),
      `SELECT action, subject, amount_cents, payload, preview, requested_by, reason, decision
       FROM approvals WHERE merchant_id = :merchant_id`,
      { merchant_id },
    );

  const entry = (
    verb: 'topup' | 'adjust',
    address: string,
    more: string[],
  ): DoorCase<TestMerchant> => ({
    name: `wallet.${verb}`,
    make: newMerchant,
    role: 'admin',
    command: ({ merchant_id }) => [
      ...['wallet', verb, String(merchant_id), '--amount', '100.00', '--reference', 'BANK-1'],
      ...more,
    ],
    page: (merchant) => `${pageOf(merchant)}/wallets/${address}`,
    form: () => ({ amount: '100.00', reference: 'BANK-1', wallet: 'payout' }),
    effect: async (merchant) => ({
      balances: await walletBalances(database(), merchant.merchant_id),
      requests: await requestsOf(merchant),
    }),
    names: namesOf,
  });

  /** A merchant as its row has it, without what differs between two merchants. */
  const rowOf = async ({ merchant_id }: TestMerchant) => {
    const { id: _, created_at: __, ...row } = await requireMerchant(database(), merchant_id);
    return row;
  };

  /** A change of a merchant. The merchant is like `opposite` before. */
  const change = (
    verb: string,
    opposite: string,
    { options = [], form = {} }: { options?: string[]; form?: Record<string, string> } = {},
  ): DoorCase<TestMerchant> => ({
    name: `merchant.${verb}`,
    make: async () => {
      const merchant = await newMerchant();
      const like = `UPDATE merchants SET name = 'Shop', email = 'shop@x.example', ${opposite}
        WHERE id = :merchant_id`;
      await rows(database(), like, merchant);
      return merchant;
    },
    role: 'admin',
    command: ({ merchant_id }) => ['merchant', verb, String(merchant_id), ...options],
    page: (merchant) => `${pageOf(merchant)}/change/${verb}`,
    form: () => form,
    effect: rowOf,
    names: namesOf,
  });

  const CASES: DoorCase<TestMerchant>[] = [
    entry('topup', 'top-up', []),
    entry('adjust', 'adjust', ['--wallet', 'payout']),
    change('approve', 'approved = false'),
    change('suspend', 'active = true'),
    change('activate', 'active = false'),
    change('hold-payouts', 'payouts_held = false'),
    change('release-payouts', 'payouts_held = true'),
    change('revoke-all', 'active = true'),
    change('update', 'active = true', {
      options: ['--name', 'New Name', '--email', 'new@x.example', '--commission-bps', '75'],
      form: {
        name: 'New Name',
        email: 'new@x.example',
        commission_bps: '75',
        commission_fixed: 'default',
        debt_limit: '0.00',
        rate_limit_per_minute: 'default',
        rate_limit_burst: 'default',
        payout_limit_per_minute: 'default',
        payout_limit_burst: 'default',
        user_ip_allow_list: 'none',
      },
    }),
  ];

  for (const one of CASES) {
    it(`${one.name}: has one effect, and one line in the audit log`, () =>
      expectSameAtBothDoors(doors, one));

    it(`${one.name}: refuses a lower role, and a change without a reason`, () =>
      expectRefusedAtBothDoors(doors, one));
  }

  it('waits for a second person, whichever door asks, and whichever decides', async () => {
    const { run, send, browserOf } = doors;
    const admin = await doors.newAdmin();
    const merchant = await newMerchant();
    const [case_] = CASES as [DoorCase<TestMerchant>];
    const asked = await run([...case_.command(merchant), '--json'], admin);
    const { approval, booked, preview } = JSON.parse(asked.stdout);
    expect([asked.status, booked]).to.deep.equal([0, false]);
    expect(preview.join()).to.include('It would be KES 100.00');
    const again = await send(
      await browserOf(doors.admin),
      case_.page(merchant),
      case_.form!(merchant),
    );
    expect([again.status, again.text.includes('asked for this already')]).to.deep.equal([
      422,
      true,
    ]);
    const own = await run(['approval', 'approve', approval, '--otp', nextOtp(admin)], admin);
    expect(own.stderr).to.include('somebody else must decide');
    expect((await walletBalances(database(), merchant.merchant_id)).payout).to.equal(0);
    const second = await doors.newAdmin();
    const without = await run(['approval', 'approve', approval], second);
    expect(without.stderr).to.include('one-time password');
    const done = await run(
      ['approval', 'approve', approval, '--json', '--otp', nextOtp(second)],
      second,
    );
    expect([done.status, done.stderr]).to.deep.equal([0, '']);
    expect(JSON.parse(done.stdout)).to.include({ decision: 'approved', decided_by: second.email });
    expect((await walletBalances(database(), merchant.merchant_id)).payout).to.equal(10_000);
    const [line] = await rows<Record<string, unknown>>(
      database(),
      `SELECT actor, reason, details FROM audit_log
       WHERE action = 'wallet.topup' AND merchant_id = :merchant_id AND reason IS NOT NULL`,
      merchant,
    );
    expect(line).to.deep.include({ actor: admin.email, reason: REASON });
    expect(line!.details).to.include({ approved_by: second.email });
    // The entry is booked, so the same command returns it and asks nobody.
    const repeated = await run([...case_.command(merchant), '--json'], admin);
    expect(JSON.parse(repeated.stdout)).to.include({ repeated: true, amount: '100.00' });
    await expectSoundLedger(database());
  });

  it('can be rejected, or withdrawn, from the command line', async () => {
    const { admin, run } = doors;
    for (const [verb, decider] of [
      ['reject', await doors.newAdmin()],
      ['withdraw', admin],
    ] as const) {
      const merchant = await newMerchant();
      const asked = await run([...CASES[1]!.command(merchant), '--json'], admin);
      const { approval } = JSON.parse(asked.stdout);
      const refused = await run(['approval', verb, approval], doors.viewer);
      expect(refused.stderr).to.match(/^This needs the role support/);
      const done = await run(['approval', verb, approval], decider);
      expect([done.status, done.stdout.includes('nothing was done')]).to.deep.equal([0, true]);
      const [{ decision }] = (await requestsOf(merchant)) as [{ decision: string }];
      expect(decision).to.equal(verb === 'reject' ? 'rejected' : 'withdrawn');
      expect((await walletBalances(database(), merchant.merchant_id)).payout).to.equal(0);
    }
  });
});
