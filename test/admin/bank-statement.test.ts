import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { hearBalances } from '../../src/domain/gateway-accounts/balances.ts';
import { keepOwnLines } from '../../src/domain/gateway-accounts/own-lines.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { makeFolder } from '../support/make-folder.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

const BANK_FILE = fileURLToPath(new URL('../fixtures/bank.csv', import.meta.url));
const PORTAL_FILE = fileURLToPath(new URL('../fixtures/m-pesa-portal.csv', import.meta.url));

describe('admin ledger bank-statement', () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
    const config = loadConfig({ DATABASE_URL: admin.url });
    const { merchant_id } = await createTestMerchant({ database: admin.database, config });
    await topUpPayoutWallet(admin.database, merchant_id, 500_000, 'FT2632500002');
  });

  after(() => admin.close());

  const command = (...more: string[]) => [
    ...['ledger', 'bank-statement', BANK_FILE, '--utc-offset', '+03:00', ...more],
  ];

  interface Proven {
    balances: object[];
    differences: { gateway: string; candidates: { id: string }[] }[];
  }
  const proven = async (): Promise<Proven> =>
    JSON.parse((await admin.run('ledger prove-world --json')).stdout);

  it('says what it would find, and keeps nothing without --keep', async () => {
    await admin.unchanged(async () => {
      const { rows: count, differences } = await admin.changeJson(command());
      expect(count).to.equal(3);
      expect(differences).to.have.length(2);
      expect(await admin.change(command()))
        .to.match(/has 3 rows: nothing is kept\n/)
        .and.match(/not in the books +FT2632500001 +-1000\.00/);
    });
    expect(await rows(admin.database, 'SELECT reference FROM own_lines')).to.deep.equal([]);
  });

  it('tells no balance of today by rows of the month before', async () => {
    expect(await admin.change(command('--keep'))).to.include('It tells no balance');
    expect((await proven()).balances).to.deep.equal([]);
  });

  it('keeps its rows and its last balance, which prove-world compares', async () => {
    // Its rows are old.
    const until = new Date().toISOString();
    const text = await admin.change(command('--keep', '--complete-until', until));
    expect(text).to.include('which are kept').and.include('told a balance of KES 13,970.00');
    expect((await admin.lastAudit()).details).to.deep.equal({
      ...{ file: 'bank.csv', rows: 3 },
      complete_until: until,
    });
    const { balances, differences } = await proven();
    expect(balances[0]).to.include({ gateway: 'bank', told: '13970.00', ledger: '5000.00' });
    expect(differences[0]!.candidates.map(({ id }) => id)).to.deep.equal([
      'FT2632500001',
      'FT2632500001',
    ]);
    expect((await admin.changeJson(command('--keep'))).differences).to.have.length(2);
  });

  it('is refused when a row cannot be read, and keeps nothing of it', async () => {
    const path = join(makeFolder('bank'), 'cut.csv');
    const head = 'Transaction Date,Transaction Reference,Narrative,Debit,Credit,Balance';
    writeFileSync(path, `${head}\n2026-11-20 10:00:00,,FEE,1.00,,1.00\n`);
    const given = ['ledger', 'bank-statement', path, '--utc-offset', '+03:00', '--keep'];
    await admin.unchanged(async () => {
      const { status, stderr } = await admin.run([...given, '--reason', 'Daily']);
      expect(stderr).to.include('line 2: lacks its reference, its amount, or its time');
      expect(status).to.equal(2);
    });
  });

  it('is refused when a row has a time that is still to come, and keeps nothing of it', async () => {
    const path = join(makeFolder('bank'), 'year.csv');
    const head = 'Transaction Date,Transaction Reference,Narrative,Debit,Credit,Balance';
    const right = '2026-11-20 10:00:00,FT1,,1.00,,1.00';
    writeFileSync(path, `${head}\n${right}\n2062-11-20 11:00:00,FT2,,1.00,,0.00\n`);
    const given = ['ledger', 'bank-statement', path, '--utc-offset', '+03:00', '--keep'];
    await admin.unchanged(async () => {
      const { status, stderr } = await admin.run([...given, '--reason', 'Daily']);
      expect(stderr).to.include('has the row FT2 with a time that is still to come (2062-11-20T08');
      expect(status).to.equal(2);
    });
  });

  it('is told by prove-world which move of a gateway is still to be booked', async () => {
    const row = { reference: 'SKL9', amountCents: -20_000, toldAt: new Date() };
    await inTransaction(admin.database, (trx) => keepOwnLines(trx, 'simulator/utility', [row]));
    const told = { sub_account: 'utility', current_cents: -20_000, available_cents: 0 } as const;
    await hearBalances(admin.database, 'simulator', [told], new Date(Date.now() + 60_000));
    const { stdout } = await admin.run('ledger prove-world');
    expect(stdout).to.include(
      'To book it: ledger move --from simulator/utility --to bank --amount 200.00 --reference SKL9',
    );
  });

  it("counts a gateway's own rows when its statement is compared", async () => {
    const document = await admin.changeJson(
      [
        ...['reconcile', '63902', '--from', '2026-11-20', '--to', '2026-11-20'],
        ...['--file', PORTAL_FILE],
      ],
      { env: { CHANNELS: '63902=simulator' } },
    );
    expect(document).to.include({ own_rows: 1 });
    const { differences } = await proven();
    const ids = differences
      .filter(({ gateway }) => gateway === 'simulator')
      .flatMap(({ candidates }) => candidates.map(({ id }) => id));
    expect(ids).to.include('SKL1G');
  });
});
