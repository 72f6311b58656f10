import { Writable } from 'node:stream';
import { expect } from 'chai';
import { failureOf } from '../../../src/admin/failure.ts';
import { print, printAll } from '../../../src/admin/output/print.ts';
import type { Order } from '../../../src/admin/verb.ts';
import { runAdmin } from '../../support/admin-runs.ts';
import { type BadCase, expectWrong, readArguments } from '../../support/admin-usage.ts';
import { rejection } from '../../support/payments.ts';

const VERBS: Readonly<Record<string, string[]>> = {
  merchant: [
    ...['create', 'list', 'show', 'update', 'approve', 'suspend', 'activate'],
    ...['revoke-all', 'hold-payouts', 'release-payouts'],
  ],
  user: ['create', 'list', 'show', 'update', 'deactivate'],
  app: [
    ...['create', 'list', 'show', 'update', 'suspend', 'activate'],
    ...['rotate-secret', 'rotate-webhook-secret'],
  ],
  wallet: ['topup', 'adjust'],
  ledger: ['verify', 'prove-world', 'days', 'move'],
  payment: ['list', 'show'],
  discrepancy: ['list', 'resolve'],
  approval: ['list', 'show', 'approve', 'reject', 'withdraw'],
  channel: ['list', 'show', 'pause', 'resume'],
  jobs: ['list', 'replay'],
  queues: ['status', 'empty'],
  webhooks: ['list', 'show', 'resend', 'endpoints', 'recover'],
  audit: ['list'],
  security: ['list'],
  restore: ['mark', 'status', 'resume'],
  retention: ['run'],
  secrets: ['rekey'],
  staff: ['create', 'list', 'update', 'deactivate', 'new-token'],
  completion: ['bash', 'zsh'],
};
const NOUN_NAMES =
  'merchant, user, app, wallet, ledger, payment, discrepancy, approval, channel, jobs, queues, webhooks, audit, security, reconcile, daraja, payee, restore, retention, secrets, staff, completion';
const APPROVE = 'merchant approve --merchant 1001';

