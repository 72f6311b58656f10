import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { newCompletedCollection } from '../support/payment-kinds.ts';
import { insertOldCallbacks, refuseToDelete } from '../support/retention.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

describe('admin retention', () => {
  let admin: AdminTester;
  let paymentId: string;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    const merchant = await createTestMerchant({ database: admin.database, config });
    const payment = await newCompletedCollection(admin.database, merchant);
    paymentId = payment.id;
    await rows(
      admin.database,
      `INSERT INTO attempts (merchant_id, payment_kind, payment_id, attempt_no, result, started_at)
       VALUES (:merchant_id, 'collection', :id, 1, 'acknowledged', now() - interval '14 months')`,
      { merchant_id: payment.merchant_id, id: payment.id },
    );
  });

  after(() => admin.close());

  const ATTEMPTS = { table: 'attempts', rows: 1, months: [], busy: [], error: null };

  const rowsOf = (answer: Document) =>
    (answer.tables as Document[]).filter(({ rows: count }) => Number(count) > 0);

  it('counts what would go, and changes nothing', async () => {
    const answer = await admin.unchanged(() => admin.changeJson('retention run --dry-run'));
    expect(answer.dry_run).to.equal(true);
    expect(rowsOf(answer)).to.deep.equal([ATTEMPTS]);
    expect(await admin.change('retention run --dry-run'))
      .to.match(/^This would go now:\n/)
      .and.match(/^attempts +1 +- +- +-$/m);
  });

  it('removes it in the name of whoever asked, and the books and the payment stay', async () => {
    const answer = await admin.changeJson('retention run');
    expect(rowsOf(answer)).to.deep.equal([ATTEMPTS]);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'retention.run',
      merchant_id: null,
      subject: 'table attempts',
      details: { rows: 1 },
    });
    const shown = await admin.json(`payment show ${paymentId}`);
    expect(shown.payment).to.include({ id: paymentId, status: 'completed' });
    expect(shown.attempts).to.deep.equal([]);
    expect(await admin.text('ledger verify --full')).to.match(/^The books are right\n/);
    expect(rowsOf(await admin.changeJson('retention run'))).to.deep.equal([]);
  });

  it('fails when a table could not be done, and says which and what was done', async () => {
    await insertOldCallbacks(admin.database, 1_000);
    await refuseToDelete(admin.owner);
    const { status, stdout } = await admin.run(['retention', 'run', '--reason', 'because']);
    expect(status).to.equal(1);
    expect(stdout)
      .to.match(/^TABLE +ROWS +MONTHS +BUSY +ERROR$/m)
      .and.match(/^callbacks +1000 +- +- +protected \(SQLSTATE P0001\)$/m);
  });
});
