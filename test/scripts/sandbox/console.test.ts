import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ConsoleVisitor, visitConsole } from '../../../scripts/sandbox/console-visitor.ts';
import { seedStaff } from '../../../scripts/sandbox/seed-staff.ts';
import { openDatabase, rows } from '../../../src/connections/database.ts';
import { navigationFor, ROUTES, type RouteName } from '../../../src/console/routes.ts';
import type { Payout } from '../../../src/domain/payments/kinds.ts';
import { loadConfig } from '../../../src/service/service.ts';
import { openPage, startBrowser } from '../../support/browser.ts';
import { expectSkipLink, flawsOf } from '../../support/console-browser.ts';
import { type Crawl, crawlConsole } from '../../support/console-crawler.ts';
import { eventually } from '../../support/eventually.ts';
import { expectSoundLedger } from '../../support/ledger-check.ts';
import { describeWith } from '../../support/programs.ts';
import { lineOf, runStatement } from '../../support/statements.ts';
import { startTestSandbox, type TestSandbox } from '../../support/test-sandbox.ts';
import { otpOf } from '../../support/totp.ts';

/** What each page of the navigation shows of the trouble. The search shows nothing unasked. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  '/': ['3 in submission-simulator', '2 in submission-simulator', 'unknown_movement'],
  '/search?q=shida': ['Shida Traders'],
  '/waiting': ['shida-overdue', 'shida-half', 'shida-stuck-1'],
  '/failed-jobs': ['shida-stuck-1', 'shida-stuck-3', 'shida-unsent-1', 'shida-unsent-2'],
  '/bulk-replays': ['>done<'],
  '/discrepancies': ['shida-overdue', 'shida-half', 'shida-refunded', 'KES 2,300.00'],
  '/suspense': ['KES 450.00', 'KES 120,000.00'],
  '/balances': ['charges', 'KES -22.40'],
  '/approvals': ['Top up', 'KES 250,000.00'],
  '/reconciliation': ['channel 63903', 'breaks: 1'],
  '/channels': ['Airtel Money', 'Pause'],
  '/merchants': ['Shida Traders'],
  '/webhook-endpoints': ['>held<', '>working<', 'ECONNREFUSED'],
  '/security-events': ['log_in_failed', 'log_in'],
  '/audit': ['channel.pause', 'channel.resume', 'wallet.topup', 'jobs.replay', 'reconcile.run'],
};

/** Pages of one route that look different from each other. */
const LOOKED_AT: Partial<Record<RouteName, number>> = { payment: 5, discrepancy: 5 };
/** Each looked at in the other order too, by `LOOKS=all`. */
const LOOKS = [
  { colorScheme: 'light', width: 390, height: 844 },
  { colorScheme: 'dark', width: 1400, height: 900 },
  { colorScheme: 'dark', width: 390, height: 844 },
  { colorScheme: 'light', width: 1400, height: 900 },
] as const;
const USUAL_LOOKS = process.env.LOOKS === 'all' ? LOOKS : LOOKS.slice(0, 2);
/** Where pictures of all pages go, for people to look at. */
const PICTURES = process.env.PICTURES;

