import { expect } from 'chai';
import { createApp } from '../../src/domain/merchants/app.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { loadConfig } from '../../src/service/service.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/time.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';

const SHOWN_ONCE = /^The webhook secret, which is shown only this once: (whsec_\S+)$/m;

describe('admin app, the secret that signs webhooks', () => {
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });
  let admin: AdminTester;
  let merchant_id: number;
  let code: number;

  before(async () => {
    admin = await createAdminTester();
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    merchant_id = await createMerchant(admin.database, { ...details, approved: true });
  });

  after(() => admin.close());

  beforeEach(async () => {
    const app = await createApp(admin.database, config.secretsKeys, merchant_id, {
      name: 'Till',
      products: ['collections'],
    });
    code = app.app_code;
  });

  const chooseOwn = async () =>
    (await admin.changeJson(`app update ${code} --webhook-secret own`)).webhook_secret as string;

  /** Neither the audit log nor later answers may have the secrets. */
  async function expectHidden(secrets: string[]): Promise<void> {
    const shown = [
      JSON.stringify(await admin.audits()),
      await admin.text(`app show ${code}`),
      JSON.stringify(await admin.json(`app list --after ${code - 1}`)),
    ].join();
    for (const secret of secrets) expect(shown).to.not.include(secret);
  }

  it('is chosen with app update, which shows an own one once', async () => {
    const text = await admin.change(`app update ${code} --webhook-secret own`);
    const own = SHOWN_ONCE.exec(text)![1]!;
    expect(text)
      .to.include(`App ${code} changed\n`)
      .and.match(/signs webhooks with +own\n/);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'app.update',
      merchant_id,
      subject: `app ${code}`,
      details: { signs_webhooks_with: { from: 'app', to: 'own' } },
    });
    const again = await admin.unchanged(() =>
      admin.changeJson(`app update ${code} --webhook-secret own`),
    );
    expect(again).to.include({ signs_webhooks_with: 'own', changed: false });
    expect(again).to.not.have.property('webhook_secret');
    const back = await admin.changeJson(`app update ${code} --name Kiosk --webhook-secret app`);
    expect(back).to.include({ name: 'Kiosk', signs_webhooks_with: 'app', changed: true });
    expect(back).to.not.have.property('webhook_secret');
    expect((await admin.lastAudit()).details).to.deep.equal({
      name: { from: 'Till', to: 'Kiosk' },
      signs_webhooks_with: { from: 'own', to: 'app' },
    });
    await expectHidden([own]);
  });

  it('is rotated, and app show says which one signs, since when, and until when an old one', async () => {
    const old = await chooseOwn();
    const text = await admin.change(`app rotate-webhook-secret ${code} --overlap 24h`);
    const renewed = SHOWN_ONCE.exec(text)![1]!;
    expect(renewed).to.not.equal(old);
    expect(text).to.match(
      /\nX-Service-Signature uses the oldest secret until it ends, at the latest .* EAT; webhook-signature has a signature for each\n$/,
    );
    const { details, ...audit } = await admin.lastAudit();
    expect(audit).to.deep.equal({
      action: 'app.rotate-webhook-secret',
      merchant_id,
      subject: `app ${code}`,
    });
    expect(details).to.have.all.keys('overlap_s', 'old_secrets_until');
    expect(details.overlap_s).to.equal(86_400);
    const shown = await admin.json(`app show ${code}`);
    expect(shown.signs_webhooks_with).to.equal('own');
    const since = Date.parse(shown.signs_webhooks_since as string);
    expect(Date.now() - since).to.be.within(0, MINUTE_MS);
    expect(shown.older_secrets_sign_until).to.equal(details.old_secrets_until);
    const until = Date.parse(shown.older_secrets_sign_until as string);
    expect(until - Date.now()).to.be.closeTo(24 * HOUR_MS, MINUTE_MS);
    const atOnce = await admin.changeJson(`app rotate-webhook-secret --app ${code}`);
    expect(atOnce.old_secrets_until).to.equal(null);
    expect((await admin.json(`app show ${code}`)).older_secrets_sign_until).to.equal(null);
    await expectHidden([old, renewed, atOnce.webhook_secret as string]);
  });

  it('has signed since the switch, when the app went back to its app secret', async () => {
    const first = await admin.json(`app show ${code}`);
    expect(first.signs_webhooks_with).to.equal('app');
    await chooseOwn();
    const own = await admin.json(`app show ${code}`);
    await admin.change(`app update ${code} --webhook-secret app`);
    const back = await admin.json(`app show ${code}`);
    const times = [first, own, back].map(({ signs_webhooks_since }) =>
      Date.parse(signs_webhooks_since as string),
    );
    expect(times).to.deep.equal([...new Set(times)].sort());
  });

  it('is not rotated where the app’s secret signs', () =>
    admin.refused([
      [
        `app rotate-webhook-secret ${code}`,
        `App ${code} signs webhooks with its app secret: rotate that one, or choose app update ${code} --webhook-secret own\n`,
      ],
      ['app rotate-webhook-secret 99', /^There is no app 99\n$/],
      ['app update 99 --webhook-secret own', /^There is no app 99\n$/],
    ]));

  it('stays with the oldest app secret during an overlap, as app rotate-secret says', async () => {
    const overlapping = await admin.change(`app rotate-secret ${code} --overlap 24h`);
    expect(overlapping).to.match(/\nX-Service-Signature uses the oldest secret until it ends, /);
    const atOnce = await admin.change(`app rotate-secret ${code}`);
    expect(atOnce).to.include('\nThe new secret signs webhooks from now on\n');
    await chooseOwn();
    const other = await admin.change(`app rotate-secret ${code}`);
    expect(other).to.not.match(/signs webhooks from now on|X-Service-Signature/);
  });
});
