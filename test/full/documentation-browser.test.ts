import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openPage, seriousFindings, startBrowser, type WatchedPage } from '../support/browser.ts';
import { describeWith } from '../support/programs.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const WIDE = { width: 1400, height: 900 };
const NARROW = { width: 390, height: 844 };
const PAYOUT = '#tag/payouts/POST/payouts/initiate';

describeWith(['chromium'], 'The documentation in a browser', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const opened: WatchedPage[] = [];

  before(async () => {
    service = await startTestService({ workers: [] });
    merchant = await createTestMerchant(service);
    browser = await startBrowser();
  });

  after(async () => {
    await browser?.close();
    await service?.close();
  });

  // Whatever was done on a page: it asked nobody else, and broke no rule of its policy.
  afterEach(async () => {
    for (const { page, problems, origins } of opened.splice(0)) {
      await page.context().close();
      expect(problems).to.deep.equal([]);
      expect([...origins]).to.deep.equal([service.origin]);
    }
  });

  async function open(path: string, options: Parameters<typeof openPage>[2]): Promise<Page> {
    const watched = await openPage(browser, `${service.origin}${path}`, options);
    opened.push(watched);
    return watched.page;
  }

  /** Opens the reference and waits until this heading of it is drawn. */
  async function openReference(heading: string, options = {}, hash = ''): Promise<Page> {
    const page = await open(`/docs${hash}`, { viewport: WIDE, ...options });
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
    return page;
  }

  it('finds a field of a request', async () => {
    const page = await openReference('Malipo API');
    await page.getByRole('button', { name: /Search/ }).click();
    await page.getByRole('textbox').or(page.getByRole('combobox')).last().fill('account_number');
    await page
      .getByRole('option', { name: /Charge a customer/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Charge a customer', exact: true }).waitFor();
    expect(page.url()).to.include('/collections/checkouts/initiate');
  });

  it('sends a request to this server, with a token', async () => {
    const page = await openReference('Malipo API');
    await page.getByPlaceholder('Token').first().fill(merchant.access);
    await page
      .getByRole('button', { name: /Wallets/ })
      .first()
      .click();
    await page
      .getByRole('button', { name: /Get the balances of both wallets/ })
      .first()
      .click();
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const answered = page.waitForResponse(`${service.baseUrl}/wallets/balance`);
    await dialog.getByRole('button', { name: /Send/ }).first().click();
    expect((await answered).status()).to.equal(200);
    await dialog.getByText('payout_wallet_balance').first().waitFor();
  });

  it('copies a sample', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await openReference('Pay a recipient', { permissions }, PAYOUT);
    const sample = page.locator('.scalar-code-block:has-text("curl -sS")').first();
    await sample.hover();
    await sample.getByRole('button', { name: 'Copy' }).click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied)
      .to.match(/^curl -sS --max-time 30 '.*\/payouts\/initiate'/)
      .and.include('"payto"');
  });

  it('has the list of guides beside a guide, and folded above it on a phone', async () => {
    const other = { name: 'Test numbers', exact: true };
    const wide = await open('/docs/guides/webhooks', { viewport: WIDE });
    await wide.getByRole('link', other).waitFor();
    const narrow = await open('/docs/guides/webhooks', { viewport: NARROW });
    expect(await narrow.getByRole('link', other).isVisible()).to.equal(false);
    await narrow.getByText('All guides').click();
    await narrow.getByRole('link', other).click();
    await narrow.getByRole('heading', other).waitFor();
  });

  for (const viewport of [WIDE, NARROW]) {
    it(`is searched from every page, and leads to a request of the reference: ${viewport.width} px`, async () => {
      for (const path of ['/docs/guides/webhooks', '/docs']) {
        const page = await open(path, { viewport });
        const box = page.getByRole('searchbox', { name: 'Search the documentation' });
        await box.fill('account_number');
        await box.press('Enter');
        await page.getByRole('heading', { name: 'Search', exact: true }).waitFor();
        expect(await box.inputValue()).to.equal('account_number');
        await page.getByRole('link', { name: 'Charge a customer', exact: true }).click();
        await page.getByRole('heading', { name: 'Charge a customer', exact: true }).waitFor();
      }
    });
  }

  it('copies a sample of a guide', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await open('/docs/guides/take-a-payment', { viewport: WIDE, permissions });
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const sample = await page.locator('main pre').first().innerText();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.equal(sample);
  });

  it('shows code as code, and the fields of webhooks', async () => {
    const page = await openReference('Malipo API');
    await page
      .getByRole('button', { name: /Collections/ })
      .first()
      .click();
    await page
      .getByRole('button', { name: /A collection has ended/ })
      .first()
      .click();
    // The name of an opened one changes.
    const closed = page.getByRole('button', { name: 'Show Child Attributes' });
    await closed.first().click();
    await closed.first().click();
    await page.getByText('The gateway’s words about the result').first().waitFor();
    await page.locator('code', { hasText: 'callback_url' }).first().waitFor();
    const text = await page.locator('main').first().innerText();
    expect(text).to.not.include('`');
  });

  // Colours and sizes do not depend on each other, so each is looked at once.
  for (const [colorScheme, viewport] of [
    ['light', NARROW],
    ['dark', WIDE],
  ] as const) {
    it(`can be read by everybody: ${colorScheme}, ${viewport.width} px`, async () => {
      const options = { viewport, colorScheme };
      const reference = await openReference('Malipo API', options);
      expect(await seriousFindings(reference)).to.deep.equal([]);
      const operation = await openReference('Pay a recipient', options, PAYOUT);
      expect(await seriousFindings(operation)).to.deep.equal([]);
      const guide = await open('/docs/guides/verify-a-webhook', options);
      expect(await seriousFindings(guide)).to.deep.equal([]);
      const found = await open('/docs/search?q=webhook', options);
      expect(await seriousFindings(found)).to.deep.equal([]);
      for (const page of [reference, operation, guide, found]) {
        const overflow = 'document.documentElement.scrollWidth - innerWidth';
        expect(await page.evaluate(overflow)).to.be.at.most(0);
      }
    });
  }
});
