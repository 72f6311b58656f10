import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { authenticate } from '../../src/domain/access/caller.ts';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import type { Refusal } from '../../src/domain/errors.ts';
import { prepareDeliveries } from '../../src/domain/webhooks/prepare-deliveries.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';
import { newEvent } from '../support/events.ts';
import { drillCommands } from '../support/handbook.ts';
import { rejection } from '../support/payments.ts';
import { createTestApp, createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

describe('After a leak of credentials', () => {
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });
  let admin: AdminTester;
  let merchant: TestMerchant;

  before(async () => {
    admin = await createAdminTester();
  });

  beforeEach(async () => {
    merchant = await createTestMerchant({ database: admin.database, config });
  });

  after(() => admin.close());

  const tokensBy = (app_secret: string) =>
    issueAppTokens(admin.database, config, { ...merchant, app_secret });
  const use = (access: string) => authenticate(admin.database, config.jwtKeys, access, null);
  const codeOf = async (work: Promise<unknown>) => ((await rejection(work)) as Refusal).code;

  it('merchant revoke-all ends sessions and secrets, counts them, and says what waits', async () => {
    const { merchant_id, app_code } = merchant;
    const other = await createTestApp({ database: admin.database, config }, merchant_id);
    await admin.change(`app update ${other.app_code} --webhook-secret own`);
    const text = await admin.change(`merchant revoke-all ${merchant_id}`);
    expect(text)
      .to.match(new RegExp(`^The credentials of merchant ${merchant_id} have ended\n`))
      .and.match(/token families +2\n/)
      .and.match(/app secrets +2\n/)
      .and.match(/webhook secrets +1\n/)
      .and.include(
        `Webhooks wait until these apps have a new secret to sign with: ${app_code}, ${other.app_code}\n`,
      );
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'merchant.revoke-all',
      merchant_id,
      subject: `merchant ${merchant_id}`,
      details: {
        ...{ token_families: 2, app_secrets: 2, webhook_secrets: 1, kept_webhook_secrets: false },
      },
    });
    const events = await rows(
      admin.database,
      `SELECT kind, staff FROM security_events WHERE merchant_id = :merchant_id`,
      { merchant_id },
    );
    expect(events).to.deep.include({ kind: 'credentials_revoked', staff: 'tester' });
    expect((await admin.json(`app show ${app_code}`)).signs_webhooks_since).to.equal(null);
    const again = await admin.unchanged(() =>
      admin.changeJson(`merchant revoke-all ${merchant_id}`),
    );
    expect(again).to.deep.equal({
      ...{ merchant_id, changed: false, token_families: 0, app_secrets: 0, webhook_secrets: 0 },
      apps_without_signing_secret: [app_code, other.app_code],
    });
  });

  it('merchant revoke-all keeps webhook secrets when it is told to', async () => {
    const { merchant_id, app_code } = merchant;
    await admin.change(`app update ${app_code} --webhook-secret own`);
    const revoked = await admin.changeJson(
      `merchant revoke-all ${merchant_id} --keep-webhook-secrets`,
    );
    expect(revoked).to.deep.include({ webhook_secrets: 0, apps_without_signing_secret: [] });
    expect((await admin.json(`app show ${app_code}`)).signs_webhooks_since).to.be.a('string');
    await admin.refused([['merchant revoke-all 99', /^There is no merchant 99\n$/]]);
  });

  it('webhooks show and queues status say what a webhook without a secret waits for', async () => {
    const { merchant_id, app_code } = merchant;
    const id = await newEvent(admin.database, merchant);
    await prepareDeliveries(admin.database, 0);
    const wait = `Webhooks of app ${app_code} wait, because it has no secret to sign with`;
    expect((await admin.run('queues status')).stdout).to.not.include(wait);
    await admin.change(`merchant revoke-all ${merchant_id}`);
    expect(await admin.text(`webhooks show ${id}`)).to.match(
      new RegExp(`next +attempt 1, when its app has a secret .*: app rotate-secret ${app_code}\n`),
    );
    expect((await admin.run('queues status')).stdout).to.include(wait);
    await admin.change(`app rotate-secret ${app_code}`);
    expect(await admin.text(`webhooks show ${id}`)).to.match(/next +attempt 1, due/);
    expect((await admin.run('queues status')).stdout).to.not.include(wait);
  });

  it('the steps of the handbook shut the thief out and let the merchant go on', async () => {
    const { merchant_id, app_code, app_secret, access } = merchant;
    const steps = drillCommands('Credentials leaked');
    await admin.change(
      `user create --merchant ${merchant_id} --email owner@duka.example --role Admin`,
    );
    /** Runs the commands of a step for this merchant and app. @returns what the last one says. */
    async function follow(step: string): Promise<string> {
      const commands = steps.get(step)!.matchAll(/^\.\/bin\/malipo (.+)$/gm);
      let said = '';
      for (const [, line] of commands) {
        const own = line!.replaceAll('1001', `${merchant_id}`).replaceAll('5001', `${app_code}`);
        const args = [...own.matchAll(/"([^"]*)"|(\S+)/g)].map(
          ([, quoted, bare]) => quoted ?? bare!,
        );
        said = await admin.text(args);
      }
      return said;
    }
    expect([...steps.keys()]).to.deep.equal([
      ...['hold', 'revoke', 'look', 'rotate', 'activate', 'release'],
    ]);
    await follow('hold');
    expect(await admin.json(`merchant show ${merchant_id}`)).to.include({ payouts_held: true });
    await follow('revoke');
    expect(await codeOf(use(access))).to.equal('token_revoked');
    expect(await codeOf(tokensBy(app_secret))).to.equal('invalid_app_credentials');
    await follow('look');
    const rotated = await follow('rotate');
    const [renewed] = /as_[\w-]+/.exec(rotated)!;
    expect(await codeOf(tokensBy(renewed))).to.equal('merchant_inactive');
    await follow('activate');
    await use((await tokensBy(renewed)).access);
    expect(await codeOf(use(access))).to.equal('token_revoked');
    expect(await codeOf(tokensBy(app_secret))).to.equal('invalid_app_credentials');
    await follow('release');
    const merchantNow = await admin.json(`merchant show ${merchant_id}`);
    expect(merchantNow).to.include({ payouts_held: false, active: true });
  });
});
