import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openPage, seriousFindings, type WatchedPage } from './browser.ts';
import { newMember, type TestConsole, type TestMember } from './console.ts';
import { otpOf } from './totp.ts';

/** Logs a member in, as a person does. */
export async function logInAs(page: Page, origin: string, member: TestMember): Promise<void> {
  await page.goto(origin);
  await page.getByLabel('E-mail address').fill(member.email);
  await page.getByLabel('Password').fill(member.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  if (member.secret !== null) {
    await page.getByLabel('One-time password').fill(otpOf(member.secret));
    await page.getByRole('button', { name: 'Log in' }).click();
  }
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}

/** A browser of somebody's own, with a new member of support logged in. */
export async function openAsSupport(
  browser: Browser,
  test: TestConsole,
  options: BrowserContextOptions = {},
): Promise<WatchedPage & { member: TestMember }> {
  const member = await newMember(test, 'support');
  const opened = await openPage(browser, test.origin, options);
  await logInAs(opened.page, test.origin, member);
  return { ...opened, member };
}

/** Returns what is wrong with a page: it does not fit its window, or axe finds a serious barrier. */
export async function flawsOf(page: Page): Promise<string[]> {
  const overflow = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  const isWider = overflow > 0 ? [`is ${overflow} px wider than its window`] : [];
  return [...isWider, ...(await seriousFindings(page))];
}

/** On a new page the first key leads past the menu. */
export async function expectSkipLink(page: Page, where: string): Promise<void> {
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.className'), where).to.equal('skip');
}
