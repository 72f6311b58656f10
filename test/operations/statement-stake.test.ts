import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { recordAudit } from '../../src/domain/audit/audit.ts';
import { makeRoomForDraft } from '../../src/domain/reconciliation/drafts.ts';
import { DRAFT_MINUTES, findImport } from '../../src/domain/reconciliation/import-store.ts';
import { nameOfMember } from '../../src/domain/staff/given-access.ts';
import type { TestMember } from '../support/console.ts';
import { rewrite } from '../support/database.ts';
import { makeFolder } from '../support/make-folder.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { learn, rejection, reread, succeeded } from '../support/payments.ts';
import { SO_FAR } from '../support/so-far.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { otpOf } from '../support/totp.ts';
import { type Doors, openDoors } from './doors.ts';

const DAYS = ['--from', SO_FAR.from, '--to', SO_FAR.to, '--utc-offset', '+03:00'];
const COMPLETE = ['--complete-until', '2026-11-21'];

describe('The stake of a statement', () => {
  let doors: Doors;
  let merchant: TestMerchant;
  let path: string;

  before(async () => {
    doors = await openDoors({ STAFF_APPROVAL_LIMIT: '50000', CHANNELS: '63902=simulator' });
    merchant = await createTestMerchant(doors.test.service);
    path = join(makeFolder('statements'), 'statement.csv');
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;

  /** Stores a file of payouts of 100.00, each with a receipt of its own. */
  async function stored(references: string[], more: string[] = [], days = DAYS): Promise<string> {
    const { run, support } = doors;
    const lines = references.map(
      (reference, index) =>
        `${reference},${reference.slice(-9)}${index},,100.00,2026-11-20T10:00:00Z`,
    );
    writeFileSync(
      path,
      `${['reference,trans_id,account,amount,completed_at', ...lines].join('\n')}\n`,
    );
    const file = ['--channel', '63902', '--file', path, '--kind', 'payout'];
    const args = ['reconcile', 'check', ...file, ...days, ...more, '--json'];
    const { stdout, stderr } = await run(args, support);
    expect(stderr).to.equal('');
    return JSON.parse(stdout).id;
  }

  /** Each one-time password may be used again: the tests are faster than the clock. */
  const agree = async (args: string[], member: TestMember) => {
    await rewrite(database(), 'UPDATE staff_totp_secrets SET last_step = 0', {});
    return doors.run([...args, '--otp', otpOf(member.secret!)], member);
  };
  const compare = (id: string, member: TestMember) =>
    agree(['reconcile', 'compare', id, '--json'], member);

  const previewOf = async (id: string) => (await findImport(database(), id))!.preview!;

  const statusOf = async (payout: Parameters<typeof reread>[1]) =>
    (await reread(database(), payout)).status;

  it('is measured in the transaction that begins: what has grown since needs a new look', async () => {
    const payouts = [await newPayout(database(), merchant), await newPayout(database(), merchant)];
    const id = await stored(payouts.map(({ reference }) => reference));
    // The world goes on: both lines are about more than anybody was told.
    const grow = `UPDATE statement_lines SET amount_cents = :cents WHERE import_id = :id`;
    await rewrite(database(), grow, { id, cents: 20_000 });
    expect((await compare(id, doors.admin)).stderr).to.include(
      'It is about KES 400.00 by now, and was about KES 200.00 when it was stored: check it anew',
    );
    expect(await statusOf(payouts[0]!)).to.equal('pending');
    // This file only repeats when it is stored.
    for (const [index, payout] of payouts.entries()) {
      const transId = `${payout.reference.slice(-9)}${index}`;
      await learn(database(), payout, succeeded({ transId, externalRef: null }));
    }
    const repeats = await stored(payouts.map(({ reference }) => reference));
    await rewrite(database(), grow, { id: repeats, cents: 40_000 });
    expect((await compare(repeats, doors.support)).stderr).to.include(
      'It is about KES 800.00, and you have brought the file',
    );
  });

  it('has the charges of a file, which nobody books alone', async () => {
    const payout = await newPayout(database(), merchant);
    const transId = `CHARGED${merchant.merchant_id}`;
    await learn(database(), payout, succeeded({ transId, externalRef: null }));
    const told = async (charge: string) => {
      const line = (kind: string, amount: string) =>
        `${transId},${amount},2026-11-20T10:00:00Z,${kind}`;
      const lines = [line('payout', '100.00'), line('charge', charge)];
      writeFileSync(path, ['trans_id,amount,completed_at,kind', ...lines].join('\n'));
      const file = ['--channel', '63902', '--file', path, ...DAYS];
      const { stdout } = await doors.run(['reconcile', 'check', ...file, '--json'], doors.support);
      return JSON.parse(stdout).id as string;
    };
    const wrong = await told('7000.00');
    expect((await compare(wrong, doors.support)).stderr).to.include(
      'It is about KES 7,000.00, and you have brought the file',
    );
    expect(await rows(database(), 'SELECT FROM charges')).to.have.length(0);
    expect((await compare(await told('7.00'), doors.admin)).stderr).to.equal('');
    const [booked] = await rows(database(), 'SELECT told_cents, told_by FROM charges');
    expect(booked).to.deep.equal({ told_cents: 700, told_by: 'file' });
    // Now the file says nothing new.
    expect((await compare(await told('7.00'), doors.support)).stderr).to.equal('');
  });

  it('has the money of a line that would answer an open question, which nobody answers alone', async () => {
    const payout = await newPayout(database(), merchant);
    const transId = `ASKED${merchant.merchant_id}`;
    const at = new Date(Date.now() - 60_000).toISOString();
    await learn(database(), payout, succeeded({ transId, externalRef: null, completedAt: null }));
    const bring = async (rows: string[], more: string[] = []) => {
      writeFileSync(path, `${['trans_id,amount,completed_at,kind', ...rows].join('\n')}\n`);
      const file = ['--channel', '63902', '--file', path, ...DAYS, ...more];
      const { stdout, stderr } = await doors.run(
        ['reconcile', 'check', ...file, '--json'],
        doors.support,
      );
      expect(stderr).to.equal('');
      return JSON.parse(stdout).id as string;
    };
    const openOf = () =>
      rows<{ kind: string }>(
        database(),
        'SELECT kind FROM discrepancies WHERE payment_id = :id AND resolved_at IS NULL',
        payout,
      );
    const now = new Date().toISOString();
    const other = `OTHER${merchant.merchant_id},55.00,${now},payout`;
    const without = await bring([other], ['--covers', 'payout']);
    await compare(without, doors.admin);
    expect(await openOf()).to.deep.equal([{ kind: 'missing_at_gateway' }]);
    const alone = await compare(await bring([`${transId},100.00,${at},payout`]), doors.support);
    expect(alone.stderr).to.include('It is about KES 100.00, and you have brought the file');
    expect(await openOf()).to.have.length(1);
    await compare(await bring([`${transId},100.00,${at},payout`]), doors.admin);
    expect(await openOf()).to.deep.equal([]);
  });

  it('is shown with the first ten lines, as they are understood', async () => {
    const payout = await newPayout(database(), merchant);
    writeFileSync(
      path,
      [
        'Organization:,DUKA LTD,,,,',
        'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn',
        ...Array.from(
          { length: 11 },
          (_, index) =>
            `SKL2A${index},20-11-2026 13:00:00,Business Payment to 254712345678 - JANE. Original conversation ID is ${payout.reference},Completed,,"-1,100.50"`,
        ),
      ].join('\n'),
    );
    const days = ['--from', SO_FAR.from, '--to', SO_FAR.to];
    const check = ['reconcile', 'check', '--channel', '63902', '--file', path, ...days];
    const shown = await doors.run(check, doors.support);
    expect(shown.stderr).to.equal('');
    expect(shown.stdout)
      .to.match(/payout +SKL2A0 +[0-9a-f-]{36} +\+254\S*78 +1100\.50 +2026-11-20 13:00:00 EAT/)
      .and.include('SKL2A9')
      .and.not.include('SKL2A10')
      .and.not.include('254712345678');
    const wrong = await doors.run([...check, '--profile', 'paper'], doors.support);
    expect(wrong.stderr).to.include('one of m-pesa-portal, bank, own');
  });

  it('is refused for a file that has all lines before a moment to come', async () => {
    const count = async () => (await rows(database(), 'SELECT 1 FROM statement_imports')).length;
    const before = await count();
    const file = ['--channel', '63902', '--file', path, '--kind', 'payout', ...DAYS];
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const args = ['reconcile', 'check', ...file, '--complete-until', tomorrow];
    const { status, stderr } = await doors.run(args, doors.support);
    expect(status).to.not.equal(0);
    expect(stderr).to.include('before a moment that is still to come');
    expect(await count()).to.equal(before);
  });

  describe('is not measured for a file of another account, or by another clock:', () => {
    const countImports = async () =>
      (await rows(database(), 'SELECT 1 FROM statement_imports')).length;

    /** Brings a file of payouts, each with a receipt and a time in the file's own clock. */
    async function bring(payouts: readonly { receipt: string; at: string }[]) {
      const before = await countImports();
      const lines = payouts.map(({ receipt, at }) => `${receipt},100.00,${at}`);
      writeFileSync(path, `${['trans_id,amount,completed_at', ...lines].join('\n')}\n`);
      const file = ['--channel', '63902', '--file', path, '--kind', 'payout'];
      const days = ['--from', SO_FAR.from, '--to', SO_FAR.to, '--utc-offset', '+00:00'];
      const { stderr } = await doors.run(['reconcile', 'check', ...file, ...days], doors.support);
      return { stderr, isKept: (await countImports()) > before };
    }

    const clock = (n: number) => String(n * 15).padStart(2, '0');

    /** Payouts that the gateway has told of from 10:00 UTC on, each a quarter of an hour after the one before. */
    async function known(name: string, count: number): Promise<string[]> {
      const receipts = Array.from(
        { length: count },
        (_, n) => `${name}${merchant.merchant_id}${n}`,
      );
      for (const [n, transId] of receipts.entries()) {
        const payout = await newPayout(database(), merchant);
        const completedAt = new Date(`2026-11-20T10:${clock(n)}:00Z`);
        await learn(database(), payout, succeeded({ transId, externalRef: null, completedAt }));
      }
      return receipts;
    }

    it('most receipts that are known would have moved three hours later', async () => {
      const lines = (await known('CLOCK', 3)).map((receipt, n) => ({
        receipt,
        at: `2026-11-20 13:${clock(n)}:30`,
      }));
      const { stderr, isKept } = await bring([...lines, { receipt: 'NEW1', at: lines[0]!.at }]);
      expect(stderr).to.include(
        '3 of the 3 receipts that are known here moved 3 hours earlier than it says. Give its offset (utc-offset)',
      );
      expect(isKept).to.equal(false);
    });

    it('most lines are of other days, as where a spreadsheet has changed the order of day and month', async () => {
      const { stderr, isKept } = await bring([
        ...[{ receipt: 'DAYS1', at: '2020-01-12 10:00:00' }],
        ...[{ receipt: 'DAYS2', at: '2020-01-12 11:00:00' }],
        ...[{ receipt: 'DAYS3', at: '2026-11-20 11:00:00' }],
      ]);
      expect(stderr).to.include('2 of its 3 lines are of other days, such as 2020-01-12');
      expect(isKept).to.equal(false);
    });

    it('the time of a batch is no clock, nor is a day alone', async () => {
      const lines = (await known('BATCH', 4)).map((receipt, n) => ({
        receipt,
        at: `2026-11-${n % 2 === 0 ? '19' : '20'} 13:00:00`,
      }));
      expect(await bring(lines)).to.deep.equal({ stderr: '', isKept: true });
    });

    it('its receipts are booked at another account, and none at this one', async () => {
      const receipts = await known('ELSE', 2);
      const at = '2026-11-20 10:00:00';
      const move = "UPDATE movements SET gateway = 'simulator-2' WHERE trans_id = ANY (:receipts)";
      await rewrite(database(), move, { receipts });
      const lines = receipts.map((receipt) => ({ receipt, at }));
      const { stderr, isKept } = await bring(lines);
      expect(stderr).to.include(
        '2 of its receipts are booked at simulator-2, and none at simulator: it is the file of that account',
      );
      expect(isKept).to.equal(false);
      // One of this account makes it doubtful.
      const [own] = await known('HERE', 1);
      expect((await bring([...lines, { receipt: own!, at }])).isKept).to.equal(true);
    });

    it('a single odd row among right ones refuses nothing', async () => {
      const [odd, ...right] = await known('ROWS', 3);
      const rightRows = right.map((receipt) => ({ receipt, at: '2026-11-20 10:00:00' }));
      const { stderr, isKept } = await bring([
        { receipt: odd!, at: '2026-11-20 13:00:00' },
        ...rightRows,
      ]);
      expect({ stderr, isKept }).to.deep.equal({ stderr: '', isKept: true });
    });

    it('a row has a time that is still to come', async () => {
      const soon = new Date(Date.now() + 7_200_000).toISOString().slice(0, 19).replace('T', ' ');
      const { stderr, isKept } = await bring([{ receipt: 'SOON1', at: soon }]);
      expect(stderr).to.include('has the row SOON1 with a time that is still to come');
      expect(isKept).to.equal(false);
    });
  });

  it('is refused for days that have not begun: nothing could be compared', async () => {
    const [from, to] = [2, 3].map((days) => new Date(Date.now() + days * 86_400_000));
    const days = [
      '--from',
      from!.toISOString().slice(0, 10),
      '--to',
      to!.toISOString().slice(0, 10),
    ];
    const args = ['reconcile', 'check', '--channel', '63902', ...days];
    const { status, stderr } = await doors.run(args, doors.support);
    expect(status).to.not.equal(0);
    expect(stderr).to.match(/The first day, [0-9-]+, has not begun yet: days are UTC/);
  });

  it('does not hide what the statement leaves open: in words, and in the exit status of --strict', async () => {
    const payout = await newPayout(database(), merchant);
    const overdue = `UPDATE payouts SET deadline_at = now() - interval '1 hour' WHERE id = :id`;
    await rewrite(database(), overdue, { id: payout.id });
    const id = await stored([]);
    const args = ['reconcile', 'compare', id, '--strict', '--json'];
    const { status, stdout } = await agree(args, doors.admin);
    expect(status).to.equal(1);
    const [kinds, hours, ...more] = JSON.parse(stdout).not_covered;
    expect(kinds).to.equal(
      'It does not claim every collection and reversal: what it lacks of these was not looked for',
    );
    expect(hours).to.equal('Nobody said how far it is complete: no payment fails by it');
    expect(more.join()).to.match(/overdue payouts? stay undecided/);
    const browser = await doors.browserOf(doors.admin);
    expect((await browser.get(`/reconciliation/${id}`)).text)
      .to.include('What it does not cover')
      .and.include('Nobody said how far it is complete');
    const covering = ['--columns', 'kind=kind', '--covers', 'collection,payout,reversal'];
    const past = ['--from', '2020-01-01', '--to', '2020-01-01', '--utc-offset', '+03:00'];
    const until = ['--complete-until', '2020-01-02T00:00:00Z'];
    writeFileSync(path, 'reference,trans_id,account,amount,completed_at,kind\n');
    const file = ['--channel', '63902', '--file', path, ...covering, ...past, ...until];
    const whole = await doors.run(['reconcile', 'check', ...file, '--json'], doors.support);
    const strict = ['reconcile', 'compare', JSON.parse(whole.stdout).id, '--strict', '--json'];
    const done = await agree(strict, doors.admin);
    expect([done.status, JSON.parse(done.stdout).not_covered]).to.deep.equal([0, []]);
  });

  it('is agreed within an hour: an older draft is compared by nobody', async () => {
    const payout = await newPayout(database(), merchant);
    const id = await stored([payout.reference]);
    await rows(
      doors.test.testDatabase.owner,
      `UPDATE statement_imports
       SET imported_at = imported_at - :minutes * interval '1 minute' WHERE id = :id`,
      { id, minutes: DRAFT_MINUTES },
    );
    expect((await compare(id, doors.admin)).stderr).to.include('over 60 minutes ago');
    const browser = await doors.browserOf(doors.admin);
    expect((await browser.get(`/reconciliation/${id}`)).text)
      .to.include('not compared in time')
      .and.not.include('Compare and settle');
    expect(await statusOf(payout)).to.equal('pending');
  });

  it('waits for a day, and one member brings no more lines than a disk can take', async () => {
    const payout = await newPayout(database(), merchant);
    const old = await stored([payout.reference]);
    await rows(
      doors.test.testDatabase.owner,
      "UPDATE statement_imports SET imported_at = imported_at - interval '1 day' WHERE id = :old",
      { old },
    );
    const id = await stored([payout.reference]);
    const found = await rows<{ import_id: string }>(
      database(),
      'SELECT import_id FROM statement_lines WHERE import_id = ANY (:ids)',
      { ids: [old, id] },
    );
    expect(found).to.deep.equal([{ import_id: id }]);
    const room = (lines: number) =>
      inTransaction(database(), (trx) => makeRoomForDraft(trx, doors.support.email, lines));
    await room(100);
    expect((await rejection(room(500_000))).message).to.include('have over 500000 lines');
    await inTransaction(database(), (trx) => makeRoomForDraft(trx, doors.admin.email, 500_000));
  });

  it('has the booked movements that the file lacks: nobody prepares their undoing alone', async () => {
    const payouts = [await newPayout(database(), merchant), await newPayout(database(), merchant)];
    for (const [index, payout] of payouts.entries()) {
      const transId = `${payout.reference.slice(-9)}${index}`;
      await learn(database(), payout, succeeded({ transId, externalRef: null }));
    }
    const { missing, stake_cents } = await previewOf(
      await stored([payouts[0]!.reference], COMPLETE),
    );
    expect(missing).to.be.above(0);
    expect(stake_cents).to.equal(missing * 10_000);
    const id = await stored([payouts[0]!.reference], COMPLETE);
    expect((await compare(id, doors.support)).stderr).to.include('and you have brought the file');
    const open = () =>
      rows(database(), `SELECT FROM discrepancies WHERE payment_id = :id`, payouts[1]!);
    expect(await open()).to.have.length(0);
    expect((await compare(id, doors.admin)).stderr).to.equal('');
    expect(await open()).to.have.length(1);
  });

  it('keeps its rows of own money once somebody compares it', async () => {
    const facts = ',,1.00,2026-11-20T10:00:00Z';
    writeFileSync(
      path,
      `kind,reference,trans_id,account,amount,completed_at\npayout,OF-NOBODY,NEW1${facts}\nown,,SWEEP${facts}\n`,
    );
    const args = ['reconcile', 'check', '--channel', '63902', '--file', path, ...DAYS, '--json'];
    const { stdout, stderr } = await doors.run(args, doors.support);
    expect(stderr).to.equal('');
    const { id } = JSON.parse(stdout);
    const kept = () => rows(database(), `SELECT account FROM own_lines WHERE reference = 'SWEEP'`);
    expect(await previewOf(id)).to.include({ own_rows: 1 });
    expect(await kept()).to.deep.equal([]);
    expect((await compare(id, doors.support)).stderr).to.include('somebody else must compare it');
    expect(await kept()).to.deep.equal([]);
    expect((await compare(id, doors.admin)).stderr).to.equal('');
    expect(await kept()).to.deep.equal([{ account: 'simulator/utility' }]);
  });

  it('is agreed to with a fresh one-time password, at both doors', async () => {
    const payout = await newPayout(database(), merchant);
    const id = await stored([payout.reference]);
    const bare = await doors.run(['reconcile', 'compare', id, '--json'], doors.admin);
    expect(bare.stderr).to.include('one-time password that you have not used yet');
    const browser = await doors.browserOf(doors.admin);
    expect((await browser.get(`/reconciliation/${id}`)).text).to.include('name="otp"');
    const open = await browser.post(`/reconciliation/${id}/run`, { reason: 'Mine' });
    expect([open.status, await statusOf(payout)]).to.deep.equal([422, 'pending']);
    expect((await compare(id, doors.admin)).stderr).to.equal('');
    expect(await statusOf(payout)).to.equal('completed');
  });

  it('has its rows of own money: nobody explains alone why money is missing', async () => {
    writeFileSync(
      path,
      'kind,reference,trans_id,account,amount,completed_at\nown,,SWEEP2,,-400000.00,2026-11-20T10:00:00Z\n',
    );
    const args = ['reconcile', 'check', '--channel', '63902', '--file', path, ...DAYS, '--json'];
    const stored = async () => JSON.parse((await doors.run(args, doors.support)).stdout).id;
    const id = await stored();
    expect((await compare(id, doors.support)).stderr).to.include('somebody else must compare it');
    expect((await compare(id, doors.admin)).stderr).to.equal('');
    // What is known already says nothing new.
    expect((await compare(await stored(), doors.support)).stderr).to.equal('');
  });

  it('needs a second person for a complete file without a line of a kind that it covers', async () => {
    const id = await stored([], COMPLETE);
    expect((await compare(id, doors.support)).stderr).to.include(
      'It claims to have every payout, and has none. You have brought the file',
    );
    const done = await compare(id, doors.admin);
    expect([done.status, done.stderr]).to.deep.equal([0, '']);
    const silent = await stored([]);
    expect((await compare(silent, doors.support)).status).to.equal(0);
    const quiet = ['--from', '2026-10-01', '--to', '2026-10-02'];
    const other = await stored([], ['--complete-until', '2026-10-02'], quiet);
    expect((await previewOf(other)).stake_cents).to.equal(0);
    const subject = nameOfMember(doors.support.email);
    await inTransaction(doors.test.testDatabase.database, (trx) =>
      recordAudit(trx, {
        ...{ actor: doors.admin.email, action: 'staff.create', subject, reason: 'New' },
        ...{ merchant_id: null, details: {} },
      }),
    );
    expect((await compare(other, doors.admin)).stderr).to.include('are not two people');
  });
});
