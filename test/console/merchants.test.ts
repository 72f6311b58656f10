import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { isPassword } from '../../src/domain/credentials/passwords.ts';
import { appSecrets } from '../../src/domain/merchants/app-secrets.ts';
import { createMerchant, requireMerchant } from '../../src/domain/merchants/merchant.ts';
import { passwordHashOf, requireUser } from '../../src/domain/merchants/user.ts';
import { bookOperatorEntry } from '../../src/domain/wallets/operator-entries.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { securityEvents } from '../support/security-events.ts';
import { createTestMerchant, createTestUser, type TestMerchant } from '../support/test-merchant.ts';

const EVIL = '<script>alert(1)</script>';
const REASON = 'Ticket 4711';

describe('The console on merchants', () => {
  let test: TestConsole;
  let admin: ConsoleClient;
  let support: ConsoleClient;
  let viewer: ConsoleClient;

  before(async () => {
    test = await startTestConsole();
    admin = await logIn(test, await newMember(test, 'admin'));
    support = await logIn(test, await newMember(test, 'support'));
    viewer = await logIn(test, await newMember(test, 'viewer'));
  });

  after(() => test.close());

  const database = () => test.testDatabase.database;
  const newMerchant = (options = {}) => createTestMerchant(test.service, options);
  const pageOf = ({ merchant_id }: Pick<TestMerchant, 'merchant_id'>) =>
    `/merchants/${merchant_id}`;
  const appPageOf = (merchant: TestMerchant) => `${pageOf(merchant)}/apps/${merchant.app_code}`;

  /** Opens a form and sends it, with what its hidden fields say. */
  const change = async (browser: ConsoleClient, path: string, fields = {}) => {
    const form = await browser.get(path);
    const version = /name="version" value="([^"]+)"/.exec(form.text)?.[1];
    return browser.post(path, { ...(version && { version }), reason: REASON, ...fields });
  };
  const lastAudit = async (reads = false) => {
    const found = await rows<Record<string, unknown>>(
      database(),
      `SELECT action, merchant_id, subject, reason, details FROM audit_log
       WHERE (reason IS NULL) = :reads ORDER BY happened_at DESC, id DESC LIMIT 1`,
      { reads },
    );
    return found[0]!;
  };

  describe('lists them', () => {
    it('by number, name and e-mail address, in pages, and records who looked for what', async () => {
      const ids: number[] = [];
      for (let number = 0; number < 52; number++) {
        const name = `Duka ${number} ${EVIL}`;
        const email = `duka-${number}@list.example`;
        ids.push(
          await createMerchant(database(), {
            ...{ name, email, phone_number: '+254712345678', approved: false },
          }),
        );
      }
      const first = await viewer.get('/merchants?q=DUKA');
      const shown = (text: string) => ids.filter((id) => text.includes(`"/merchants/${id}"`));
      expect(shown(first.text)).to.deep.equal(ids.slice(0, 50));
      expect(await lastAudit(true)).to.include({ action: 'merchant.list', subject: 'merchant' });
      const next = /href="(\/merchants\?[^"]+)">Next page/.exec(first.text)![1]!;
      const second = await viewer.get(next.replaceAll('&amp;', '&'));
      expect(shown(second.text)).to.deep.equal(ids.slice(50));
      expect(second.text).to.not.include('Next page');
      expect(shown((await viewer.get(`/merchants?q=${ids[3]}`)).text)).to.deep.equal([ids[3]]);
      const byEmail = await viewer.get('/merchants?q=duka-7%40list.example');
      expect(shown(byEmail.text)).to.deep.equal([ids[7]]);
      expect(first.text).to.include('+2547•••••678').and.not.include('+254712345678');
      expect(first.text).to.not.include(EVIL);
    });

    it('says what to do when nothing is found, and refuses what is no number', async () => {
      const none = await viewer.get('/merchants?q=%3Cb%3Enobody');
      expect([none.status, none.text.includes('Try a shorter part')]).to.deep.equal([200, true]);
      expect(none.text).to.not.include('<b>nobody');
      expect((await viewer.get('/merchants?after=x')).status).to.equal(400);
      for (const path of ['/merchants/999999', '/merchants/x', '/merchants/1/apps/1']) {
        expect((await viewer.get(path)).status, path).to.equal(404);
      }
    });
  });

  describe('shows one', () => {
    it('with its wallets, apps and users, the phone veiled, and no button to a viewer', async () => {
      const merchant = await newMerchant();
      const user = await createTestUser(test.service, merchant.merchant_id, 'Finance');
      await inTransaction(database(), (trx) =>
        bookOperatorEntry(trx, {
          ...{ kind: 'topup', wallet: 'payout', amount_cents: 123_450 },
          ...{ merchant_id: merchant.merchant_id, reference: 'T1', reason: 'x' },
        }),
      );
      const { text, status } = await viewer.get(pageOf(merchant));
      expect(status).to.equal(200);
      for (const words of [
        'KES 1,234.50',
        'Till',
        user.email,
        'Finance',
        '(default)',
        'approved',
      ]) {
        expect(text, words).to.include(words);
      }
      expect(text).to.include('+2547•••••001').and.not.include('+254711000001');
      expect(text).to.not.match(/Suspend|Reveal|Create an app/);
      expect(await lastAudit(true)).to.deep.include({
        ...{ action: 'merchant.show', subject: `merchant ${merchant.merchant_id}` },
      });
      expect((await support.get(pageOf(merchant))).text)
        .to.match(/Reveal/)
        .and.not.match(/Suspend/);
    });

    it('reveals the phone to support, once, which the audit log has', async () => {
      const merchant = await newMerchant();
      await support.get(pageOf(merchant));
      const revealed = await support.post(`${pageOf(merchant)}/reveal`);
      expect(revealed.text).to.include('+254711000001');
      expect((await lastAudit(true)).action).to.equal('merchant.reveal');
      const reloaded = await support.get(`${pageOf(merchant)}/reveal`);
      expect(reloaded.location).to.equal(pageOf(merchant));
      expect((await viewer.post(`${pageOf(merchant)}/reveal`)).status).to.equal(403);
    });
  });

  const verdicts = [
    ['approve', { approved: true }, 'may take and make payments'],
    ['suspend', { active: false }, 'that may have been sent already: 0'],
    ['activate', { active: true }, 'The suspension ends'],
    ['hold-payouts', { payouts_held: true }, 'Payouts and reversals that wait now: 0'],
    ['release-payouts', { payouts_held: false }, 'go out'],
  ] as const;
  for (const [verb, state, words] of verdicts) {
    it(`can ${verb}: says first what will happen, and does it once`, async () => {
      const merchant = await newMerchant({ approved: false });
      const [[column, wanted]] = Object.entries(state) as [[string, boolean]];
      const path = `${pageOf(merchant)}/change/${verb}`;
      const opposite = `UPDATE merchants SET ${column} = ${!wanted} WHERE id = :merchant_id`;
      await rows(database(), opposite, merchant);
      expect((await admin.get(path)).text).to.include(words);
      const done = await change(admin, path);
      expect([done.status, done.location]).to.deep.equal([303, pageOf(merchant)]);
      const again = await change(admin, path);
      expect([again.status, again.text.includes('already')]).to.deep.equal([422, true]);
    });
  }

  it('changes particulars and limits as the command line reads them', async () => {
    const merchant = await newMerchant();
    const path = `${pageOf(merchant)}/change/update`;
    const fields = {
      ...{ name: EVIL, email: 'new@x.example', phone_number: '', commission_bps: '150' },
      ...{ commission_fixed: '5', rate_limit_per_minute: 'default', rate_limit_burst: '20' },
      ...{ payout_limit_per_minute: '600', payout_limit_burst: 'default' },
      debt_limit: '50',
      ...{ user_ip_allow_list: '10.0.0.0/8', totp_required_for_payouts: 'on' },
    };
    const wrong = await change(admin, path, { ...fields, commission_bps: '10001' });
    expect(wrong.status).to.equal(422);
    expect(wrong.text).to.include('Commission in basis points must be').and.include('10001');
    expect((await change(admin, path, fields)).location).to.equal(pageOf(merchant));
    const found = await requireMerchant(database(), merchant.merchant_id);
    expect(found).to.deep.include({
      ...{ name: EVIL, email: 'new@x.example', phone_number: '+254711000001' },
      ...{ commission_bps: 150, commission_fixed_cents: 500, rate_limit_per_minute: null },
      ...{
        debt_limit_cents: 5_000,
        rate_limit_burst: 20,
        payout_limit_per_minute: 600,
        user_ip_allow_list: ['10.0.0.0/8'],
      },
      totp_required_for: ['payouts'],
    });
    expect((await admin.get(pageOf(merchant))).text).to.not.include(EVIL);
    const events = await securityEvents(database());
    expect(events.slice(-2).map(({ kind }) => kind)).to.have.members([
      ...['allow_list_changed', 'access_widened'],
    ]);
    const old = await admin.post(path, { ...fields, version: 'old', reason: REASON, name: 'B' });
    expect([old.status, old.text.includes('changed since')]).to.deep.equal([422, true]);
  });

  it('revokes all credentials of a merchant', async () => {
    const merchant = await newMerchant();
    const path = `${pageOf(merchant)}/change/revoke-all`;
    expect((await change(admin, path)).location).to.equal(pageOf(merchant));
    expect(await lastAudit()).to.deep.include({ action: 'merchant.revoke-all' });
    expect(await appSecrets(database(), test.service.config.secretsKeys, merchant)).to.deep.equal(
      [],
    );
    expect((await admin.get(appPageOf(merchant))).text).to.include('no secret is valid');
    expect((await change(admin, path)).text).to.include('had ended already');
  });

  describe('on apps', () => {
    it('creates one and shows its secret once, also when the answer is reloaded', async () => {
      const merchant = await newMerchant();
      const path = `${pageOf(merchant)}/new-app`;
      const fields = { name: EVIL, ip_allow_list: 'none', products_payouts: 'on' };
      const empty = await change(admin, path, { ...fields, products_payouts: 'off' });
      expect(empty.text).to.include('Check at least one of these: Products');
      const version = /name="version" value="([^"]+)"/.exec((await admin.get(path)).text)![1]!;
      const send = () => admin.post(path, { ...fields, version, reason: REASON });
      const { text, headers, status } = await send();
      const secret = />(as_[\w-]+)</.exec(text)![1]!;
      expect([status, headers.get('cache-control')]).to.deep.equal([200, 'no-store']);
      expect(text).to.not.include(EVIL);
      const again = await send();
      expect([again.status, again.text.includes('changed since')]).to.deep.equal([422, true]);
      const { count } = (
        await rows<{ count: number }>(
          database(),
          `SELECT count(*) AS count FROM (
           SELECT CAST(to_jsonb(s) AS text) AS row FROM console_sessions s
           UNION ALL SELECT CAST(to_jsonb(a) AS text) FROM audit_log a
         ) AS kept WHERE row LIKE '%' || :secret || '%'`,
          { secret },
        )
      )[0]!;
      expect(count).to.equal(0);
    });

    it('shows one without its secrets, and only under its merchant', async () => {
      const merchant = await newMerchant();
      const { text } = await viewer.get(appPageOf(merchant));
      expect(text).to.include(merchant.app_key).and.include('its app secret');
      expect(text).to.not.include(merchant.app_secret).and.not.include('Rotate');
      const wrong = { name: 'Till 2', ip_allow_list: '10.1', products_payouts: 'on' };
      const path = `${appPageOf(merchant)}/change/update`;
      expect((await change(admin, path, wrong)).text).to.include('May call from must be');
      const other = await newMerchant();
      expect((await admin.get(`${pageOf(other)}/apps/${merchant.app_code}`)).status).to.equal(404);
    });

    it('rotates the secret with an overlap, once per form', async () => {
      const merchant = await newMerchant();
      const path = `${appPageOf(merchant)}/change/rotate-secret`;
      const form = await admin.get(path);
      const version = /name="version" value="([^"]+)"/.exec(form.text)![1]!;
      const send = (overlap: string) => admin.post(path, { version, overlap, reason: REASON });
      expect((await send('31d')).text).to.include('Overlap must be');
      const { text, headers } = await send('24h');
      expect(headers.get('cache-control')).to.equal('no-store');
      const secret = />(as_[\w-]+)</.exec(text)![1]!;
      const valid = await appSecrets(database(), test.service.config.secretsKeys, merchant);
      expect(valid.map((row) => row.secret)).to.deep.equal([secret, merchant.app_secret]);
      expect((await send('24h')).text)
        .to.include('changed since')
        .and.not.include('as_');
    });

    it('gives one a webhook secret of its own, rotates it and takes it away', async () => {
      const merchant = await newMerchant();
      const at = (verb: string) => `${appPageOf(merchant)}/change/${verb}`;
      expect((await admin.get(at('rotate-webhook-secret'))).text).to.include('rotate that one');
      expect((await change(admin, at('own-webhook-secret'))).text).to.match(/>whsec_/);
      const rotated = await change(admin, at('rotate-webhook-secret'), { overlap: '1h' });
      expect(rotated.text).to.match(/>whsec_/);
      expect((await admin.get(appPageOf(merchant))).text).to.include('Older secrets sign too');
      expect((await change(admin, at('app-webhook-secret'))).location).to.equal(
        appPageOf(merchant),
      );
      expect((await change(admin, at('app-webhook-secret'))).text).to.include('already');
    });
  });

  describe('on users', () => {
    const userPage = async (merchant: TestMerchant) => {
      const user = await createTestUser(test.service, merchant.merchant_id, 'Finance');
      return { ...user, path: `${pageOf(merchant)}/users/${user.userId}` };
    };

    it('creates one and shows the password once; an address is good for one user', async () => {
      const merchant = await newMerchant();
      const path = `${pageOf(merchant)}/new-user`;
      const fields = { email: 'Asha@new.example', name: EVIL, role: 'Operator' };
      const { text } = await change(admin, path, fields);
      expect(text)
        .to.match(/<pre id="secret">[\w-]{20}</)
        .and.not.include(EVIL);
      const { id } = await requireUser(database(), { email: 'asha@new.example' });
      const userPath = `${pageOf(merchant)}/users/${id}`;
      expect(text).to.include(`href="${userPath}"`);
      const page = await viewer.get(userPath);
      expect([page.status, page.text.includes(EVIL)]).to.deep.equal([200, false]);
      const again = await change(admin, path, fields);
      expect([again.status, again.text.includes('already')]).to.deep.equal([422, true]);
      expect((await change(admin, path, { ...fields, role: 'King' })).text).to.include(
        'Role must be',
      );
    });

    it('offers support to deactivate one, and only an admin the rest', async () => {
      const user = await userPage(await newMerchant());
      expect((await support.get(user.path)).text)
        .to.match(/Deactivate/)
        .and.not.match(/Replace/);
      const path = `${user.path}/deactivate`;
      expect((await change(support, path)).location).to.equal(user.path);
      expect((await change(support, path)).text).to.include('deactivated already');
      expect((await admin.get(user.path)).text)
        .to.match(/Reactivate/)
        .and.not.match(/Deactivate/);
    });

    it('replaces the password once per form, also when two are sent at once', async () => {
      const user = await userPage(await newMerchant());
      const path = `${user.path}/change/new-password`;
      const form = await admin.get(path);
      const version = /name="version" value="([^"]+)"/.exec(form.text)![1]!;
      const send = () => admin.post(path, { version, reason: REASON });
      const both = await Promise.all([send(), send()]);
      expect(both.map(({ status }) => status)).to.have.members([200, 422]);
      const again = await send();
      expect(again.status).to.equal(422);
      expect(again.text).to.include('changed since').and.not.include('id="secret"');
      const secret = /<pre id="secret">([^<]+)</;
      const shown = both.map(({ text }) => secret.exec(text)?.[1]).find(Boolean)!;
      const hash = (await passwordHashOf(database(), await requireUser(database(), user)))!;
      expect(await isPassword(shown, hash)).to.equal(true);
    });

    it('says when there is nothing to do, and knows users only under their merchant', async () => {
      const merchant = await newMerchant();
      const user = await userPage(merchant);
      const at = (verb: string) => `${user.path}/change/${verb}`;
      expect((await admin.get(at('reset-totp'))).status).to.equal(422);
      expect((await change(admin, at('forget-failures'))).text).to.include('nothing was changed');
      const same = await change(admin, at('update'), { role: 'Finance' });
      expect(same.text).to.include('nothing was changed');
      const other = await newMerchant();
      expect((await admin.get(`${pageOf(other)}/users/${user.userId}`)).status).to.equal(404);
    });
  });
});
