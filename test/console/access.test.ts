import { expect } from 'chai';
import { hasRow, rows } from '../../src/connections/database.ts';
import { accountHash, FAILURES_AT_ONCE } from '../../src/domain/credentials/log-in-limit.ts';
import { PASSWORD_COST, takeTurn } from '../../src/domain/credentials/passwords.ts';
import { STAFF } from '../../src/domain/credentials/people.ts';
import { useStaffTotp } from '../../src/domain/credentials/staff-log-in.ts';
import { SESSION_IDLE_MS, SESSION_MAX_MS } from '../../src/domain/credentials/staff-session.ts';
import { recordSecurityEvent } from '../../src/domain/security/security-events.ts';
import { requireStaff } from '../../src/domain/staff/require-staff.ts';
import type { StaffRole } from '../../src/domain/staff/staff.ts';
import {
  givePassword,
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
  type TestMember,
} from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { securityEvents } from '../support/security-events.ts';
import { otpOf, wrongOtpOf } from '../support/totp.ts';

/** A cost at which one check takes about a tenth of a second. */
const SLOW_N = 2 ** 15;
const LINE_IS_FULL = 'Too many people log in now: try again in a minute';
const COOKIE = 'malipo-console';
const WAITS_FOR_A_LOCK = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

describe('The log-in to the console', () => {
  let test: TestConsole;

  before(async () => {
    test = await startTestConsole();
  });

  after(() => test.close());

  const change = (sql: string, bindings: object) => rows(test.testDatabase.database, sql, bindings);
  const isIn = async (browser: { get(path: string): Promise<{ status: number }> }) =>
    (await browser.get('/')).status === 200;
  const tryPassword = async (email: string, password: string) => {
    const browser = test.client();
    await browser.get('/log-in');
    return browser.post('/log-in', { email, password });
  };

  /** Lets a member have been logged in from the network of the tests. */
  const knowNetwork = ({ email }: TestMember) =>
    recordSecurityEvent(test.testDatabase.database, {
      kind: 'log_in',
      ip: '127.0.0.1',
      account_hash: accountHash(test.service.config.secretsKeys, STAFF.accountOf(email)),
    });

  it('shows a member the own sessions, and ends one of them, but nobody else’s', async () => {
    const [member, other] = [await newMember(test, 'viewer'), await newMember(test, 'viewer')];
    const [here, there] = [await logIn(test, member), await logIn(test, member)];
    const stranger = await logIn(test, other);
    const namesIn = ({ text }: { text: string }) =>
      [...text.matchAll(/name="session" value="(\w+)"/g)].map(([, name]) => name!);
    const page = await here.get('/sessions');
    expect(page.text).to.include('127.0.0.1').and.include('This session');
    const [name, ...more] = namesIn(page);
    expect(more).to.deep.equal([]);
    await stranger.get('/sessions');
    await stranger.post('/sessions', { session: name! });
    expect(await isIn(there), 'after a stranger has tried').to.equal(true);
    await here.post('/sessions', { session: name! });
    expect([await isIn(here), await isIn(there)]).to.deep.equal([true, false]);
    expect(namesIn(await here.get('/sessions'))).to.deep.equal([]);
    const ended = (await securityEvents(test.testDatabase.database)).filter(
      ({ kind }) => kind === 'session_ended',
    );
    expect(ended.map(({ staff, detail }) => [staff, detail])).to.deep.equal([
      [member.email, { session: name }],
    ]);
  });

  it('lets a viewer in by e-mail address, password and one-time password', async () => {
    const viewer = await newMember(test, 'viewer');
    const browser = test.client();
    const first = await browser.get('/nowhere');
    expect([first.status, first.location]).to.deep.equal([404, null]);
    const { status, location } = await browser.get('/?a=1');
    expect([status, location]).to.deep.equal([303, '/log-in?next=%2F%3Fa%3D1']);
    await browser.get(location!);
    const { email, password } = viewer;
    const back = await browser.post('/log-in', {
      email: email.toUpperCase(),
      password,
      next: '/?a=1',
    });
    expect([back.status, back.location]).to.deep.equal([303, '/?a=1']);
    expect((await browser.get('/')).location).to.equal('/one-time-password');
    await browser.get('/one-time-password');
    await browser.post('/one-time-password', { code: otpOf(viewer.secret!) });
    expect((await browser.get('/')).text).to.include(email);
  });

  it('never leads to another site', async () => {
    const { email, password } = await newMember(test, 'viewer');
    for (const next of [
      '//evil.example',
      'https://evil.example',
      '/\\evil.example',
      '/\t/evil.example',
    ]) {
      const browser = test.client();
      await browser.get('/log-in');
      expect((await browser.post('/log-in', { email, password, next })).location).to.equal('/');
    }
  });

  it('leads to no other site from the page of an error', async () => {
    const { status, text } = await test.client().get('//evil.example/x');
    expect([status, text.includes('evil.example')]).to.deep.equal([404, false]);
  });

  it('leads to the page that was wanted, through each of its steps', async () => {
    const { email, password, secret } = await newMember(test, 'support');
    const browser = test.client();
    const next = { next: '/approvals?state=open' };
    const asked = `?${new URLSearchParams(next)}`;
    expect((await browser.get(next.next)).location).to.equal(`/log-in${asked}`);
    expect((await browser.get(`/log-in${asked}`)).text).to.include(`value="${next.next}"`);
    await browser.post('/log-in', { email, password, ...next });
    expect((await browser.get(next.next)).location).to.equal(`/one-time-password${asked}`);
    const form = await browser.get(`/one-time-password${asked}`);
    expect(form.text).to.include(`name="next" value="${next.next}"`);
    const wrong = await browser.post('/one-time-password', { code: wrongOtpOf(secret!), ...next });
    expect(wrong.text).to.include(`name="next" value="${next.next}"`);
    const right = await browser.post('/one-time-password', { code: otpOf(secret!), ...next });
    expect(right.location).to.equal(next.next);
    const again = await browser.get('/one-time-password?next=//evil.example');
    expect(again.location).to.equal('/');
  });

  it('leads from a part of a page to the page around it', async () => {
    const nextOf = async (around?: string) => {
      const headers: Record<string, string> = around ? { 'HX-Current-URL': around } : {};
      const { status, headers: sent } = await test.client().get('/overview/queues', headers);
      expect(status).to.equal(204);
      return sent.get('hx-redirect');
    };
    expect(await nextOf(`${test.origin}/discrepancies?state=open#top`)).to.equal(
      '/log-in?next=%2Fdiscrepancies%3Fstate%3Dopen',
    );
    for (const around of [undefined, 'x', `${test.origin}/`, `${test.origin}//evil.example`]) {
      expect(await nextOf(around), around).to.equal('/log-in');
    }
  });

  it('asks every member for a one-time password, before anything else', async () => {
    const support = await newMember(test, 'support');
    const browser = await givePassword(test, support);
    const half = await browser.get('/');
    expect([half.status, half.location]).to.deep.equal([303, '/one-time-password']);
    await browser.get('/one-time-password');
    const wrong = await browser.post('/one-time-password', { code: wrongOtpOf(support.secret!) });
    expect([wrong.status, /wrong, or was used/.test(wrong.text)]).to.deep.equal([401, true]);
    expect(await isIn(browser)).to.equal(false);
    const code = otpOf(support.secret!);
    const spaced = code.replace(/^.../, '$& ');
    const right = await browser.post('/one-time-password', { code: spaced });
    expect([right.status, right.location]).to.deep.equal([303, '/']);
    expect(await isIn(browser)).to.equal(true);
    const again = await givePassword(test, support);
    await again.get('/one-time-password');
    const used = await again.post('/one-time-password', { code });
    expect(used.status).to.equal(401);
  });

  for (const role of ['viewer', 'admin'] as const) {
    it(`lets a new ${role} set up one-time passwords first, and see nothing else`, () =>
      setsUp(role));
  }

  async function setsUp(role: StaffRole) {
    const admin = await newMember(test, role, false);
    const browser = await givePassword(test, admin);
    expect((await browser.get('/')).location).to.equal('/set-up');
    expect((await browser.get('/audit')).location).to.equal('/set-up?next=%2Faudit');
    await browser.get('/set-up');
    const begun = await browser.post('/set-up', { token: admin.token });
    const secret = /<pre id="secret">([A-Z2-7]+)<\/pre>/.exec(begun.text)![1]!;
    expect(begun.text).to.include('otpauth://totp/');
    const wrong = await browser.post('/set-up/confirm', { code: wrongOtpOf(secret) });
    expect([wrong.status, wrong.text.includes(secret)]).to.deep.equal([422, false]);
    const confirmed = await browser.post('/set-up/confirm', { code: otpOf(secret) });
    expect([confirmed.status, confirmed.location]).to.deep.equal([303, '/']);
    expect(await isIn(browser)).to.equal(true);
    const again = await givePassword(test, { ...admin, secret });
    expect((await again.get('/')).location).to.equal('/one-time-password');
    expect((await again.get('/set-up')).location).to.equal('/');
    const actions = await rows(
      test.testDatabase.database,
      'SELECT action FROM audit_log WHERE actor = :email AND reason IS NOT NULL ORDER BY id',
      admin,
    );
    expect(actions.map((row) => (row as { action: string }).action)).to.deep.equal([
      ...['staff.set-password', 'staff.begin-totp', 'staff.confirm-totp'],
    ]);
  }

  it('lets nobody set up one-time passwords with the password alone', async () => {
    const admin = await newMember(test, 'admin', false);
    const other = await newMember(test, 'admin');
    const thief = await givePassword(test, admin);
    await thief.get('/set-up');
    for (const token of ['', other.token, 'staff_guessed']) {
      const { status, text } = await thief.post('/set-up', { token });
      expect([status, text.includes('staff token is wrong')]).to.deep.equal([422, true]);
      expect(text).to.not.include('id="secret"').and.not.include('/set-up/confirm');
    }
    const begun = await rows(
      test.testDatabase.database,
      'SELECT FROM staff_totp_secrets WHERE staff_id = :id',
      admin,
    );
    expect(begun).to.have.length(0);
    const refused = await securityEvents(test.testDatabase.database, 'staff_refused');
    expect(refused.filter(({ staff }) => staff === admin.email)).to.have.length(3);
  });

  it('says the same about a wrong password, an unknown account and one without a password', async () => {
    const viewer = await newMember(test, 'viewer');
    const bare = await newMember(test, 'viewer');
    await change('UPDATE staff SET password_hash = NULL WHERE id = :id', bare);
    const texts = [];
    for (const email of [viewer.email, bare.email, 'nobody@x.example', '']) {
      const { status, text } = await tryPassword(email, 'wrong');
      expect(status).to.equal(401);
      texts.push(/role="alert">([^<]+)</.exec(text)![1]);
    }
    expect(new Set(texts)).to.deep.equal(new Set(['The e-mail address or the password is wrong.']));
  });

  it('is refused after too many failures of an account, also with the right password', async () => {
    const { email, password } = await newMember(test, 'viewer');
    for (let tries = 0; tries < FAILURES_AT_ONCE; tries++) await tryPassword(email, 'wrong');
    const { status, text } = await tryPassword(email, password);
    expect([status, /Too many log-ins/.test(text)]).to.deep.equal([401, true]);
    const unknown = 'nobody-else@x.example';
    for (let tries = 0; tries < FAILURES_AT_ONCE; tries++) await tryPassword(unknown, 'wrong');
    expect((await tryPassword(unknown, 'wrong')).text).to.match(/Too many log-ins/);
    const other = await newMember(test, 'viewer');
    expect((await tryPassword(other.email, other.password)).status).to.equal(303);
  });

  it('takes a right one-time password from a known network, however many wrong ones a thief of the password has tried elsewhere', async () => {
    const member = await newMember(test, 'admin');
    const thief = await givePassword(test, member);
    await thief.get('/one-time-password');
    const tryOtp = (browser: typeof thief, code: string) =>
      browser.post('/one-time-password', { code });
    for (let tries = 0; tries < FAILURES_AT_ONCE; tries++) {
      expect((await tryOtp(thief, wrongOtpOf(member.secret!))).text).to.include('is wrong');
    }
    const limited = await tryOtp(thief, otpOf(member.secret!));
    expect([limited.status, /Too many wrong/.test(limited.text)]).to.deep.equal([401, true]);
    await knowNetwork(member);
    expect((await tryOtp(thief, otpOf(member.secret!))).status).to.equal(303);
    // The other door has a count of its own.
    const { database, config } = test.service;
    const code = otpOf(member.secret!, 1);
    const atCommandLine = await requireStaff(database, member.token, 'admin');
    await useStaffTotp(database, config.secretsKeys, atCommandLine!, code, null);
  });

  it('takes a right one-time password, however many wrong passwords a stranger has tried', async () => {
    const support = await newMember(test, 'support');
    const browser = await givePassword(test, support);
    for (let tries = 0; tries <= FAILURES_AT_ONCE; tries++) {
      await tryPassword(support.email, 'wrong');
    }
    await browser.get('/one-time-password');
    const { status } = await browser.post('/one-time-password', { code: otpOf(support.secret!) });
    expect(status).to.equal(303);
  });

  it('lets people in who were logged in lately, while strangers flood it with wrong passwords', async () => {
    const member = await newMember(test, 'viewer');
    await knowNetwork(member);
    const { email, password } = member;
    const costOfRun = PASSWORD_COST.N;
    PASSWORD_COST.N = SLOW_N;
    try {
      const strangers = Array.from({ length: 60 }, () => test.client());
      await Promise.all(strangers.map((browser) => browser.get('/log-in')));
      const flood = strangers.map((browser, index) =>
        browser.post('/log-in', { email: `stranger-${index}@x.example`, password: 'wrong' }),
      );
      await Promise.race(flood);
      expect((await tryPassword(email, password)).status).to.equal(303);
      const answers = await Promise.all(flood);
      const refused = answers.filter(({ status }) => status === 503);
      expect(refused.length).to.be.greaterThan(40);
      for (const { text } of refused) expect(text).to.include(LINE_IS_FULL);
      const wrong = answers.filter(({ status }) => status === 401);
      expect(wrong.length + refused.length).to.equal(strangers.length);
    } finally {
      PASSWORD_COST.N = costOfRun;
    }
  });

  it('lets 40 of 46 members wait in line, and asks the others to come again', async () => {
    const members = [];
    for (let made = 0; made < 46; made++) {
      const member = await newMember(test, 'viewer');
      await knowNetwork(member);
      members.push(member);
    }
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const checks = [takeTurn(() => held), takeTurn(() => held)];
    const refused: (typeof members)[number][] = [];
    const logIns = members.map(async (member) => {
      const { status, text } = await tryPassword(member.email, member.password);
      if (status === 303) return;
      expect([status, text.includes(LINE_IS_FULL)]).to.deep.equal([503, true]);
      refused.push(member);
    });
    await eventually('the line is full', async () => refused.length === 6).finally(letGo);
    await Promise.all([...checks, ...logIns]);
    expect(refused).to.have.length(6);
    const { email, password } = refused[0]!;
    expect((await tryPassword(email, password)).status).to.equal(303);
  });

  it('gives the session a new id at each step, so that nobody knows it from before', async () => {
    const support = await newMember(test, 'support');
    const browser = test.client();
    await browser.get('/log-in');
    const ids = [browser.cookies.get(COOKIE)];
    const fixed = test.client();
    fixed.cookies.set(COOKIE, ids[0]!);
    await browser.post('/log-in', support as never);
    ids.push(browser.cookies.get(COOKIE));
    await browser.get('/one-time-password');
    await browser.post('/one-time-password', { code: otpOf(support.secret!) });
    ids.push(browser.cookies.get(COOKIE));
    expect(new Set(ids).size).to.equal(3);
    expect(await isIn(browser)).to.equal(true);
    for (const id of ids.slice(0, 2)) {
      fixed.cookies.set(COOKIE, id!);
      expect((await fixed.get('/')).location).to.match(/^\/log-in/);
    }
  });

  it('takes no id that it has not given out', async () => {
    const browser = test.client();
    browser.cookies.set(COOKIE, 's%3Achosen.signature');
    await browser.get('/log-in');
    expect(browser.cookies.get(COOKIE)).to.not.include('chosen');
  });

  it('keeps nothing of somebody who is not logged in, and one session of a member', async () => {
    const count = async () =>
      (await rows(test.testDatabase.database, 'SELECT FROM console_sessions')).length;
    const before = await count();
    const viewer = await newMember(test, 'viewer');
    for (const path of ['/log-in', '/password', '/', '/nothing']) await test.client().get(path);
    await tryPassword(viewer.email, 'wrong');
    expect(await count()).to.equal(before);
    const browser = await logIn(test, viewer);
    await browser.get('/');
    expect(await count()).to.equal(before + 1);
    await browser.post('/log-out');
    expect(await count()).to.equal(before);
    expect((await browser.get('/log-in')).status).to.equal(200);
    await browser.post('/log-in', { email: viewer.email, password: viewer.password });
    expect((await browser.get('/')).location).to.equal('/one-time-password');
  });

  it('ends with the log-out, on the server too', async () => {
    const browser = await logIn(test, await newMember(test, 'support'));
    await browser.get('/');
    const stolen = test.client();
    stolen.cookies.set(COOKIE, browser.cookies.get(COOKIE)!);
    expect(await isIn(stolen)).to.equal(true);
    expect((await browser.post('/log-out')).location).to.equal('/log-in');
    expect(await isIn(stolen)).to.equal(false);
  });

  it('ends with the log-out, although another request has read it and keeps it afterwards', async () => {
    const viewer = await newMember(test, 'viewer');
    const browser = await logIn(test, viewer);
    await browser.get('/');
    // The next page is a use, so its request keeps the session.
    await change(
      `UPDATE console_sessions SET sess = jsonb_set(sess, '{staff,used_at_ms}', to_jsonb(
         CAST(sess -> 'staff' ->> 'used_at_ms' AS bigint) - 120000))
       WHERE sess -> 'staff' ->> 'staff_id' = :id`,
      viewer,
    );
    const copy = test.client();
    copy.cookies.set(COOKIE, browser.cookies.get(COOKIE)!);
    const held = await test.testDatabase.owner.transaction();
    await held.raw('LOCK TABLE merchants IN ACCESS EXCLUSIVE MODE');
    const slow = copy.get('/merchants');
    const { database } = test.testDatabase;
    await eventually('the page waits for the merchants', () => hasRow(database, WAITS_FOR_A_LOCK))
      .then(() => browser.post('/log-out'))
      .finally(() => held.rollback());
    expect((await slow).status).to.equal(200);
    expect((await copy.get('/')).location).to.equal('/log-in');
  });

  const agings = [
    ['used_at_ms', SESSION_IDLE_MS, 'half an hour without use'],
    ['started_at_ms', SESSION_MAX_MS, 'twelve hours, however busy'],
  ] as const;
  for (const [time, ms, words] of agings) {
    it(`ends after ${words}`, async () => {
      const viewer = await newMember(test, 'viewer');
      const browser = await logIn(test, viewer);
      const age = (by: number) =>
        change(
          `UPDATE console_sessions
           SET sess = jsonb_set(sess, CAST(ARRAY['staff', :time] AS text[]),
             to_jsonb(CAST(sess -> 'staff' ->> :time AS bigint) - CAST(:by AS bigint)))
           WHERE sess -> 'staff' ->> 'staff_id' = :id`,
          { time, by, id: viewer.id },
        );
      await age(ms - 60_000);
      expect(await isIn(browser)).to.equal(true);
      await age(ms);
      expect((await browser.get('/')).location).to.equal('/log-in');
    });
  }

  it('ends at once when the member is deactivated, and has another role at once', async () => {
    const viewer = await newMember(test, 'viewer');
    const browser = await logIn(test, viewer);
    expect((await browser.get('/reconciliation/new')).status).to.equal(403);
    await change("UPDATE staff SET role = 'support' WHERE id = :id", viewer);
    expect((await browser.get('/reconciliation/new')).status).to.equal(200);
    await change("UPDATE staff SET role = 'viewer', active = false WHERE id = :id", viewer);
    expect((await browser.get('/')).location).to.equal('/log-in');
    expect((await tryPassword(viewer.email, viewer.password)).status).to.equal(401);
  });

  it('keeps cookies from scripts and other sites, and pages from caches and frames', async () => {
    const { headers } = await test.client().get('/log-in');
    expect(headers.get('set-cookie')).to.match(/HttpOnly; SameSite=Lax/);
    expect(headers.get('cache-control')).to.equal('no-store');
    const policy = headers.get('content-security-policy')!;
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
      expect(policy).to.include(rule);
    }
    expect(policy).to.not.include('unsafe');
  });
});
