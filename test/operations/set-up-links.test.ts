import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../src/api/app.ts';
import { rows } from '../../src/connections/database.ts';
import { mailSetUp } from '../../src/workers/set-ups.ts';
import { request } from '../support/api-client.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { rejection } from '../support/payments.ts';
import { createTestMerchant, createTestUser, type TestMerchant } from '../support/test-merchant.ts';
import { type Doors, nextOtp, openDoors } from './doors.ts';

const PASSWORD = 'seven green boats at noon';
const GONE = { status: 401, code: 'invalid_set_up_code' };

describe('A password or secret that staff give, where e-mail works', () => {
  let mail: MailServer;
  let doors: Doors;
  let api: Server;
  let baseUrl: string;
  let merchant: TestMerchant;

  before(async () => {
    mail = await startMailServer();
  });

  beforeEach(async () => {
    doors = await openDoors({ SMTP_URL: mail.url, NOTICE_FROM: 'malipo@pay.example' });
    merchant = await createTestMerchant(doors.test.service);
    api = createServer(createApp(doors.test.service));
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/api/v1`;
    mail.received.length = 0;
    mail.answerWith(null);
  });

  afterEach(async () => {
    await new Promise((resolve) => api.close(resolve));
    await doors.close();
  });

  after(() => mail.close());

  const database = () => doors.test.testDatabase.database;
  const code = () => String(merchant.app_code);
  const number = () => String(merchant.merchant_id);
  const run = async (args: string[]) => {
    const { status, stdout, stderr } = await doors.run([...args, '--json'], doors.admin);
    expect([status, stderr]).to.deep.equal([0, '']);
    return stdout;
  };
  /** Mails what is to be mailed, and returns the last link. */
  const linkOf = async (args: string[]) => {
    const said = await run(args);
    while ((await mailSetUp(doors.test.service)) > 0);
    const { to, text } = mail.received.at(-1)!;
    const [link, part, secret] = /\S+\/set-up\/(password|secret)#(\S+)/.exec(text)!;
    expect(said).to.not.include(secret!);
    return { said: JSON.parse(said), to, link, part: part!, code: secret! };
  };
  const call = async (part: string, body: object) => {
    const answer = await request('POST', `${baseUrl}/auth/set-up/${part}`, { body });
    return { status: answer.status, ...answer.body };
  };
  const logIn = (email: string, password: string) =>
    request('POST', `${baseUrl}/auth/login`, { body: { email, password } });
  const SHOP = ['--name', 'Shop', '--products', 'payouts'];
  const JUMA = ['--email', 'Juma@x.example', '--role', 'Finance'];

  it('lets a new user set the password, once, and nobody else knows it', async () => {
    const given = await linkOf(['user', 'create', number(), ...JUMA]);
    expect(given.said).to.not.have.property('password');
    expect(given).to.deep.include({ to: ['juma@x.example'], part: 'password' });
    expect(await call('password', { code: given.code, new_password: PASSWORD })).to.include({
      status: 200,
    });
    const { status, body } = await logIn('juma@x.example', PASSWORD);
    expect(status).to.equal(200);
    const channels = await request('GET', `${baseUrl}/channels`, { access: body.access });
    expect(channels.status, 'nothing has to be changed first').to.equal(200);
    expect(await call('password', { code: given.code, new_password: PASSWORD })).to.include(GONE);
  });

  /** The hash of the part of a code that finds its link. */
  const hashOf = (given: string) =>
    createHash('sha256').update(Buffer.from(given, 'base64url').subarray(0, 16)).digest();

  /** Writes a link into the database, as the service's role may. */
  const forge = (columns: string, values: string, hash: Buffer | null) =>
    rows(
      database(),
      `INSERT INTO set_ups (id, merchant_id, ${columns}, email, signature, code_hash, expires_at)
       SELECT gen_random_uuid(), merchant_id, ${values}, 'thief@x.example', '\\x00', :hash,
         now() + interval '1 hour'
       FROM app_secrets WHERE merchant_id = :id LIMIT 1`,
      { id: merchant.merchant_id, hash },
    );
  const OF_APP = 'app_code, secret_kind, secret_id';

  it('gives no secret by a link that is only written into the database', async () => {
    const forged = randomBytes(48).toString('base64url');
    await forge(OF_APP, "app_code, 'app', id", hashOf(forged));
    expect(await call('secret', { code: forged })).to.include(GONE);
  });

  it('sets no password by a code that is moved to the link of another', async () => {
    const user = await createTestUser(doors.test.service, merchant.merchant_id, 'Finance');
    const given = await linkOf(['app', 'rotate-secret', code()]);
    await rows(database(), 'DELETE FROM set_ups');
    await forge('user_id', `CAST('${user.userId}' AS uuid)`, hashOf(given.code));
    const body = { code: given.code, new_password: PASSWORD };
    expect(await call('password', body)).to.include(GONE);
    expect((await logIn(user.email, user.password)).status).to.equal(200);
  });

  it('is mailed by the service only if the service has offered it, to the address of the offer', async () => {
    await forge(OF_APP, "app_code, 'app', id", null);
    const refusal = await rejection(mailSetUp(doors.test.service));
    expect(refusal.message).to.include('has not offered');
    expect(mail.received).to.deep.equal([]);
    await run(['app', 'rotate-secret', code()]);
    await rows(database(), "UPDATE merchants SET email = 'thief@x.example'");
    await mailSetUp(doors.test.service);
    expect(mail.received[0]!.to).to.not.include('thief@x.example');
  });

  it('ends the old password at once, and the sessions when the new one is set', async () => {
    const user = await createTestUser(doors.test.service, merchant.merchant_id, 'Finance');
    const given = await linkOf(['user', 'update', user.email, '--new-password']);
    expect((await logIn(user.email, user.password)).status).to.equal(401);
    const tooEasy = await call('password', { code: given.code, new_password: 'aaaaaaaaaaaa' });
    expect(tooEasy).to.include({ status: 400, code: 'invalid_field' });
    await call('password', { code: given.code, new_password: PASSWORD });
    expect((await logIn(user.email, PASSWORD)).status).to.equal(200);
    const events = await rows(
      database(),
      `SELECT staff, detail->>'by' AS by FROM security_events
       WHERE kind = 'password_changed' AND user_id IS NOT NULL ORDER BY id`,
    );
    expect(events).to.deep.equal([
      { staff: doors.admin.email, by: null },
      { staff: null, by: 'link' },
    ]);
  });

  const secrets: Record<string, { args: () => string[]; kind: string; begins: RegExp }> = {
    'a new app': {
      args: () => ['app', 'create', number(), ...SHOP],
      ...{ kind: 'app', begins: /^as_/ },
    },
    'a new app secret': {
      args: () => ['app', 'rotate-secret', code()],
      ...{ kind: 'app', begins: /^as_/ },
    },
    'a webhook secret': {
      args: () => ['app', 'update', code(), '--webhook-secret', 'own'],
      ...{ kind: 'own', begins: /^whsec_/ },
    },
  };
  for (const [what, { args, kind, begins }] of Object.entries(secrets)) {
    it(`lets the merchant read ${what}, once`, async () => {
      const given = await linkOf(args());
      expect(JSON.stringify(given.said)).to.not.match(/as_|whsec_/);
      const [{ email }] = (await rows<{ email: string }>(
        database(),
        'SELECT email FROM merchants WHERE id = :id',
        { id: merchant.merchant_id },
      )) as [{ email: string }];
      expect(given).to.deep.include({ to: [email], part: 'secret' });
      const read = await call('secret', { code: given.code });
      expect(read).to.include({ status: 200, kind });
      expect(read.secret).to.match(begins);
      if (kind === 'app') {
        const { app_key, secret: app_secret } = read;
        const tokens = await request('POST', `${baseUrl}/auth/app/token`, {
          body: { app_key, app_secret },
        });
        expect(tokens.status).to.equal(200);
      }
      expect(await call('secret', { code: given.code })).to.include(GONE);
      const kinds = await rows(
        database(),
        `SELECT FROM security_events WHERE kind = 'secret_read'`,
      );
      expect(kinds).to.have.length(1);
    });
  }

  it('is read by a second webhook secret’s link, not by the first one', async () => {
    await run(['app', 'update', code(), '--webhook-secret', 'own']);
    const first = await linkOf(['app', 'rotate-webhook-secret', code()]);
    const second = await linkOf(['app', 'rotate-webhook-secret', code()]);
    expect(await call('secret', { code: first.code })).to.include(GONE);
    expect(await call('secret', { code: second.code })).to.include({ status: 200, kind: 'own' });
  });

  it('shows staff that its link is on its way, and until when it is good', async () => {
    const browser = await doors.browserOf(doors.admin);
    const page = () => browser.get(`/merchants/${number()}/apps/${code()}`);
    const sent = await doors.send(
      browser,
      `/merchants/${number()}/apps/${code()}/change/rotate-secret`,
      {
        overlap: '0',
      },
    );
    expect([sent.status, sent.text.includes('as_')]).to.deep.equal([303, false]);
    expect((await page()).text).to.include('goes out by e-mail');
    await mailSetUp(doors.test.service);
    expect((await page()).text).to.include('sent and not used, good until');
  });

  it('is shown to neither of two admins', async () => {
    const second = await doors.newAdmin();
    const asked = JSON.parse(await run(['app', 'rotate-secret', code()]));
    const args = ['approval', 'approve', asked.approval, '--otp', nextOtp(second), '--json'];
    const { stdout } = await doors.run(args, second);
    expect(stdout).to.not.match(/as_[\w-]{20}/);
    expect(await mailSetUp(doors.test.service)).to.equal(1);
  });

  it('is no password that somebody brings', async () => {
    const args = ['user', 'create', number(), ...JUMA, '--password-stdin'];
    const { stderr } = await doors.run(args, doors.admin, 'correct horse battery');
    expect(stderr).to.include('the user sets the password by a link');
    expect(await rows(database(), `SELECT FROM users WHERE email = 'juma@x.example'`)).to.be.empty;
  });

  it('is not given by a code of the other kind, or by one that nobody was sent', async () => {
    const secret = await linkOf(['app', 'rotate-secret', code()]);
    for (const wrong of [secret.code, 'x'.repeat(43)]) {
      const answer = await call('password', { code: wrong, new_password: PASSWORD });
      expect(answer).to.include(GONE);
    }
    const password = await linkOf(['user', 'create', number(), ...JUMA]);
    expect(await call('secret', { code: password.code })).to.include(GONE);
    expect(await call('secret', { code: secret.code }), 'is spent by no wrong use').to.include({
      status: 200,
    });
    const set = await call('password', { code: password.code, new_password: PASSWORD });
    expect(set.status, 'is spent by no wrong use').to.equal(200);
  });

  it('is given by no link after a day, or after all credentials were ended', async () => {
    const late = await linkOf(['user', 'create', number(), ...JUMA]);
    await rows(database(), `UPDATE set_ups SET expires_at = now()`);
    const answer = await call('password', { code: late.code, new_password: PASSWORD });
    expect(answer).to.include(GONE);
    const ended = await linkOf(['app', 'rotate-secret', code()]);
    await run(['merchant', 'revoke-all', number()]);
    expect(await call('secret', { code: ended.code })).to.include(GONE);
    expect(await rows(database(), 'SELECT FROM set_ups')).to.deep.equal([]);
  });

  it('goes out again with another code when the mail server did not take it', async () => {
    mail.answerWith('451 try again');
    await run(['app', 'rotate-secret', code()]);
    expect(await mailSetUp(doors.test.service)).to.equal(1);
    expect(await mailSetUp(doors.test.service), 'not at once').to.equal(0);
    const [before] = await rows<{ code_hash: Buffer }>(database(), 'SELECT code_hash FROM set_ups');
    mail.answerWith(null);
    await rows(database(), 'UPDATE set_ups SET tell_at = now()');
    expect(await mailSetUp(doors.test.service)).to.equal(1);
    const [after] = await rows<{ code_hash: Buffer }>(database(), 'SELECT code_hash FROM set_ups');
    expect(after!.code_hash.equals(before!.code_hash)).to.equal(false);
    expect(mail.received).to.have.length(1);
    expect(await mailSetUp(doors.test.service), 'once').to.equal(0);
  });

  it('of two uses at once, is given to one', async () => {
    const secret = await linkOf(['app', 'rotate-secret', code()]);
    const both = await Promise.all([1, 2].map(() => call('secret', { code: secret.code })));
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
    const password = await linkOf(['user', 'create', number(), ...JUMA]);
    const set = await Promise.all(
      [PASSWORD, `${PASSWORD} too`].map((new_password) =>
        call('password', { code: password.code, new_password }),
      ),
    );
    expect(set.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
  });
});
