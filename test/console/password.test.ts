import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { createConsole } from '../../src/console/app.ts';
import { resetStaffTotp } from '../../src/domain/credentials/staff-log-in.ts';
import {
  endOwnSession,
  memberOfSession,
  requireStillMember,
} from '../../src/domain/credentials/staff-session.ts';
import { type StaffRole, updateStaff } from '../../src/domain/staff/staff.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import { consoleClient } from '../support/console-client.ts';

const NEW = 'a new long password';

describe('A password for the console', () => {
  let test: TestConsole;

  before(async () => {
    test = await startTestConsole();
    await newMember(test, 'admin');
  });

  after(() => test.close());

  const set = async (fields: Record<string, string>) => {
    const browser = test.client();
    await browser.get('/password');
    return browser.post('/password', { password: NEW, again: NEW, ...fields });
  };

  it('is set with the staff token, and ends all sessions of the member', async () => {
    const member = await newMember(test, 'viewer');
    const { email, token } = member;
    const browser = await logIn(test, member);
    expect((await browser.get('/')).status).to.equal(200);
    expect((await set({ email, token })).text).to.include('Your password is set');
    expect((await browser.get('/')).location).to.equal('/log-in');
    expect((await (await logIn(test, { ...member, password: NEW })).get('/')).status).to.equal(200);
    const old = test.client();
    await old.get('/log-in');
    expect((await old.post('/log-in', { email, password: member.password })).status).to.equal(401);
  });

  it('is not set with the token of somebody else, an old one, or none', async () => {
    const { email, token } = await newMember(test, 'viewer');
    const other = await newMember(test, 'viewer');
    const wrong = [
      { email, token: other.token },
      { email, token: '' },
      { email: 'nobody@x.example', token },
    ];
    for (const fields of wrong) {
      const { status, text } = await set(fields);
      expect([status, text.includes('staff token is wrong')]).to.deep.equal([422, true]);
    }
    const { database } = test.testDatabase;
    await rows(database, 'UPDATE staff SET token_expires_at = now() WHERE email = :email', {
      email,
    });
    expect((await set({ email, token })).status).to.equal(422);
  });

  it('has at least twelve characters, is not easy to guess, and is typed twice', async () => {
    const { email, token } = await newMember(test, 'viewer');
    const short = await set({ email, token, password: 'short', again: 'short' });
    expect([short.status, short.text.includes('12 to 128 characters')]).to.deep.equal([422, true]);
    const word = email.split('-')[0]!;
    for (const easy of ['a'.repeat(12), 'qwertyuiop12', `${word}-${word}-26`]) {
      const { status, text } = await set({ email, token, password: easy, again: easy });
      expect([status, text.includes('is easy to guess')], easy).to.deep.equal([422, true]);
    }
    const twice = await set({ email, token, again: 'something else' });
    expect([twice.status, twice.text.includes('not the same')]).to.deep.equal([422, true]);
  });

  it('is gone with a deactivation, and sessions end when one-time passwords are reset', async () => {
    const { database } = test.testDatabase;
    const member = await newMember(test, 'support');
    const browser = await logIn(test, member);
    expect((await browser.get('/')).status).to.equal(200);
    await inTransaction(database, (trx) => resetStaffTotp(trx, member as never));
    expect((await browser.get('/')).location).to.equal('/log-in');
    const { email, password } = member;
    for (const active of [false, true]) {
      await inTransaction(database, (trx) => updateStaff(trx, email, { active }));
    }
    const again = test.client();
    await again.get('/log-in');
    expect((await again.post('/log-in', { email, password })).status).to.equal(401);
  });

  it('lets nobody end a change whose access has ended meanwhile', async () => {
    const { database } = test.testDatabase;
    const { id } = await newMember(test, 'support');
    const times = { started_at_ms: Date.now(), used_at_ms: Date.now() };
    const session = { staff_id: id, session_no: 2, with_totp: true, address: null, ...times };
    const sid = randomUUID();
    const [{ name }] = (await rows<{ name: string }>(
      database,
      `INSERT INTO console_sessions (sid, sess, expire)
       VALUES (:sid, CAST(:sess AS jsonb), now() + interval '1 hour')
       RETURNING left(encode(sha256(convert_to(sid, 'UTF8')), 'hex'), 12) AS name`,
      { sid, sess: JSON.stringify({ staff: session }) },
    )) as [{ name: string }];
    const may = (needed: StaffRole) =>
      inTransaction(database, (trx) => requireStillMember(trx, { ...session, name }, needed)).then(
        () => true,
        (error) => error.message,
      );
    expect(await may('support')).to.equal(true);
    expect(await may('admin')).to.equal('You may not do this any more');
    const member = () => memberOfSession(database, session, { sid, isUse: false });
    expect((await member())?.member.id).to.equal(id);
    expect(await endOwnSession(database, session, name)).to.equal(true);
    expect(await member()).to.equal(null);
    expect(await may('support')).to.equal('You may not do this any more');
    await rows(database, 'UPDATE staff SET session_no = session_no + 1 WHERE id = :id', { id });
    expect(await may('support')).to.equal('You may not do this any more');
  });

  it('goes over HTTPS only, with a cookie that no other host can set, where the console has it', async () => {
    const { service } = test;
    const config = {
      ...service.config,
      consoleUrl: 'https://console.example',
      requireHttps: true,
      trustProxy: ['loopback'],
    };
    const server = createServer(createConsole({ ...service, config }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const browser = consoleClient(`http://127.0.0.1:${port}`);
    const plain = await browser.get('/log-in');
    expect([plain.status, plain.text.includes('Open https://console.example')]).to.deep.equal([
      403,
      true,
    ]);
    const { headers } = await browser.get('/log-in', { 'x-forwarded-proto': 'https' });
    expect(headers.get('set-cookie')).to.match(/^__Host-malipo-console=.*Path=\/;.*Secure/);
    expect(headers.get('strict-transport-security')).to.match(/max-age/);
    server.close();
    server.closeAllConnections();
  });
});