describe('The console of the sandbox', () => {
  let sandbox: TestSandbox;
  let admin: ConsoleVisitor;

  before(async function () {
    this.timeout(0);
    sandbox = await startTestSandbox();
    admin = await visitConsole(sandbox.console_url, sandbox.staff);
  });

  after(() => sandbox?.stop());

  const textOf = async (path: string) => (await admin.read(path)).text();

  /** Only what support has told about a payment can be doubted. */
  async function acceptAmount(ref_no: string): Promise<void> {
    const { headers } = await admin.read(`/search?q=${ref_no}`);
    const page = await textOf(headers.get('location')!);
    const discrepancy = /"(\/discrepancies\/[0-9a-f-]{36})/.exec(page)![1];
    const fields = { as: 'accept-amount', reason: 'The customer paid this much' };
    await admin.submit(`${discrepancy}/decide?as=accept-amount`, fields);
  }

  it('has something for every page of the console', async () => {
    const paths = Object.keys(SHOWN).map((path) => path.split('?')[0]);
    expect(paths).to.include.members(navigationFor('admin').map(({ path }) => path));
    for (const [path, rows] of Object.entries(SHOWN)) {
      const page = await textOf(path);
      for (const row of rows) expect(page, path).to.include(row);
    }
  });

  it('has somebody of each role, and two of them have been at work', async () => {
    const { console_url, more_staff } = sandbox;
    expect(more_staff.map(({ role }) => role)).to.have.members(['admin', 'support', 'viewer']);
    const viewer = more_staff.find(({ role }) => role === 'viewer')!;
    const browser = await visitConsole(console_url, viewer);
    expect(await (await browser.read('/discrepancies')).text()).to.include('shida-overdue');
    const audit = await textOf('/audit');
    for (const role of ['admin', 'support']) {
      expect(audit).to.include(more_staff.find((member) => member.role === role)!.email);
    }
  });

  it('has no channel that is paused, so that all of them can be tried', async () => {
    expect(await textOf('/channels')).not.to.include('paused:');
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
    const otp = otpOf(sandbox.staff.totp_secret, 1);
    await admin.submit(path, { as: 'approved', reason: 'The bank has confirmed it', otp });
    expect(await textOf('/approvals')).to.include('approved');
  });

  it('has sound books', async () => {
    const database = openDatabase(sandbox.database_url, 1, 'malipo-test');
    try {
      await expectSoundLedger(database);
    } finally {
      await database.destroy();
    }
  });

  /** One person may look up only so much within a minute, and a crawl takes almost all of it. */
  async function visitAsAnother(): Promise<ConsoleVisitor> {
    const config = loadConfig({ DATABASE_URL: sandbox.database_url });
    const database = openDatabase(config, 1, 'malipo-test');
    try {
      const another = await seedStaff(database, config.secretsKeys);
      return await visitConsole(sandbox.console_url, another);
    } finally {
      await database.destroy();
    }
  }

  /** Only a row that may bring several payments back can be assigned to one. */
  async function listMoneyBack(): Promise<void> {
    const database = openDatabase(sandbox.database_url, 1, 'malipo-test');
    try {
      const [payout] = await rows<Payout>(
        database,
        `SELECT * FROM payouts WHERE status = 'completed' AND gateway = 'simulator' LIMIT 1`,
      );
      const line = lineOf({ ...payout!, kind: 'payout' }, { kind: 'reversal', account: null });
      const isBack = { hasComeBack: true, isUndecided: true, completedAt: new Date() } as const;
      const day = isBack.completedAt.toISOString().slice(0, 10);
      const row = { ...line, ...isBack, reference: null };
      await runStatement(database, [row], { from: day, to: day }, { covers: [] }, 'back.csv');
    } finally {
      await database.destroy();
    }
  }

  describe('has pages', () => {
    let crawl: Crawl;

    before(async () => {
      // Only a channel that is paused leads to the page that resumes it.
      await admin.submit('/channels/68/pause', { reason: 'The bank maintains its systems' });
      await acceptAmount('shida-half');
      await listMoneyBack();
      crawl = await crawlConsole(admin);
    });

    it('that are all reached by links', () => {
      expect(crawl.broken).to.deep.equal([]);
      expect([...crawl.found.keys()]).to.include.members(pages());
    });

    describeWith(['chromium'], 'in a browser', () => {
      it('that fit phone and desk, and have no barriers in either theme', async function () {
        this.timeout(0);
        const visitor = await visitAsAnother();
        expect(await flawsOfPages(sandbox.console_url, visitor, crawl)).to.deep.equal([]);
      });
    });
  });
});

/** What is wrong with any page in any of its looks. */
async function flawsOfPages(
  origin: string,
  { cookies }: ConsoleVisitor,
  { found }: Crawl,
): Promise<string[]> {
  const browser = await startBrowser();
  try {
    const { page, problems } = await openPage(browser, origin);
    // A one-time password is good once, so the browser goes on with the visitor's session.
    const session = [...cookies].map(([name, value]) => ({ name, value, url: origin }));
    await page.context().addCookies(session);
    const flaws: string[] = [];
    for (const route of pages()) {
      const paths = (found.get(route) ?? []).slice(0, LOOKED_AT[route] ?? 1);
      for (const [index, path] of paths.entries()) {
        await page.goto(`${origin}${path}`);
        await page.waitForLoadState('networkidle');
        for (const look of USUAL_LOOKS) {
          const seen = await lookAt(page, look, `${route}-${index}`);
          flaws.push(...seen.map((flaw) => `${path} ${flaw} (${look.width}, ${look.colorScheme})`));
        }
        await expectSkipLink(page, path);
      }
    }
    // The page of something that is not possible now has this status.
    return [...flaws, ...problems.filter((line) => !line.includes('status of 422'))];
  } finally {
    await browser.close();
  }
}

/** The routes that answer with a page of their own, to somebody who is logged in. */
function pages(): RouteName[] {
  const others: RouteName[] = [
    'auditCsv',
    'paymentRevealed',
    'merchantRevealed',
    'webhookRevealed',
    // Only a gateway that can be asked about a receipt leads to it, and the simulator cannot.
    'paymentAskReceiptForm',
  ];
  return (Object.keys(ROUTES) as RouteName[]).filter((name) => {
    const { method, role, ...rest } = ROUTES[name];
    const isOpen = role === 'anyone' || role === 'password';
    return method === 'get' && !isOpen && !('isPart' in rest) && !others.includes(name);
  });
}

async function lookAt(page: Page, look: (typeof LOOKS)[number], name: string): Promise<string[]> {
  const { colorScheme, width, height } = look;
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height });
  if (PICTURES) {
    mkdirSync(PICTURES, { recursive: true });
    const file = join(PICTURES, `${name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path: file, fullPage: true });
  }
  return flawsOf(page);
}
