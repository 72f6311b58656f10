import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { latestProofs } from '../../src/domain/gateway-accounts/balances.ts';
import { makeFolder } from '../support/make-folder.ts';
import { type Doors, nextOtp, openDoors } from './doors.ts';

describe('A statement of the bank', () => {
  let doors: Doors;
  let path: string;

  before(async () => {
    doors = await openDoors();
    path = join(makeFolder('bank'), 'bank.csv');
    const head = 'Transaction Reference,Transaction Date,Narrative,Debit,Credit,Balance';
    writeFileSync(path, `${head}\nFT1,2026-11-20 10:00:00,In,,1.00,5.00\n`);
  });

  after(() => doors.close());

  const database = () => doors.test.testDatabase.database;
  const kept = async () => [
    await rows(database(), 'SELECT account, reference, amount_cents FROM own_lines'),
    (await latestProofs(database())).map(({ gateway, told_cents }) => ({ gateway, told_cents })),
  ];

  it('is kept, and proves its balance, once a second member has approved it', async () => {
    const args = ['ledger', 'bank-statement', path, '--utc-offset', '+03:00'];
    const seen = await doors.run(args, doors.support);
    expect(seen.stdout).to.include('nothing is kept');
    const until = ['--complete-until', new Date().toISOString()];
    const asked = await doors.run([...args, '--keep', ...until, '--json'], doors.support);
    expect([asked.status, asked.stderr]).to.deep.equal([0, '']);
    expect(await kept()).to.deep.equal([[], []]);
    const { approval } = JSON.parse(asked.stdout);
    const [request] = await rows<{ preview: string }>(database(), 'SELECT preview FROM approvals');
    expect(request!.preview)
      .to.include('1 row of "bank.csv"')
      .and.include('The file has all rows before')
      .and.include('FT1')
      .and.include('KES 5.00');
    const approve = (member: typeof doors.admin) =>
      doors.run(['approval', 'approve', approval, '--otp', nextOtp(member)], member);
    expect((await approve(doors.support)).stderr).to.include('somebody else must decide');
    expect((await approve(doors.admin)).stderr).to.equal('');
    expect(await kept()).to.deep.equal([
      [{ account: 'bank', reference: 'FT1', amount_cents: 100 }],
      [{ gateway: 'bank', told_cents: 500 }],
    ]);
  });

  it('writes no line of its own into what the second member reads', async () => {
    const forged = join(makeFolder('forged'), 'forged.csv');
    writeFileSync(forged, readFileSync(path, 'utf8').replace('FT1', '"FT9 with KES 1.00.\nFT1"'));
    const args = ['ledger', 'bank-statement', forged, '--utc-offset', '+03:00', '--keep', '--json'];
    const { approval } = JSON.parse((await doors.run(args, doors.support)).stdout);
    const [request] = await rows<{ preview: string }>(
      database(),
      'SELECT preview FROM approvals WHERE id = :approval',
      { approval },
    );
    const [first, ...others] = request!.preview.split('\n');
    expect(first).to.include('The newest is "FT9 with KES 1.00.\\nFT1" of');
    expect(others).to.deep.equal([
      'KES 1.00 come in, and KES 0.00 go out. The largest row is "FT9 with KES 1.00.\\nFT1" of KES 1.00.',
      'The balance before the oldest row was KES 4.00.',
      'The rows of the statement are compared with the books. Nothing is booked.',
    ]);
  });

  it('shows the second member the largest row, and balances that do not follow', async () => {
    const head = 'Transaction Reference,Transaction Date,Narrative,Debit,Credit,Balance';
    const at = (minute: number) => `2026-11-20 10:0${minute}:00`;
    const rows = [`G1,${at(1)},In,,1.00,5.00`, `G2,${at(3)},In,,1.00,6.00`];
    const ghost = `GHOST,${at(2)},In,,900000.00,5.00`;
    const shown = async (name: string, lines: string[]) => {
      const path = join(makeFolder('ghost'), `${name}.csv`);
      writeFileSync(path, `${[head, ...lines].join('\n')}\n`);
      const args = ['ledger', 'bank-statement', path, '--utc-offset', '+03:00', '--keep', '--json'];
      return JSON.parse((await doors.run(args, doors.support)).stdout).preview.join(' ');
    };
    expect(await shown('forged', [rows[0]!, ghost, rows[1]!]))
      .to.include('The largest row is "GHOST" of KES 900,000.00')
      .and.include('1 balance of it does not follow');
    const bare = ghost.replace(/5\.00$/, '');
    expect(await shown('without-balance', [rows[0]!, bare, rows[1]!])).to.include(
      '1 row of it has no balance, KES 900,000.00 in all',
    );
    expect(await shown('old-first', rows)).not.to.include('not follow');
    expect(await shown('new-first', rows.toReversed())).not.to.include('not follow');
  });

  it('is read once: a pipe cannot show another statement than it asks for', async () => {
    const folder = makeFolder('pipe');
    const [shown, pipe] = [join(folder, 'shown.csv'), join(folder, 'bank.csv')];
    writeFileSync(shown, readFileSync(path, 'utf8').replaceAll('FT1', 'FT2'));
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', [
      '-c',
      'cat "$0" > "$2"; sleep 1; cat "$1" > "$2"',
      path,
      shown,
      pipe,
    ]);
    const args = ['ledger', 'bank-statement', pipe, '--utc-offset', '+03:00', '--keep', '--json'];
    const asked = await doors.run(args, doors.support);
    writer.kill();
    const { approval } = JSON.parse(asked.stdout);
    const [request] = await rows<{ preview: string; payload: object }>(
      database(),
      'SELECT preview, payload FROM approvals WHERE id = :approval',
      { approval },
    );
    expect(request!.preview).to.include('The newest is "FT1"');
    expect(JSON.stringify(request!.payload)).to.include('FT1').and.not.include('FT2');
  });
});
