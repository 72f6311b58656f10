import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../support/browser.ts';
import { startTestConsole, type TestConsole } from '../support/console.ts';
import { openAsSupport } from '../support/console-browser.ts';
import { discrepancyOf, makeOverdue } from '../support/discrepancies/scene.ts';
import { failedPayout, startBulkReplays } from '../support/failed-jobs.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { outboxOf, reread } from '../support/payments.ts';
import { describeWith } from '../support/programs.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { otpOf } from '../support/totp.ts';

/** The payouts of these tests are larger, so a decision about one needs a second person. */
const LIMIT_CENTS = 5_000;
const JOBS = 6;

describeWith(['chromium'], 'Many payments, and two people, in a browser', () => {
  let own: TestConsole;
  let console: TestConsole;
  let browser: Browser;
  let stopLoop: (() => Promise<void>) | undefined;

  before(async () => {
    own = await startTestConsole();
    const config = { ...own.service.config, staffApprovalLimit: LIMIT_CENTS };
    console = await startTestConsole({ ...own.service, config, owner: own.testDatabase.owner });
    browser = await startBrowser();
  });

  after(async () => {
    await browser?.close();
    await stopLoop?.();
    await console?.close();
    await own?.close();
  });

  afterEach(() => expectSoundLedger(own.service.database));

  /** Replays all failed jobs of the merchant from the page of failed jobs, one in a second. */
  async function replayAll(page: Page, merchantId: number, reason: string): Promise<void> {
    await page.getByRole('link', { name: 'Failed jobs', exact: true }).click();
    await page.getByLabel('Merchant').fill(String(merchantId));
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Replay all that match …' }).click();
    await page.getByLabel('Jobs per second').fill('1');
    // What is typed is not what was foreseen.
    expect(await page.getByRole('button', { name: 'First see' }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'See what it would do', exact: true }).click();
    await page.getByText('It replays 1 per second').waitFor();
    await page.getByLabel('Reason').fill(reason);
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('heading', { name: 'Replay of many jobs' }).waitFor();
  }

  it('shows a replay go on, and stops it with a reason', async () => {
    const { database } = own.service;
    const merchant = await createTestMerchant(own.service);
    const payouts: string[] = [];
    for (let made = 0; made < JOBS; made += 1) {
      payouts.push((await failedPayout(database, merchant)).payout.id);
    }
    const { page, problems, member } = await openAsSupport(browser, console);
    await replayAll(page, merchant.merchant_id, 'The worker is mended');
    const progress = page.locator('#progress');
    expect(await progress.innerText()).to.include('0 replayed');
    // Survives a page that is loaded again, and not one that only refreshes its parts.
    await page.evaluate('window.wasNotReloaded = true');
    stopLoop = startBulkReplays(console.service.database);
    await progress.getByText(/[1-5] replayed/).waitFor();
    expect(await page.evaluate('window.wasNotReloaded')).to.equal(true);
    await page.getByLabel('Reason').fill('One of them looks wrong');
    await page.getByRole('button', { name: 'Stop' }).click();
    await progress.getByText(`${member.email} has stopped it`).waitFor();
    const replayed = Number(/(\d+) replayed/.exec(await progress.innerText())![1]);
    const sent = await Promise.all(payouts.map((id) => outboxOf(database, id)));
    expect(sent.flat()).to.have.length(replayed);
    expect(replayed).to.be.within(1, JOBS - 1);

    // The rest is replayed by another one, to its end.
    await replayAll(page, merchant.merchant_id, 'It was right');
    await progress.getByText('done').waitFor();
    expect(await progress.innerText()).to.include(`${JOBS - replayed} replayed, 0 refused`);
    const all = await Promise.all(payouts.map((id) => outboxOf(database, id)));
    expect(all.map((rows) => rows.length)).to.deep.equal(payouts.map(() => 1));
    expect(problems).to.deep.equal([]);
  });

  it('resolves a discrepancy when a second person agrees', async () => {
    const { database } = own.service;
    const scene = { database, merchant: await createTestMerchant(own.service) };
    const payout = await makeOverdue(scene, await newPayout(database, scene.merchant));
    const { id } = await discrepancyOf(scene, 'overdue');
    const [first, second] = [
      await openAsSupport(browser, console),
      await openAsSupport(browser, console),
    ];
    await first.page.goto(`${console.origin}/discrepancies/${id}`);
    await first.page.getByRole('radio', { name: '(failed)' }).check();
    await first.page.getByRole('button', { name: 'See what will happen' }).click();
    await first.page.getByText('somebody else must approve it').waitFor();
    await first.page.getByLabel('Reason').fill('The bank says no');
    await first.page.getByRole('button', { name: 'Ask for approval' }).click();
    await first.page.getByText('somebody else must approve it').waitFor();
    expect(await first.page.getByRole('radio').count()).to.equal(0);
    expect((await reread(database, payout)).status).to.equal('pending');

    await second.page.getByRole('link', { name: 'Approvals' }).click();
    await second.page.getByRole('link', { name: id }).click();
    await second.page.getByText('The payment goes from pending to failed.').waitFor();
    await second.page.getByText('The bank says no').waitFor();
    await second.page.getByRole('radio', { name: 'Approve' }).check();
    await second.page.getByLabel('Reason').fill('I asked them too');
    // The log-in has used up the one of this half minute.
    await second.page.getByLabel('One-time password').fill(otpOf(second.member.secret!, 1));
    await second.page.getByRole('button', { name: 'Decide' }).click();
    await second.page.getByText('This is decided').waitFor();
    expect((await reread(database, payout)).status).to.equal('failed');

    await first.page.goto(`${console.origin}/discrepancies/${id}`);
    await first.page.getByText(`Resolved as failed by ${first.member.email}`).waitFor();
    expect([...first.problems, ...second.problems]).to.deep.equal([]);
  });
});
