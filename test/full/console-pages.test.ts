import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type ConsoleVisitor, visitConsole } from '../../scripts/sandbox/console-visitor.ts';
import { type Program, startProgram } from '../../scripts/sandbox/processes/program.ts';
import type { SandboxStaff } from '../../scripts/sandbox/seed-staff.ts';
import { ROOT_FOLDER } from '../../scripts/sandbox/service-process.ts';
import { ROUTES, type RouteName } from '../../src/console/routes.ts';
import { openPage, startBrowser } from '../support/browser.ts';
import { expectSkipLink, flawsOf } from '../support/console-browser.ts';
import { type Crawl, crawlConsole } from '../support/console-crawler.ts';
import { environment } from '../support/environment.ts';
import { describeWith } from '../support/programs.ts';

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
/** The sandbox plays its demonstration first, and makes its trouble. */
const READY_TIMEOUT_MS = 180_000;
/** Where pictures of all pages go, for people to look at. */
const PICTURES = process.env.PICTURES;

describeWith(['chromium'], 'Every page of the console of the sandbox', function () {
  this.timeout(2 * READY_TIMEOUT_MS);

  let sandbox: Program;
  let content: { console_url: string; staff: SandboxStaff };
  let browser: Browser;
  let visitor: ConsoleVisitor;
  let crawl: Crawl;

  before(async () => {
    const said: string[] = [];
    sandbox = await startProgram({
      ...{ name: 'sandbox', command: process.execPath, cwd: ROOT_FOLDER, user: null },
      args: ['--import', 'tsx', 'scripts/sandbox/main.ts'],
      env: { ...process.env, PORT: '0', CONSOLE_PORT: '0', SIMULATOR_PORT: '0', DATABASE_URL: '' },
      ...{ reaper: environment.reaper, ready: /logs\s+\S+\/logs/ },
      readyTimeoutMs: READY_TIMEOUT_MS,
      onLine: (line) => said.push(line),
    });
    const file = /credentials\s+(\S+)/.exec(said.join('\n'))![1]!;
    content = JSON.parse(readFileSync(join(ROOT_FOLDER, file), 'utf8'));
    browser = await startBrowser();
    visitor = await visitConsole(content.console_url, content.staff);
    crawl = await crawlConsole(visitor);
  });

  after(async () => {
    await browser?.close();
    await sandbox?.stop();
  });

  it('is there, and is reached by links', () => {
    expect(crawl.broken).to.deep.equal([]);
    expect([...crawl.found.keys()]).to.include.members(pages());
  });

  it('shows something, fits phone and desk, and has no barriers in either theme', async () => {
    const { page, problems } = await openPage(browser, content.console_url);
    // A one-time password is good once, so the browser goes on with the visitor's session.
    const cookies = [...visitor.cookies].map(([name, value]) => ({ name, value }));
    await page.context().addCookies(cookies.map((each) => ({ ...each, url: content.console_url })));
    const flaws: string[] = [];
    for (const route of pages()) {
      const paths = (crawl.found.get(route) ?? []).slice(0, LOOKED_AT[route] ?? 1);
      for (const [index, path] of paths.entries()) {
        await page.goto(`${content.console_url}${path}`);
        await page.waitForLoadState('networkidle');
        for (const look of USUAL_LOOKS) {
          const found = await lookAt(page, look, `${route}-${index}`);
          flaws.push(
            ...found.map((flaw) => `${path} ${flaw} (${look.width}, ${look.colorScheme})`),
          );
        }
        await expectSkipLink(page, path);
      }
    }
    expect(flaws).to.deep.equal([]);
    expect(problems).to.deep.equal([]);
  });
});

/** The routes that answer with a page of their own, to somebody who is logged in. */
function pages(): RouteName[] {
  const others: RouteName[] = [
    'auditCsv',
    'paymentRevealed',
    'merchantRevealed',
    'webhookRevealed',
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
