import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { Closable } from '../../src/process/lifecycle.ts';
import { connectWorkers, PROCESS_TYPES, startWorkers } from '../../src/workers/start-workers.ts';
import { openPage, startBrowser } from '../support/browser.ts';
import { startTestConsole, type TestConsole } from '../support/console.ts';
import { expectSkipLink, flawsOf, openAsSupport } from '../support/console-browser.ts';
import { failedPayout } from '../support/failed-jobs.ts';
import { type FakeMerchant, startFakeMerchant } from '../support/fake-merchant.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { describeWith } from '../support/programs.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const PHONE = '+254712000678';
const REASON = 'The worker had a bug, which is mended';

describeWith(['chromium'], 'One payment in a browser', () => {
  let service: TestService;
  let shop: FakeMerchant;
  let console: TestConsole;
  let browser: Browser;
  let workers: Closable[] = [];

  before(async () => {
    service = await startTestService({ workers: [] });
    shop = await startFakeMerchant();
    console = await startTestConsole(service);
    browser = await startBrowser();
  });

  after(async () => {
    await browser?.close();
    await Promise.all(workers.map((part) => part.close()));
    await console?.close();
    await shop?.close();
    await service?.close();
  });

  it('takes a failed payout from the search by phone to its end, seen live', async () => {
    const merchant = await createTestMerchant(service);
    const { payout } = await failedPayout(service.database, merchant, {
      ...{ payto: PHONE, callback_url: shop.url },
    });
    const { page, problems } = await openAsSupport(browser, console);
    await page.keyboard.press('/');
    await page.keyboard.type('0712 000 678');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `payout ${payout.ref_no}` }).waitFor();
    const timeline = page.locator('.timeline');
    expect(await timeline.innerText()).to.match(/asked for it[\s\S]*A job failed for good/);
    expect(await page.content()).to.not.include(PHONE);

    await page.getByRole('link', { name: 'Replay' }).click();
    await page.getByText('no attempt has arrived, will send it').waitFor();
    await page.getByLabel('Reason').fill(REASON);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('heading', { name: `payout ${payout.ref_no}` }).waitFor();
    expect(await page.getByRole('status').innerText()).to.match(/^Failed job \d+ is replayed\.$/);
    // Survives a page that is loaded again, and not one that only refreshes its parts.
    await page.evaluate('window.wasNotReloaded = true');
    expect(await timeline.innerText()).to.include(REASON);
    workers = startWorkers(service, await connectWorkers(service), PROCESS_TYPES);
    await page.locator('h1').getByText('completed').waitFor();
    await page.locator('#poller').waitFor({ state: 'detached' });
    expect(await page.evaluate('window.wasNotReloaded')).to.equal(true);
    expect(await timeline.innerText()).to.match(
      /processing → completed[\s\S]*Attempt 1 of the webhook: 200/,
    );
    expect(await page.locator('#summary').innerText()).to.include('Your receiver took our webhook');
    expect(shop.webhooksFor(payout.ref_no)).to.have.length(1);
    expect(problems).to.deep.equal([]);
    await expectSoundLedger(service.database);
  });

  it('is logged in to from a phone, without barriers', async () => {
    const options = { viewport: { width: 390, height: 844 } };
    for (const colorScheme of ['light', 'dark'] as const) {
      const all = { ...options, colorScheme };
      const { page, problems } = await openPage(browser, console.origin, all);
      for (const path of ['/log-in', '/password']) {
        await page.goto(`${console.origin}${path}`);
        await expectSkipLink(page, path);
        expect(await flawsOf(page), path).to.deep.equal([]);
      }
      expect(problems).to.deep.equal([]);
    }
  });
});
