import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** Starts the browser of this machine. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findProgram('chromium') ?? 'chromium', args: FLAGS });
}

/** How long a page may take to show what a test waits for, while other tests need the machine. */
const PAGE_TIMEOUT_MS = 240_000;

/** A page, and what must not happen on it. */
export interface WatchedPage {
  page: Page;
  /** Errors of scripts, and what the console shows as an error: refused loads among them. */
  problems: string[];
  /** The origins that were asked. */
  origins: Set<string>;
}

/** Opens a page of its own context, at this address. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  const origins = new Set<string>();
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const { pathname } = new URL(message.location().url || 'about:blank');
    problems.push(`${message.text()} ${pathname}`);
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') origins.add(origin);
  });
  await page.goto(url);
  return { page, problems, origins };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns what axe finds that is serious or critical: each rule with an element that breaks it. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate<Violation[]>('axe.run().then((run) => run.violations)');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}
