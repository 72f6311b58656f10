import { expect } from 'chai';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { failedPayout } from '../support/books.ts';
import { tamper } from '../support/database.ts';
import { newCompletedCollection } from '../support/payment-kinds.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('admin ledger', () => {
  let admin: AdminTester;
  let merchant: TestMerchant;

  before(async () => {
    admin = await createAdminTester();
    const { database } = admin;
    const config = loadConfig({ DATABASE_URL: admin.url });
    merchant = await createTestMerchant({ database, config });
    await newCompletedCollection(database, merchant);
    await failedPayout(database, merchant);
  });

  after(() => admin.close());

  const CHECKED = { merchants: 1, entries: 4, journals: 3, payments: 2 };

  it('proves books that are right, and changes none of them', async () => {
    await admin.unchanged(async () => {
      expect(await admin.json('ledger verify --full')).to.deep.equal({
        checked: CHECKED,
        break_count: 0,
        breaks: [],
      });
      expect(await admin.text('ledger verify'))
        .to.match(/^The books are right\n/)
        .and.match(/ merchants +1\n/)
        .and.match(/ entries +0\n/);
    });
    expect(await admin.audits(), 'nothing to be audited').to.deep.equal([]);
  });

  it('refuses a merchant that is not there', async () => {
    const { status, stderr } = await admin.run('ledger verify --merchant 99');
    expect([status, stderr]).to.deep.equal([1, 'There is no merchant 99\n']);
  });

  it('names each break on a line, or in the one document, and fails', async () => {
    await tamper(
      admin.owner,
      `UPDATE wallets SET balance_cents = balance_cents + 1 WHERE merchant_id = :m
       AND kind = 'collection'`,
      { m: merchant.merchant_id },
    );
    const text = await admin.run(`ledger verify --merchant ${merchant.merchant_id}`);
    expect(text).to.include({ status: 1, stderr: '' });
    expect(text.stdout).to.match(/^The books are wrong: 1 break\n/);
    expect(text.stdout).to.match(
      new RegExp(
        ` wallet_astray +${merchant.merchant_id} +wallet +collection +98\\.50 after entry 1 +98\\.51 after entry 1\n$`,
      ),
    );
    const json = await admin.run('ledger verify --full --json');
    expect(json).to.include({ status: 1, stderr: '' });
    expect(JSON.parse(json.stdout)).to.deep.equal({
      checked: CHECKED,
      break_count: 1,
      breaks: [
        {
          merchant_id: merchant.merchant_id,
          kind: 'wallet_astray',
          subject: 'wallet',
          id: 'collection',
          expected: '98.50 after entry 1',
          found: '98.51 after entry 1',
        },
      ],
    });
  });
});
