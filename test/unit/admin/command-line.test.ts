import { Writable } from 'node:stream';
import { expect } from 'chai';
import { failureOf } from '../../../src/admin/failure.ts';
import { print } from '../../../src/admin/output/print.ts';
import { runAdmin } from '../../support/admin-runs.ts';
import { type BadCase, expectWrong } from '../../support/admin-usage.ts';
import { rejection } from '../../support/payments.ts';

const VERBS: Readonly<Record<string, string[]>> = {
  merchant: [
    ...['create', 'list', 'show', 'update', 'approve', 'suspend', 'activate'],
    ...['hold-payouts', 'release-payouts'],
  ],
  user: ['create', 'list', 'update', 'deactivate'],
  app: ['create', 'list', 'update', 'suspend', 'activate', 'rotate-secret'],
  wallet: ['topup', 'adjust'],
  ledger: ['verify'],
  payment: ['list', 'show'],
  discrepancy: ['list', 'resolve'],
  channel: ['list', 'pause', 'resume'],
  jobs: ['list', 'replay'],
  queues: ['status', 'empty'],
  webhooks: ['list', 'show', 'resend'],
  audit: ['list'],
  restore: ['mark', 'status', 'resume'],
  retention: ['run'],
  secrets: ['rekey'],
};
const NOUN_NAMES =
  'merchant, user, app, wallet, ledger, payment, discrepancy, channel, jobs, queues, webhooks, audit, reconcile, restore, retention, secrets';
const APPROVE = 'merchant approve --merchant 1001';

describe("The operator's command line", () => {
  it('names what it does not know, and what there is', () => {
    expectWrong([
      ['', NOUN_NAMES],
      ['payer', `Unknown noun: "payer". Nouns are ${NOUN_NAMES}`],
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

  it('helps on every level, without a configuration', async () => {
    const help = async (command: string) => {
      const run = await runAdmin(command.split(' '), {});
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
      .to.match(/--app CODE +The code of the app \(required\)/)
      .and.match(/--overlap DURATION +How long/)
      .and.match(/--actor NAME/)
      .and.match(/--reason TEXT .*\(required\)/);
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

  it('needs an actor for a change', () => {
    expectWrong([[APPROVE, /^Say who you are: --actor or MALIPO_ACTOR\n$/]], '');
    expectWrong([[APPROVE, 'MALIPO_ACTOR must be 1 to 100 characters on one line']], 'a\tb');
  });
});
