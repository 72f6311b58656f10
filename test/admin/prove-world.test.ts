import { expect } from 'chai';
import { hearBalances } from '../../src/domain/gateway-accounts/balances.ts';
import { closeDays } from '../../src/domain/gateway-accounts/close-day.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { learn, newCollection, succeeded } from '../support/payments.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('admin ledger prove-world', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    merchant = await createTestMerchant({ database: admin.database, config });
  });

  after(() => admin.close());

  const tell = (cents: number) =>
    hearBalances(
      admin.database,
      'simulator',
      [{ sub_account: 'utility', current_cents: cents, available_cents: cents }],
      new Date(Date.now() + 60_000),
    );

  it('says that the books agree, and changes nothing', async () => {
    await learn(admin.database, await newCollection(admin.database, merchant), succeeded());
    await tell(10_000);
    await admin.unchanged(async () => {
      const document = await admin.json('ledger prove-world');
      expect(document).to.deep.include({
        agrees: true,
        differences: [],
        untold: [],
        in_flight: [],
      });
      expect(document.balances).to.have.length(1);
      expect(await admin.text('ledger prove-world'))
        .to.match(/^The books agree with the world\n/)
        .and.match(/simulator +utility .* 100\.00 +100\.00 +0\.00/);
    });
  });

  it('names a difference with what may explain it, and fails', async () => {
    const second = await newCollection(admin.database, merchant);
    const word = succeeded({ transId: 'TYPED', externalRef: null });
    await learn(admin.database, second, word, 'support');
    await tell(10_000);
    const failed = await admin.run('ledger prove-world --json');
    expect(failed.status).to.equal(1);
    const { agrees, differences } = JSON.parse(failed.stdout);
    expect(agrees).to.equal(false);
    expect(differences[0]).to.include({ ledger: '200.00', told: '100.00', difference: '-100.00' });
    expect(differences[0].candidates).to.deep.include.members([
      {
        ...{ what: 'decided by hand', id: second.id, kind: 'collection' },
        ...{ merchant_id: merchant.merchant_id, amount: '100.00' },
        at: differences[0].candidates[0].at,
      },
    ]);
    const text = await admin.run('ledger prove-world');
    expect(text.stdout)
      .to.match(/^The books do not agree with the world\n/)
      .and.match(/What may explain simulator utility:\n/)
      .and.include(second.id);
  });

  it('lists the ends of days with what differed', async () => {
    await closeDays(admin.database, []);
    const { days } = (await admin.json('ledger days')) as { days: Record<string, unknown>[] };
    expect(days[0]).to.include({ agrees: false });
    expect(await admin.text('ledger days')).to.match(
      /does not agree\n {2}KES -100\.00 at simulator utility\n {4}decided by hand: collection /,
    );
  });
});
