import { expect } from 'chai';
import { firstRow, inTransaction } from '../../src/connections/database.ts';
import { authenticate } from '../../src/domain/access/caller.ts';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import { createApp, updateApp } from '../../src/domain/merchants/app.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { ipAllowList } from '../../src/operations/ip-allow-list.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { eventually } from '../support/eventually.ts';
import { rejection } from '../support/payments.ts';

const SHOWN_ONCE = /^The app secret, which is shown only this once: (\S+)$/m;

interface App {
  code: number;
  app_key: string;
  app_secret: string;
}

describe('admin app', () => {
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });
  let admin: AdminTester;
  let merchant_id: number;

  before(async () => {
    admin = await createAdminTester();
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    merchant_id = await createMerchant(admin.database, { ...details, approved: true });
  });

  after(() => admin.close());

  const tokens = (app: App, ip: string | null = null) =>
    issueAppTokens(admin.database, config, app, ip);
  const refusal = async (app: App, ip: string | null = null) =>
    (await rejection(tokens(app, ip))).message;
  const isAccepted = (access: string) => authenticate(admin.database, config.jwtKeys, access, null);

  async function newApp(): Promise<App> {
    const { app_code, ...credentials } = await createApp(
      admin.database,
      config.secretsKeys,
      merchant_id,
      { name: 'Till', products: ['collections'] },
    );
    return { code: app_code, ...credentials };
  }

  function appOf({ app_code, app_key, app_secret }: Document): App {
    return {
      code: app_code as number,
      app_key: app_key as string,
      app_secret: app_secret as string,
    };
  }

  it('creates one whose secret is shown once and lets it in', async () => {
    const created = await admin.changeJson(
      `app create --merchant ${merchant_id} --name Till --products payouts,collections,payouts`,
    );
    const app = appOf(created);
    expect(created).to.deep.include({
      merchant_id,
      name: 'Till',
      products: ['collections', 'payouts'],
      active: true,
      ip_allow_list: [],
    });
    expect((await tokens(app)).app_code).to.equal(app.code);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'app.create',
      merchant_id,
      subject: `app ${app.code}`,
      details: { name: 'Till', products: ['collections', 'payouts'], ip_allow_list: [] },
    });
    const text = await admin.change([
      ...['app', 'create', '--merchant', String(merchant_id), '--name', 'Back office'],
      ...['--products', 'disbursements', '--ip-allow-list', '192.0.2.0/24, 2001:DB8::1'],
    ]);
    expect(text)
      .to.match(/^App \d+ created\n/)
      .and.match(/ip allow list +192\.0\.2\.0\/24, 2001:db8::1\n/);
    const shown = {
      code: 0,
      app_key: / key +(\S+)\n/.exec(text)![1]!,
      app_secret: SHOWN_ONCE.exec(text)![1]!,
    };
    await tokens(shown, '192.0.2.77');
    expect(await refusal(shown, '198.51.100.1')).to.equal('ip_not_allowed');
  });

  it('lists them by code without their secrets', async () => {
    const [first, second] = [await newApp(), await newApp()];
    const before = first.code - 1;
    const [all, text] = await Promise.all([
      admin.json(`app list --limit 1 --after ${before}`),
      admin.text(`app list --merchant ${merchant_id} --after ${before}`),
    ]);
    expect(all.next).to.equal(first.code);
    const [listed] = all.apps as Document[];
    expect(listed).to.include({ app_code: first.code, app_key: first.app_key });
    expect(listed).to.have.all.keys(
      ...['app_code', 'merchant_id', 'name', 'app_key', 'products', 'active'],
      ...['ip_allow_list', 'signs_webhooks_with', 'created_at'],
    );
    const [titles, , last] = text.split('\n');
    expect(titles).to.match(/^CODE +MERCHANT ID +NAME +ACTIVE +PRODUCTS +APP KEY +MAY CALL FROM$/);
    expect(last).to.match(
      new RegExp(`^${second.code} +${merchant_id} +Till +yes +collections +ak_\\w+ +anywhere$`),
    );
    expect(text).to.match(/\(2 apps\)\n$/);
  });

  it('shows one without its secret', async () => {
    const { code, app_key, app_secret } = await newApp();
    const [document, text] = await Promise.all([
      admin.json(`app show ${code}`),
      admin.text(`app show --app ${code}`),
    ]);
    const { created_at, signs_webhooks_since, ...shown } = document;
    expect(created_at).to.match(/Z$/);
    expect(signs_webhooks_since).to.match(/Z$/);
    expect(shown).to.deep.equal({
      ...{ app_code: code, merchant_id, name: 'Till', app_key },
      ...{ products: ['collections'], active: true, ip_allow_list: [] },
      ...{ signs_webhooks_with: 'app', older_secrets_sign_until: null },
    });
    expect(text)
      .to.match(new RegExp(`^App ${code}\n`))
      .and.match(/ip allow list +anywhere\n/)
      .and.match(/created at +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d EAT\n/)
      .and.match(/signs webhooks with +app\n/)
      .and.not.include(app_secret);
  });

  it('changes name, products and addresses', async () => {
    const { code } = await newApp();
    const changed = await admin.changeJson(
      `app update --app ${code} --name Kiosk --products payouts --ip-allow-list 10.0.0.0/8,::ffff:192.0.2.1,::FFFF:c000:0200/120,2001:0db8:0::/32,10.0.0.0/8`,
    );
    const list = ['10.0.0.0/8', '192.0.2.1', '192.0.2.0/24', '2001:db8::/32'];
    expect(changed).to.deep.include({
      name: 'Kiosk',
      products: ['payouts'],
      ip_allow_list: list,
      changed: true,
    });
    expect((await admin.lastAudit()).details).to.deep.equal({
      name: { from: 'Till', to: 'Kiosk' },
      products: { from: ['collections'], to: ['payouts'] },
      ip_allow_list: { from: [], to: list },
    });
    const again = await inTransaction(admin.database, (trx) =>
      updateApp(trx, code, { ip_allow_list: ['2001:db8:0::/32'] }).then(({ app }) =>
        updateApp(trx, code, { ip_allow_list: ['2001:0db8::/32'], products: app.products }),
      ),
    );
    expect(again.changed, 'what is written otherwise and the same').to.deep.equal({});
    const emptied = await admin.change(`app update --app ${code} --ip-allow-list none`);
    expect(emptied)
      .to.match(/ changed\n/)
      .and.match(/ip allow list +anywhere\n/);
  });

  it('rotates a secret at once: the old one and its tokens are worth nothing', async () => {
    const app = await newApp();
    const other = await newApp();
    const { access } = await tokens(app);
    const { access: othersAccess } = await tokens(other);
    const rotated = await admin.changeJson(`app rotate-secret --app ${app.code}`);
    expect(rotated).to.include({ old_secrets_until: null, revoked_token_families: 1 });
    const renewed = appOf(rotated);
    expect(renewed).to.include({ code: app.code, app_key: app.app_key });
    expect(renewed.app_secret).to.not.equal(app.app_secret);
    expect(await refusal(app)).to.equal('invalid_app_credentials');
    expect(await rejection(isAccepted(access))).to.include({ code: 'token_revoked' });
    await tokens(renewed);
    await isAccepted(othersAccess);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'app.rotate-secret',
      merchant_id,
      subject: `app ${app.code}`,
      details: { overlap_s: 0, old_secrets_until: null, revoked_token_families: 1 },
    });
    const log = JSON.stringify(await admin.audits());
    for (const secret of [app.app_secret, renewed.app_secret]) expect(log).to.not.include(secret);
  });

  it('rotates a secret with an overlap: both count until it ends', async () => {
    const app = await newApp();
    const { access } = await tokens(app);
    const text = await admin.change(`app rotate-secret --app ${app.code} --overlap 24h`);
    expect(text).to.match(/\nOld secrets work until .* EAT\n$/);
    const renewed = { ...app, app_secret: SHOWN_ONCE.exec(text)![1]! };
    await tokens(app);
    await tokens(renewed);
    await isAccepted(access);
    const { details } = await admin.lastAudit();
    expect(details).to.include({ overlap_s: 86_400, revoked_token_families: 0 });
    const until = Date.parse(details.old_secrets_until as string);
    expect(until - Date.now()).to.be.closeTo(24 * 3_600_000, 60_000);
    // A shorter overlap shortens that of the secrets before.
    const third = appOf(await admin.changeJson(`app rotate-secret --app ${app.code} --overlap 1s`));
    await eventually('the old secrets end', async () =>
      tokens(app).then(
        () => false,
        () => true,
      ),
    );
    expect(await refusal(renewed)).to.equal('invalid_app_credentials');
    await tokens(third);
    // What was got with an old secret ends with it.
    const ended = await isAccepted(access).then(
      () => null,
      (error) => (error as { code: string }).code,
    );
    expect(ended).to.equal('token_revoked');
    const left = await firstRow<{ count: number }>(
      admin.database,
      'SELECT count(*) AS count FROM app_secrets WHERE app_code = :code AND expires_at IS NULL',
      { code: app.code },
    );
    expect(left!.count).to.equal(1);
  });

  it('refuses an app or merchant that is not there, and changes nothing', () =>
    admin.refused([
      ['app create --merchant 99 --name Till --products payouts', /^There is no merchant 99\n$/],
      ['app rotate-secret --app 99', /^There is no app 99\n$/],
      ['app show 99', /^There is no app 99\n$/],
    ]));

  it('reads addresses as PostgreSQL stores them', async () => {
    const READ: Readonly<Record<string, string>> = {
      '0.0.0.0/0': '0.0.0.0/0',
      '255.255.255.255/32': '255.255.255.255',
      '::/0': '::/0',
      '::1': '::1',
      '2001:DB8:0:0:8:800:200C:417A': '2001:db8::8:800:200c:417a',
      '2001:db8::/32': '2001:db8::/32',
      '64:ff9b::192.0.2.33': '64:ff9b::c000:221',
      '::ffff:0:0/96': '0.0.0.0/0',
      '::ffff:192.0.2.1': '192.0.2.1',
      '::FFFF:c000:0280/121': '192.0.2.128/25',
    };
    const row = await firstRow<{ list: string[] }>(
      admin.database,
      'SELECT CAST(:list AS inet[]) AS list',
      { list: ipAllowList.read(Object.keys(READ).join(','), 'UTC') },
    );
    // ::ffff:0:0/96 and 0.0.0.0/0 are the same one.
    expect(row!.list).to.deep.equal([...new Set(Object.values(READ))]);
  });
});
