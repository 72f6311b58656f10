import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { inTransaction } from '../../src/connections/database.ts';
import { logInUser } from '../../src/domain/credentials/log-in.ts';
import { offerSetUp, takeSetUp } from '../../src/domain/credentials/set-ups.ts';
import { openPage, seriousFindings, startBrowser, type WatchedPage } from '../support/browser.ts';
import { describeWith } from '../support/programs.ts';
import { createTestMerchant, createTestUser, type TestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const PASSWORD = 'seven green boats at noon';
const NARROW = { width: 390, height: 844 };

describeWith(['chromium'], 'The page of a link by e-mail', () => {
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

  afterEach(async () => {
    for (const { page, origins } of opened.splice(0)) {
      await page.context().close();
      expect([...origins]).to.deep.equal([service.origin]);
    }
  });

  async function open(part: string, holder: Parameters<typeof offerSetUp>[2]) {
    const { secretsKeys } = service.config;
    await inTransaction(service.database, (trx) => offerSetUp(trx, secretsKeys, holder));
    const { code } = (await takeSetUp(service.database, secretsKeys))!;
    const url = `${service.origin}/set-up/${part}#${code}`;
    const watched = await openPage(browser, url, { viewport: NARROW });
    opened.push(watched);
    return watched;
  }

  it('lets a person set the password, and says why it cannot be', async () => {
    const { email, userId } = await createTestUser(service, merchant.merchant_id, 'Finance');
    const { page, problems } = await open('password', {
      merchant_id: merchant.merchant_id,
      user_id: userId,
    });
    const output = page.getByRole('status');
    const send = async (first: string, again: string) => {
      await page.getByLabel('New password').fill(first);
      await page.getByLabel('The same again').fill(again);
      await page.getByRole('button').click();
    };
    await send(PASSWORD, `${PASSWORD}.`);
    await output.getByText('The two passwords are not the same.').waitFor();
    await send('aaaaaaaaaaaa', 'aaaaaaaaaaaa');
    await output.getByText('new_password').waitFor();
    await send(PASSWORD, PASSWORD);
    await output.getByText('You can log in now.').waitFor();
    expect(await page.getByRole('button').isDisabled()).to.equal(true);
    const { database, config } = service;
    expect(await logInUser(database, config, { email, password: PASSWORD })).to.have.property(
      'access',
    );
    // The browser reports the refusal of the password that was too easy, as it should.
    expect(problems).to.have.length(1);
  });

  it('shows the secret of an app once, and can be read by everybody', async () => {
    const { merchant_id, app_code } = merchant;
    const { page, problems } = await open('secret', { merchant_id, app_code, kind: 'app' });
    expect(await seriousFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByText(`Secret: ${merchant.app_secret}`).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(
      0,
    );
    expect(problems).to.deep.equal([]);
    await page.reload();
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByText('The link is not good any more').waitFor();
  });
});