/** Reads a command line that is right. */
function orderOf(command: string): Order {
  return readArguments(command.split(' ')) as Order;
}

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
        'Unknown option "--page": merchant list takes --search, --after, --limit, --utc, --json, --help',
      ],
      ['merchant list -x', 'Unknown option "-x"'],
      [['merchant', 'list', '--a\nb'], 'Unknown option "--a\\nb"'],
      ['merchant list --reason x', 'Unknown option "--reason"'],
      ['merchant list --toString x', 'Unknown option "--toString"'],
    ]);
  });

  it('names what is wrong with an option', () => {
    expectWrong([
      [
        'merchant list 1001',
        'merchant list takes options only, not "1001": --search, --after, --limit',
      ],
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
      [`${APPROVE} --reason=`, '--reason must be 1 to 500 visible characters on one line'],
      [[...APPROVE.split(' '), '--reason', ' '], '--reason must be 1 to 500 visible characters'],
      [[...APPROVE.split(' '), '--reason', 'a\nb'], '--reason must be 1 to 500 visible characters'],
      [`${APPROVE} --reason ${'x'.repeat(501)}`, '--reason must be 1 to 500 visible characters'],
      [`${APPROVE} --reason --json`, '--reason needs a value'],
      [`${APPROVE} --actor ${'x'.repeat(101)}`, '--actor must be 1 to 100 visible characters'],
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
      expect(run.stdout, command).to.match(/^Usage: malipo /);
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
    expect(ofVerb).to.match(/^Usage: malipo app rotate-secret CODE \[options\]\n/);
    expect(ofVerb)
      .to.match(/--app CODE +The code of the app \(required\)/)
      .and.match(/--overlap DURATION +How long/)
      .and.match(/--actor NAME/)
      .and.match(/--reason TEXT .*\(required\)/);
  });

  it('takes an id with its flag or without, wherever it stands', () => {
    const read = (command: string) => orderOf(`${command} --reason because`);
    const id = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';
    const ways: Readonly<Record<string, string[]>> = {
      'merchant approve --merchant 1001': [
        'merchant approve 1001',
        'merchant approve --actor tester 1001',
      ],
      'merchant update --merchant 1001 --name x': ['merchant update 1001 --name x'],
      'app suspend --app 5001': ['app suspend 5001'],
      'app rotate-secret --app 5001': ['app rotate-secret 5001'],
      'user deactivate --email a@x.example': ['user deactivate a@x.example'],
      'channel pause --channel 63902': ['channel pause 63902'],
      'discrepancy resolve --discrepancy ID --as failed': [
        'discrepancy resolve ID --as failed',
        'discrepancy resolve --as failed ID',
      ],
      'wallet topup --merchant 1001 --amount 5.00 --reference a': [
        'wallet topup 1001 --amount 5.00 --reference a',
      ],
      'reconcile --channel 63902 --from 2026-03-01 --to 2026-03-02': [
        'reconcile 63902 --from 2026-03-01 --to 2026-03-02',
        'reconcile run 63902 --from 2026-03-01 --to 2026-03-02',
      ],
    };
    for (const [flagged, others] of Object.entries(ways)) {
      const expected = read(flagged.replace('ID', id)).values;
      for (const other of others) {
        expect(read(other.replace('ID', id)).values, other).to.deep.equal(expected);
      }
    }
    for (const noun of ['merchant show 1001', 'app show 5001', 'channel show 63902']) {
      expect(Object.values(orderOf(noun).values)).to.have.length(1);
    }
    expect(orderOf('user show a@x.example').values).to.include({ email: 'a@x.example' });
    expectWrong([
      ['merchant show 1001 1002', 'merchant show takes one ID and options, not "1002": --merchant'],
      ['merchant show 1001 --merchant 1001', '--merchant is given twice'],
      ['merchant show x', "--merchant must be a merchant's number"],
      ['app suspend', '--app is required'],
      ['reconcile do --from 2026-03-01 --to 2026-03-02', "--channel must be a channel's code"],
    ]);
  });

  it('takes shillings without cents, and nothing that may be a slip', () => {
    const amount = (text: string) =>
      orderOf(`wallet adjust 1001 --wallet payout --amount=${text} --reference a --reason b`).values
        .amount_cents;
    expect(amount('5000')).to.equal(500_000);
    expect(amount('5000.00')).to.equal(500_000);
    expect(amount('-7')).to.equal(-700);
    expect(amount('0.07')).to.equal(7);
    const line = 'with two decimals or none, and without commas, not';
    for (const text of ['5000.5', '5,000', '5000.', '.50', '5000.000', '5 000', '1e3', '']) {
      const adjust = ['wallet', 'adjust', '1001', '--wallet', 'payout', '--reference', 'a'];
      expectWrong([[[...adjust, `--amount=${text}`], `${line} ${JSON.stringify(text)}`]]);
    }
  });

  it('takes a day as one of Nairobi, or with --utc as one of UTC', () => {
    const until = (text: string) =>
      orderOf(
        `reconcile 63902 --from 2026-03-01 --to 2026-03-01 --file x.csv --utc-offset +03:00 --kind payout --reason b --complete-until ${text}`,
      ).values.complete_until;
    expect(until('2026-03-02')).to.deep.equal(new Date('2026-03-01T21:00:00Z'));
    expect(until('2026-03-02 --utc')).to.deep.equal(new Date('2026-03-02T00:00:00Z'));
    const moment = '2026-03-02T01:00:00+02:00';
    for (const text of [moment, `${moment} --utc`]) {
      expect(until(text)).to.deep.equal(new Date('2026-03-01T23:00:00Z'));
    }
  });

  it('says when the answer cannot be written, unless its reader has gone away', async () => {
    const broken = (code: string) =>
      new Writable({
        write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
      });
    await print(broken('EPIPE'), 'x');
    expect(failureOf(await rejection(print(broken('ENOSPC'), 'x')), true)).to.deep.equal({
      status: 1,
      line: 'It is done, but the answer cannot be written: ENOSPC',
    });
  });

  it('stops a long answer when its reader has gone away', async () => {
    let made = 0;
    async function* parts() {
      for (; made < 100; made += 1) yield `part ${made}\n`;
    }
    const pipe = new Writable({
      write: (chunk, _encoding, done) => {
        const isClosed = String(chunk) === 'part 3\n';
        done(isClosed ? Object.assign(new Error('closed'), { code: 'EPIPE' }) : null);
      },
    });
    await printAll(pipe, parts());
    expect(made).to.equal(3);
  });

  it('says that the database went away, without the statement', () => {
    const error = new Error(
      "\n  UPDATE users SET password_hash = 'x - y'\n - Connection terminated unexpectedly",
    );
    expect(failureOf(error, true)).to.deep.equal({
      status: 1,
      line: 'The database failed: Connection terminated unexpectedly. Look whether it was done before you do it again',
    });
    expect(failureOf(error, false).line).to.match(/\. Nothing was changed\. .*narrow the search$/);
    const other = new Error('postgres://root:hunter2@db - is not known\nat once');
    expect(failureOf(other, true).line).to.equal(
      'Unexpected failure: postgres://***@db - is not known',
    );
  });

  it('needs an actor for a change', () => {
    const line = /^Say who you are: MALIPO_STAFF_TOKEN, --actor or MALIPO_ACTOR\n$/;
    expectWrong([[APPROVE, line]], '');
    expectWrong(
      [[APPROVE, 'MALIPO_ACTOR must be 1 to 100 visible characters on one line']],
      'a\tb',
    );
  });
});
