import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { expectLine } from '../support/admin-usage.ts';
import { rewrite } from '../support/database.ts';
import { closedPortUrl } from '../support/gateway-fixtures.ts';

const APPROVE = 'merchant approve --merchant 1001';

describe("The operator's command line", () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  it('ends with status 2 when it is wrong, with nothing on standard output', async () => {
    await admin.unchanged(async () => {
      for (const command of [`${APPROVE} --json`, 'merchant show --json']) {
        const { status, stdout, stderr } = await admin.run(command);
        expect([status, stdout], command).to.deep.equal([2, '']);
        expectLine(stderr, 'is required', command);
      }
    });
  });

  it('runs as a program, with a pipe for its input', async () => {
    const merchant = await admin.changeJson(
      'merchant create --name Duka --email duka@x.example --phone +254712345678',
    );
    const create = `user create --merchant ${merchant.merchant_id} --email a@x.example --role Admin`;
    const program = { asProgram: true, input: 'correct horse battery\n' };
    const user = await admin.changeJson(`${create} --password-stdin`, program);
    expect(user).to.include({ email: 'a@x.example' });
    const wrong = await admin.run(`${create} --reason because --password-stdin`, {
      asProgram: true,
      input: 'short',
    });
    expect(wrong).to.deep.equal({
      status: 2,
      stdout: '',
      stderr: 'The password must have 12 to 128 characters\n',
    });
  });

  it('shows times of Nairobi, or of UTC with --utc, and ISO in JSON', async () => {
    const details = '--email a@t.example --phone +254712345678 --name Times';
    const { merchant_id } = await admin.changeJson(`merchant create ${details}`);
    await rewrite(
      admin.database,
      "UPDATE merchants SET created_at = '2026-11-20T22:30:01Z' WHERE id = :merchant_id",
      { merchant_id },
    );
    const show = `merchant show ${merchant_id}`;
    expect(await admin.text(show)).to.match(/ created at +2026-11-21 01:30:01 EAT\n/);
    expect(await admin.text(`${show} --utc`)).to.match(/ created at +2026-11-20 22:30:01 UTC\n/);
    for (const command of [show, `${show} --utc`]) {
      expect(await admin.json(command)).to.include({ created_at: '2026-11-20T22:30:01.000Z' });
    }
  });

  it('fits tables into COLUMNS, and cuts nothing without', async () => {
    const name = `Duka ${'la '.repeat(20)}mama`;
    const create = ['merchant', 'create', '--name', name, '--email', 'wide@x.example'];
    const { merchant_id } = await admin.changeJson([...create, '--phone', '+254712345678']);
    const list = `merchant list --after ${Number(merchant_id) - 1}`;
    expect(await admin.text(list)).to.include(name);
    const [, row] = (await admin.text(list, { env: { COLUMNS: '100' } })).split('\n');
    expect(row).to.match(new RegExp(`^${merchant_id} +Duka la .*…  wide@x\\.example +\\+2547`));
    expect(row!.length).to.be.at.most(100);
    const [block] = (await admin.text(list, { env: { COLUMNS: '60' } })).split('\n');
    expect(block).to.match(new RegExp(`^ID +${merchant_id}$`));
  });

  it('needs an actor for a change, named or from MALIPO_ACTOR', async () => {
    const create = 'merchant create --name Duka --email a@b.example --phone +254712345678';
    await admin.text(`${create} --actor wanjiru --reason contract`);
    const audit = (await admin.audits()).at(-1);
    expect(audit).to.include({ actor: 'wanjiru', reason: 'contract' });
  });

  it('says in one line that it has no usable database', async () => {
    const closed = (await closedPortUrl()).replace(/^http/, 'postgres');
    const cases: [url: string, line: RegExp][] = [
      ['', /^The configuration is not valid: DATABASE_URL is required\n$/],
      [closed, /^DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/],
    ];
    await Promise.all(
      cases.map(async ([url, line]) => {
        const run = await admin.run('merchant list --json', { env: { DATABASE_URL: url } });
        expect([run.status, run.stdout], run.stderr).to.deep.equal([1, '']);
        expect(run.stderr).to.match(line);
      }),
    );
  });

  it('takes a change back whose audit line fails, and does not print the statement', async () => {
    await rows(admin.owner, "ALTER TABLE audit_log ADD CONSTRAINT not_no CHECK (reason <> 'no')");
    await admin.refused([
      [
        'merchant create --name Siri --email siri@b.example --phone +254712345678 --reason no',
        /^Unexpected failure: new row for relation "audit_log" violates check constraint "not_no"\n$/,
      ],
    ]);
  });
});
