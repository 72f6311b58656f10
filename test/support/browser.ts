import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

const QUIET = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** What a page complained about: errors of scripts, and what its policy has blocked. */
export interface WatchedPage {
  page: Page;
  complaints: string[];
}

/** Starts the machine's own Chromium. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findProgram('chromium')!, headless: true, args: QUIET });
}

/** Opens a page in a browser without cookies, as wide as a desk or a phone. */
export async function openPage(
  browser: Browser,
  options: { width?: number; colorScheme?: 'light' | 'dark' } = {},
): Promise<WatchedPage> {
  const { width = 1_400, colorScheme = 'light' } = options;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return { page, complaints };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What keeps people from using a page, by axe: its rule and the first place. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
