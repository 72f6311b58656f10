import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type ConsoleVisitor, visitConsole } from '../../../scripts/sandbox/console-visitor.ts';
import { type Program, startProgram } from '../../../scripts/sandbox/processes/program.ts';
import type { SandboxStaff } from '../../../scripts/sandbox/seed-staff.ts';
import { ROOT_FOLDER } from '../../../scripts/sandbox/service-process.ts';
import { openDatabase } from '../../../src/connections/database.ts';
import { navigationFor } from '../../../src/console/routes.ts';
import { environment } from '../../support/environment.ts';
import { eventually } from '../../support/eventually.ts';
import { expectSoundLedger } from '../../support/ledger-check.ts';

/** What each page of the navigation shows of the trouble. The search shows nothing unasked. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  '/': ['3 in submission-simulator', '2 in submission-simulator', 'unknown_movement'],
  '/search?q=shida': ['Shida Traders'],
  '/failed-jobs': ['shida-stuck-1', 'shida-stuck-3', 'shida-unsent-1', 'shida-unsent-2'],
  '/bulk-replays': ['>done<'],
  '/discrepancies': ['shida-overdue', 'shida-half', 'shida-refunded', 'KES 2,300.00'],
  '/suspense': ['KES 450.00', 'KES 120,000.00'],
  '/approvals': ['wallet.topup', 'KES 250,000.00'],
  '/reconciliation': ['channel 63903', 'breaks: 1'],
  '/channels': ['Airtel Money', 'Pause'],
  '/merchants': ['Shida Traders'],
  '/webhook-endpoints': ['>held<', '>working<', 'ECONNREFUSED'],
  '/security-events': ['log_in_failed', 'log_in'],
  '/audit': ['channel.pause', 'channel.resume', 'wallet.topup', 'jobs.replay', 'reconcile.run'],
};

/** For a start and a demonstration on a machine that runs other tests. */
const START_MS = 180_000;

interface Published {
  console_url: string;
  database_url: string;
  staff: SandboxStaff;
  more_staff: SandboxStaff[];
}

describe('The trouble of the sandbox', () => {
  let sandbox: Program;
  let published: Published;
  let admin: ConsoleVisitor;

  before(async function () {
    this.timeout(START_MS);
    let said = '';
    sandbox = await startProgram({
      ...{ name: 'sandbox', cwd: ROOT_FOLDER, reaper: environment.reaper },
      env: { PATH: process.env.PATH, PORT: '0', CONSOLE_PORT: '0', SIMULATOR_PORT: '0' },
      ...{ command: process.execPath, args: ['--import', 'tsx', 'scripts/sandbox/main.ts'] },
      ready: /^Malipo sandbox/,
      onLine: (line) => {
        said += `${line}\n`;
      },
    });
    const file = await Promise.race([
      eventually('the start', async () => /^ {2}credentials +(\S+)/m.exec(said)?.[1], START_MS),
      sandbox.exited.then((how) => {
        throw new Error(`The sandbox ended with ${how}: ${said}`);
      }),
    ]);
    published = JSON.parse(readFileSync(`${ROOT_FOLDER}/${file}`, 'utf8'));
    admin = await visitConsole(published.console_url, published.staff);
  });

  after(() => sandbox?.stop());

  const textOf = async (path: string) => (await admin.read(path)).text();

  it('has something for every page of the console', async () => {
    const paths = Object.keys(SHOWN).map((path) => path.split('?')[0]);
    expect(paths).to.include.members(navigationFor('admin').map(({ path }) => path));
    for (const [path, rows] of Object.entries(SHOWN)) {
      const page = await textOf(path);
      for (const row of rows) expect(page, path).to.include(row);
    }
  });

  it('has somebody of each role, and two of them have been at work', async () => {
    const { console_url, more_staff } = published;
    expect(more_staff.map(({ role }) => role)).to.have.members(['admin', 'support', 'viewer']);
    const viewer = more_staff.find(({ role }) => role === 'viewer')!;
    const browser = await visitConsole(console_url, viewer);
    expect(await (await browser.read('/discrepancies')).text()).to.include('shida-overdue');
    const audit = await textOf('/audit');
    for (const role of ['admin', 'support']) {
      expect(audit).to.include(more_staff.find((member) => member.role === role)!.email);
    }
  });

  it('has payments that complete once their jobs are replayed, found by their phones', async () => {
    for (const phone of ['0733000301', '0733000304']) {
      const { headers } = await admin.read(`/search?q=${phone}`);
      const payment = headers.get('location')!;
      const replay = new RegExp(`${payment}/replay/\\d+`).exec(await textOf(payment))![0];
      await admin.submit(replay, { reason: 'The bug is mended' });
      await eventually('the end of a replayed payment', async () =>
        (await textOf(payment)).includes('>completed<'),
      );
    }
  });

  it('has a top-up that another admin has asked for, and that this one may approve', async () => {
    const path = /href="(\/approvals\/[^"]+)"/.exec(await textOf('/approvals'))![1]!;
    await admin.submit(path, { as: 'approved', reason: 'The bank has confirmed it' });
    expect(await textOf('/approvals')).to.include('approved');
  });

  it('leaves the books sound', async () => {
    const database = openDatabase(published.database_url, 1, 'malipo-test');
    try {
      await expectSoundLedger(database);
    } finally {
      await database.destroy();
    }
  });
});
