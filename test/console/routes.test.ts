import { expect } from 'chai';
import { MAX_UPLOAD_BYTES } from '../../src/console/access/upload.ts';
import { type Access, ROUTES, type Route } from '../../src/console/routes.ts';
import { mayActAs, STAFF_ROLES, type StaffRole } from '../../src/domain/staff/staff.ts';
import {
  givePassword,
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
  type TestMember,
} from '../support/console.ts';
import {
  type ConsoleAnswer,
  type ConsoleClient,
  consoleClient,
} from '../support/console-client.ts';
import { securityEvents } from '../support/security-events.ts';

const ALL: [string, Route][] = Object.entries(ROUTES);
const POSTS = ALL.filter(([, { method }]) => method === 'post');
const SOME_ID = '01890000-0000-7000-8000-000000000000';
/** What ends the session of the one who walks. */
const ENDING = ['/log-out'];

/** The path of a route, with something in the place of each parameter. */
const pathOf = ({ path }: Route) =>
  path.replace(':kind', 'payout').replace(':merchant_id', '1001').replace(/:\w+/g, SOME_ID);

const needsRole = (role: Access): role is StaffRole =>
  (STAFF_ROLES as readonly string[]).includes(role);

const leadsToLogIn = ({ status, location, headers }: ConsoleAnswer) =>
  (status === 303 && location!.startsWith('/log-in')) ||
  (status === 204 && headers.get('hx-redirect')!.startsWith('/log-in'));

describe('The routes of the console', () => {
  let test: TestConsole;
  const members = {} as Record<StaffRole, TestMember>;

  before(async () => {
    test = await startTestConsole();
    for (const role of STAFF_ROLES) members[role] = await newMember(test, role);
  });

  after(() => test.close());

  const ask = (browser: ConsoleClient, route: Route) =>
    route.method === 'get' ? browser.get(pathOf(route)) : browser.post(pathOf(route));

  it('lead to the log-in without a session, but those for everybody', async () => {
    for (const [name, route] of ALL.filter(([, { role }]) => role !== 'anyone')) {
      const browser = test.client();
      await browser.get('/log-in');
      expect(leadsToLogIn(await ask(browser, route)), name).to.equal(true);
    }
  });

  for (const role of STAFF_ROLES) {
    it(`are for the role ${role} what their table says, by a hand-made request too`, async () => {
      const browser = await logIn(test, members[role]);
      await browser.get('/');
      for (const [name, route] of ALL.filter(([, { path }]) => !ENDING.includes(path))) {
        const answer = await ask(browser, route);
        const isRefused = needsRole(route.role) && !mayActAs(role, route.role);
        expect(answer.status === 403, name).to.equal(isRefused);
        expect(leadsToLogIn(answer), name).to.equal(false);
        expect(answer.status, name).to.be.below(500);
      }
    });
  }

  it('take no form without the token of the session, or with that of another', async () => {
    const browser = await logIn(test, await newMember(test, 'admin'));
    await browser.get('/');
    const other = test.client();
    await other.get('/log-in');
    for (const [name, route] of POSTS) {
      const missing = await browser.postRaw(pathOf(route), {});
      const foreign = await browser.postRaw(pathOf(route), { _csrf: other.csrf });
      expect([missing.status, foreign.status], name).to.deep.equal([403, 403]);
      expect(missing.text, name).to.include('Nothing was changed');
    }
    expect((await browser.get('/')).status).to.equal(200);
  });

  it('read no file of somebody who may not send one', async () => {
    const file = new File([new Uint8Array(MAX_UPLOAD_BYTES)], 'statement.csv');
    const send = async (browser: ConsoleClient) => {
      await browser.get('/');
      return (await browser.postFile('/reconciliation/new', { file })).status;
    };
    const stranger = test.client();
    await stranger.get('/log-in');
    const half = await givePassword(test, await newMember(test, 'support'));
    await half.get('/one-time-password');
    // Whoever may send one is told that it is too large.
    expect(await send(await logIn(test, await newMember(test, 'support')))).to.equal(413);
    expect(await send(await logIn(test, await newMember(test, 'viewer')))).to.equal(403);
    for (const browser of [stranger, half]) expect(await send(browser)).to.equal(403);
  });

  it('read no form of many parts', async () => {
    const browser = await logIn(test, await newMember(test, 'support'));
    await browser.get('/');
    const parts = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`part${at}`, '']));
    expect((await browser.postFile('/reconciliation/new', parts)).status).to.equal(403);
  });

  it('take no form that another site sends', async () => {
    const browser = test.client();
    await browser.get('/log-in');
    const fields = { _csrf: browser.csrf, email: 'a@x.example', password: 'b' };
    for (const origin of ['https://evil.example', 'null']) {
      const { status, text } = await browser.postRaw('/log-in', fields, { origin });
      expect([status, text.includes('another address')], origin).to.deep.equal([403, true]);
    }
    const own = await browser.postRaw('/log-in', fields, { origin: test.origin });
    expect(own.status).to.equal(401);
  });

  it('leave an event of each step of a log-in, without the account that was tried', async () => {
    const support = await newMember(test, 'support');
    const { database } = test.testDatabase;
    const before = (await securityEvents(database)).length;
    const stranger = test.client();
    await stranger.get('/log-in');
    await stranger.post('/log-in', { email: support.email, password: 'wrong' });
    const browser = await logIn(test, support);
    await browser.get('/');
    await browser.post('/log-out');
    const events = (await securityEvents(database)).slice(before);
    expect(events.map(({ kind, staff, ip }) => [kind, staff, ip])).to.deep.equal([
      ['log_in_failed', null, '127.0.0.1'],
      ['log_in', support.email, '127.0.0.1'],
      ['logged_out', support.email, '127.0.0.1'],
    ]);
  });

  it('answer with a page that says what to do while the database is away', async () => {
    const away = await startTestConsole();
    const browser = await logIn(away, await newMember(away, 'viewer'));
    await away.service.database.destroy();
    const { status, text } = await browser.get('/');
    expect([status, text.includes('Try again in a minute')]).to.deep.equal([503, true]);
    await away.close();
  });

  it('have assets of our own, each at an address of its version', async () => {
    const browser = consoleClient(test.origin);
    const { text } = await browser.get('/log-in');
    const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(paths).to.have.length(4);
    for (const path of paths) {
      const { status, headers } = await browser.get(path);
      expect([status, headers.get('set-cookie')], path).to.deep.equal([200, null]);
      expect(headers.get('cache-control')).to.include('immutable');
    }
    expect(text).to.not.match(/https?:\/\/(?!127)|<style|style="|onclick/);
  });
});
