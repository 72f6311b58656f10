import { expect } from 'chai';
import { sealDays } from '../../src/domain/seals/seal-days.ts';
import { exportSeals } from '../../src/domain/seals/seals-file.ts';
import { loadConfig } from '../../src/service/service.ts';
import { DAY_MS } from '../../src/time.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { failedPayout } from '../support/books.ts';
import { tamper } from '../support/database.ts';
import { makeFolder } from '../support/make-folder.ts';
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

  describe('with --seals', () => {
    const NEVER = new AbortController().signal;

    before(async () => {
      await tamper(admin.owner, 'UPDATE schema_migrations SET migration_time = :at', {
        at: new Date(Date.now() - 5 * DAY_MS),
      });
      await tamper(
        admin.owner,
        `INSERT INTO audit_log (id, actor, action, subject, happened_at)
         VALUES (:id, 'a', 'app.suspend', 'app 1', now() - interval '3 days')`,
        { id: '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e' },
      );
      await sealDays(admin.database, NEVER);
    });

    it('says that sealed rows are as they were, also by the file', async () => {
      const folder = makeFolder('seals');
      await exportSeals(admin.database, folder);
      const text = await admin.text(`ledger verify --seals --file ${folder}/seals.jsonl`);
      expect(text).to.match(/^The sealed rows are as they were\n/);
      const { breaks, checked } = await admin.json('ledger verify --seals --from 2999-01-01');
      expect([breaks, checked]).to.deep.equal([
        [],
        { seals: 0, rows: 0, removed_by_retention: 0, not_in_file: 0 },
      ]);
    });

    it('names what was changed, and fails', async () => {
      await tamper(admin.owner, `UPDATE audit_log SET actor = 'b' WHERE actor = 'a'`, {});
      const text = await admin.run('ledger verify --seals');
      expect(text).to.include({ status: 1, stderr: '' });
      expect(text.stdout)
        .to.match(/^Sealed rows were changed: 1 break\n/)
        .and.match(/ rows_changed +audit_log +/)
        .and.include('0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e');
      const { status, stdout } = await admin.run('ledger verify --seals --json');
      expect(status).to.equal(1);
      expect(JSON.parse(stdout)).to.deep.include({ break_count: 1, days_behind: 0 });
    });

    it('says what goes together, and which file it cannot read', async () => {
      for (const options of ['--from 2026-11-01', '--file x', '--seals --full']) {
        expect(await admin.run(`ledger verify ${options}`)).to.include({ status: 2 });
      }
      const { status, stderr } = await admin.run('ledger verify --seals --file /nowhere/x');
      expect(status).to.equal(1);
      expect(stderr).to.match(/^\/nowhere\/x cannot be read: ENOENT/);
    });
  });
});
