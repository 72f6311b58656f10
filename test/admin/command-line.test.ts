import { Writable } from 'node:stream';
import { expect } from 'chai';
import { COMMANDS } from '../../src/admin/commands.ts';
import { failureOf } from '../../src/admin/failure.ts';
import { print } from '../../src/admin/output.ts';
import { rows } from '../../src/connections/database.ts';
import {
  type AdminTester,
  type BadCase,
  createAdminTester,
  expectLine,
  expectWrong,
} from '../support/admin.ts';
import { closedPortUrl } from '../support/gateway-fixtures.ts';
import { rejection } from '../support/payments.ts';

const VERBS: Readonly<Record<string, string[]>> = {
  merchant: ['create', 'list', 'show', 'update', 'approve', 'suspend', 'activate'],
  user: ['create', 'list', 'update', 'deactivate'],
  app: ['create', 'list', 'update', 'suspend', 'activate', 'rotate-secret'],
  wallet: ['topup', 'adjust'],
  ledger: ['verify'],
  channel: ['list', 'pause', 'resume'],
  jobs: ['list', 'replay'],
  secrets: ['rekey'],
};
const NOUNS = Object.keys(COMMANDS);
const APPROVE = 'merchant approve --merchant 1001';

describe("The operator's command line", () => {
  let admin: AdminTester;

  before(async () => {
    admin = await createAdminTester();
  });

  after(() => admin.close());

  it('names what it does not know, and what there is', () => {
    expectWrong([
      ['', NOUNS.join(', ')],
      ['payer', `Unknown noun: "payer". Nouns are ${NOUNS.join(', ')}`],
      ['constructor list', 'Unknown noun'],
      ...Object.entries(VERBS).flatMap(([noun, verbs]): BadCase[] => [
        [noun, `${noun} needs a verb: ${verbs.join(', ')}`],
        [`${noun} do`, `${noun} has no verb "do": it has ${verbs.join(', ')}`],
        [`${noun} toString`, `${noun} has no verb "toString"`],
      ]),
      ['--json merchant list', 'Noun and verb come before the options'],
      [
        'merchant list --page 2',
        'Unknown option "--page": merchant list takes --after, --limit, --json, --help',
      ],
      ['merchant list -x', 'Unknown option "-x"'],
      [['merchant', 'list', '--a\nb'], 'Unknown option "--a\\nb"'],
      ['merchant list --reason x', 'Unknown option "--reason"'],
      ['merchant list --toString x', 'Unknown option "--toString"'],
    ]);
  });

  it('names what is wrong with an option', () => {
    expectWrong([
      ['merchant list 1001', 'merchant list takes options only, not "1001": --after, --limit'],
      ['merchant list -- 1001', 'merchant list takes options only, not "1001"'],
      ['merchant list --json=1', '--json takes no value'],
      ['merchant list --limit', '--limit needs a value'],
      ['merchant list --limit --json', '--limit needs a value'],
      ['merchant list --limit 5 --limit 6', '--limit is given twice'],
      ['merchant list --limit 0', '--limit must be a whole number from 1 to 500, not "0"'],
      ['merchant list --limit 501', '--limit must be a whole number from 1 to 500'],
      ['merchant list --limit ten', '--limit must be a whole number'],
      ['merchant show', '--merchant is required'],
      ['merchant create --name x', '--email, --phone are required'],
      [`${APPROVE} --reason=`, '--reason must be 1 to 500 characters on one line'],
      [[...APPROVE.split(' '), '--reason', ' '], '--reason must be 1 to 500 characters'],
      [[...APPROVE.split(' '), '--reason', 'a\nb'], '--reason must be 1 to 500 characters'],
      [`${APPROVE} --reason ${'x'.repeat(501)}`, '--reason must be 1 to 500 characters'],
      [`${APPROVE} --reason --json`, '--reason needs a value'],
      [`${APPROVE} --actor ${'x'.repeat(101)}`, '--actor must be 1 to 100 characters'],
      ...['0', '-1', '1.5', '1e3', '0x3e9', 'abc', '01001', '9999999999999999'].map(
        (id): BadCase => [
          `merchant show --merchant ${id}`,
          "--merchant must be a merchant's number such as 1001",
        ],
      ),
    ]);
  });

  it('ends with status 2 when it is wrong, with nothing on standard output', async () => {
    const cases: [command: string, line: string][] = [
      [`${APPROVE} --json`, '--reason is required'],
      ['merchant show --merchant x --json', '--merchant must be a merchant'],
    ];
    await admin.unchanged(() =>
      Promise.all(
        cases.map(async ([command, line]) => {
          const { status, stdout, stderr } = await admin.run(command, { asProgram: true });
          expect([status, stdout], command).to.deep.equal([2, '']);
          expectLine(stderr, line, command);
        }),
      ),
    );
  });

  it('needs an actor for a change, named or from MALIPO_ACTOR', async () => {
    expectWrong([[APPROVE, /^Say who you are: --actor or MALIPO_ACTOR\n$/]], '');
    expectWrong([[APPROVE, 'MALIPO_ACTOR must be 1 to 100 characters on one line']], 'a\tb');
    const create = 'merchant create --name Duka --email a@b.example --phone +254712345678';
    await admin.text(`${create} --actor wanjiru --reason contract`);
    expect(await admin.audits()).to.have.length(1);
    expect((await admin.audits())[0]).to.include({ actor: 'wanjiru', reason: 'contract' });
  });

  it('helps on every level, without a configuration', async () => {
    const help = async (command: string) => {
      const run = await admin.run(command, { env: { DATABASE_URL: '' }, asProgram: true });
      expect([run.status, run.stderr], command).to.deep.equal([0, '']);
      expect(run.stdout, command)
        .to.include('npm run -s admin -- ')
        .and.include('node dist/scripts/admin.js ');
      return run.stdout;
    };
    const [all, ofNoun, ofVerb] = await Promise.all([
      help('--help'),
      help('app -h'),
      help('app rotate-secret --json --help'),
    ]);
    for (const [noun, verbs] of Object.entries(VERBS)) {
      expect(all).to.include(`${noun}: `);
      for (const verb of verbs) expect(all).to.match(new RegExp(`^  ${verb} `, 'm'));
    }
    for (const verb of VERBS.app!) expect(ofNoun).to.match(new RegExp(`^  ${verb} `, 'm'));
    expect(ofVerb)
      .to.match(/--app CODE +Which app \(required\)/)
      .and.match(/--overlap DURATION +How long/)
      .and.match(/--actor NAME/)
      .and.match(/--reason TEXT .*\(required\)/);
  });

  it('says in one line that it has no usable database', async () => {
    const closed = (await closedPortUrl()).replace(/^http/, 'postgres');
    const cases: [url: string, line: RegExp][] = [
      ['', /^The configuration is not valid: DATABASE_URL is required\n$/],
      [closed, /^DATABASE_URL cannot be used: .*ECONNREFUSED.*\n$/],
    ];
    await Promise.all(
      cases.map(async ([url, line]) => {
        const run = await admin.run('merchant list --json', {
          env: { DATABASE_URL: url },
          asProgram: true,
        });
        expect([run.status, run.stdout], run.stderr).to.deep.equal([1, '']);
        expect(run.stderr).to.match(line);
      }),
    );
  });

  it('takes a change back whose audit line fails, and does not print the statement', async () => {
    await rows(
      admin.database,
      "ALTER TABLE audit_log ADD CONSTRAINT not_no CHECK (reason <> 'no')",
    );
    await admin.refused([
      [
        'merchant create --name Siri --email siri@b.example --phone +254712345678 --reason no',
        /^Unexpected failure: new row for relation "audit_log" violates check constraint "not_no"\n$/,
      ],
    ]);
  });

  it('says when the answer cannot be written, unless its reader has gone away', async () => {
    const broken = (code: string) =>
      new Writable({
        write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
      });
    await print(broken('EPIPE'), 'x');
    expect(failureOf(await rejection(print(broken('ENOSPC'), 'x')))).to.deep.equal({
      status: 1,
      line: 'It is done, but the answer cannot be written: ENOSPC',
    });
  });

  it('says that the database went away, without the statement', () => {
    const error = new Error(
      "\n  UPDATE users SET password_hash = 'x - y'\n - Connection terminated unexpectedly",
    );
    expect(failureOf(error)).to.deep.equal({
      status: 1,
      line: 'The database failed: Connection terminated unexpectedly. Look whether it was done before you do it again',
    });
    const other = new Error('postgres://root:hunter2@db - is not known\nat once');
    expect(failureOf(other).line).to.equal('Unexpected failure: postgres://***@db - is not known');
  });
});
