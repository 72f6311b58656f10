import { expect } from 'chai';
import { auditedFor } from '../../src/domain/audit/audit.ts';
import { changeApp, registerApp } from '../../src/domain/merchants/app.ts';
import { changeMerchant } from '../../src/domain/merchants/merchant.ts';
import { changeUser, requireUser } from '../../src/domain/merchants/user.ts';
import { recordSecurityEvent } from '../../src/domain/security/security-events.ts';
import { addMember, replaceToken } from '../../src/domain/staff/replace-access.ts';
import { newToken } from '../../src/domain/staff/staff.ts';
import { loadConfig, type Service } from '../../src/service/service.ts';
import { tellAccess } from '../../src/workers/access-notices.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { createTestUser } from '../support/test-merchant.ts';
import { useStore } from '../support/world.ts';

const ADMIN = 'amina@x.example';

describe('A change of access by staff', () => {
  const store = useStore();
  let mail: MailServer;
  let service: Service;

  before(async () => {
    mail = await startMailServer();
    service = serviceWith({ SMTP_URL: mail.url, NOTICE_FROM: 'malipo@pay.example' });
  });

  after(() => mail.close());

  beforeEach(async () => {
    await store.rows('DELETE FROM access_notices');
    mail.received.length = 0;
    mail.answerWith(null);
  });

  const serviceWith = (env: Record<string, string>) =>
    store.parts(loadConfig({ DATABASE_URL: store.url, ...env }));

  const audited = (action: string) =>
    auditedFor(store.database, { actor: ADMIN, action, reason: 'Ticket 4711' });

  const tellAll = async () => {
    while ((await tellAccess(service)) > 0);
    return mail.received.map(({ to, headers }) => `${to}: ${headers.subject}`);
  };
  const merchantEmail = async () => {
    const [row] = await store.rows<{ email: string }>(
      'SELECT email FROM merchants WHERE id = :id',
      {
        id: store.merchantId,
      },
    );
    return row!.email;
  };

  it('is told to the person and to the merchant, once, with the name of the member', async () => {
    const { email } = await createTestUser(store, store.merchantId, 'Finance');
    const user = await requireUser(store.database, { email });
    await audited('user.update')((trx) =>
      changeUser(trx, user, { role: 'Admin' }, { holdMs: 0 }).then((change) => ({
        value: null,
        audit: null,
        events: change.events,
      })),
    );
    const words = `${email} has another role`;
    expect((await tellAll()).sort()).to.deep.equal(
      [`${email}: ${words}`, `${await merchantEmail()}: ${words}`].sort(),
    );
    expect(mail.received[0]!.text).to.include(`Done by ${ADMIN}`);
    mail.received.length = 0;
    expect(await tellAll()).to.deep.equal([]);
  });

  it('of an app is told to the merchant', async () => {
    const app = { name: 'Shop', products: ['payouts' as const], ip_allow_list: [] };
    const { secretsKeys } = store.config;
    const { app: made } = await audited('app.create')((trx) =>
      registerApp(trx, secretsKeys, store.merchantId, app, 0),
    );
    expect(await tellAll()).to.deep.equal([`${await merchantEmail()}: App ${made.code} was made`]);
  });

  it('of a merchant’s address, limits and brakes is told to the address of before too', async () => {
    const before = await merchantEmail();
    const change = (wanted: Parameters<typeof changeMerchant>[2]) =>
      audited('merchant.update')((trx) =>
        changeMerchant(trx, store.merchantId, wanted).then((value) => ({
          ...{ value: null, audit: null, events: value.events },
        })),
      );
    await change({ email: 'other@x.example', debt_limit_cents: 5_000 });
    const words = `Merchant ${store.merchantId} was changed`;
    expect((await tellAll()).sort()).to.deep.equal(
      [`${before}: ${words}`, `other@x.example: ${words}`].sort(),
    );
    expect(mail.received[0]!.text).to.include(`${words}: e-mail address, debt limit.`);
    mail.received.length = 0;
    await change({ payouts_held: true, name: 'Duka' });
    expect(await tellAll(), 'a brake and a name').to.deep.equal([]);
    await change({ payouts_held: false });
    expect(await tellAll()).to.deep.equal([`other@x.example: ${words}`]);
    expect(mail.received[0]!.text).to.include('payouts released');
    await store.rewrite(`UPDATE merchants SET email = '${before}' WHERE id = ${store.merchantId}`);
  });

  it('lets a user in again, or gives an app other products, and is told', async () => {
    const { email } = await createTestUser(store, store.merchantId, 'Finance');
    const set = (active: boolean) =>
      audited('user.update')(async (trx) => {
        const { events } = await changeUser(trx, { email }, { active }, { holdMs: 0 });
        return { value: null, audit: null, events };
      });
    await set(false);
    expect(await tellAll()).to.deep.equal([]);
    await set(true);
    expect(await tellAll()).to.include(`${email}: ${email} was changed`);
    mail.received.length = 0;
    const { app_code } = store.merchant;
    await audited('app.update')(async (trx) => {
      const wanted = { products: ['payouts' as const] };
      const { events } = await changeApp(trx, store.config.secretsKeys, app_code, wanted);
      return { value: null, audit: null, events };
    });
    expect(await tellAll()).to.deep.equal([
      `${await merchantEmail()}: App ${app_code} was changed`,
    ]);
    expect(mail.received[0]!.text).to.include('was changed: products.');
  });

  it('of a member is told to the member, also if it was done in the name of that member', async () => {
    const { token: _, ...stored } = newToken();
    const juma = { name: 'Juma', email: 'juma@x.example', role: 'admin' as const };
    await audited('staff.create')((trx) => addMember(trx, { ...juma, ...stored }, true));
    expect(await tellAll()).to.deep.equal([
      `${juma.email}: ${juma.email} was made a member of staff`,
    ]);
    mail.received.length = 0;
    const { token: __, ...renewed } = newToken();
    const own = { actor: juma.email, action: 'staff.new-token', reason: 'Mine' };
    await auditedFor(
      store.database,
      own,
    )((trx) => replaceToken(trx, juma.email, renewed, { isOwn: true }));
    expect(await tellAll()).to.deep.equal([`${juma.email}: ${juma.email} has a new staff token`]);
  });

  it('is told to the other admins, if somebody with a token could have made it', async () => {
    const members = ['own', 'other'].map((name) => ({
      name,
      email: `${name}@x.example`,
      role: 'admin' as const,
    }));
    for (const member of members) {
      const { token: _, ...stored } = newToken();
      await audited('staff.create')((trx) => addMember(trx, { ...member, ...stored }, false));
    }
    await tellAll();
    mail.received.length = 0;
    const [row] = await store.rows<{ id: string }>(
      "SELECT id FROM staff WHERE email = 'own@x.example'",
    );
    await store.transaction((trx) =>
      recordSecurityEvent(trx, {
        kind: 'staff_totp_enabled',
        staff: 'own@x.example',
        detail: { staff_id: row!.id },
      }),
    );
    const words = 'own@x.example has set up one-time passwords';
    expect(await tellAll()).to.include.members([
      `own@x.example: ${words}`,
      `other@x.example: ${words}`,
    ]);
  });

  it('is told later when the mail server did not take it', async () => {
    const app = { name: 'Shop', products: ['payouts' as const], ip_allow_list: [] };
    await audited('app.create')((trx) =>
      registerApp(trx, store.config.secretsKeys, store.merchantId, app, 0),
    );
    mail.answerWith('451 try again');
    expect(await tellAll()).to.deep.equal([]);
    mail.answerWith(null);
    expect(await tellAll(), 'not at once').to.deep.equal([]);
    await store.rows('UPDATE access_notices SET tell_at = now()');
    expect(await tellAll()).to.have.length(1);
  });

  it('is told to the former address, though no server takes the new one, and to nobody twice', async () => {
    const former = await merchantEmail();
    mail.refuse('nowhere.invalid');
    await audited('merchant.update')((trx) =>
      changeMerchant(trx, store.merchantId, { email: 'x@nowhere.invalid' }).then(({ events }) => ({
        value: null,
        audit: null,
        events,
      })),
    );
    const told = async () => (await tellAll()).map((line) => line.split(':')[0]);
    expect(await told()).to.deep.equal([former]);
    await store.rows('UPDATE access_notices SET tell_at = now()');
    expect(await told()).to.deep.equal([former]);
    mail.refuse(null);
    await store.rows('UPDATE access_notices SET tell_at = now()');
    expect(await told()).to.deep.equal([former, 'x@nowhere.invalid']);
  });

  it('by a person of its own, and without a mail server, is told to nobody', async () => {
    const app = { name: 'Shop', products: ['payouts' as const], ip_allow_list: [] };
    await audited('app.create')((trx) =>
      registerApp(trx, store.config.secretsKeys, store.merchantId, app, 0),
    );
    expect(await tellAccess(serviceWith({}))).to.equal(0);
    expect(mail.received).to.deep.equal([]);
  });
});
