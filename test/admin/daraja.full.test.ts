import { expect } from 'chai';
import {
  type DarajaSimulator,
  startDarajaSimulator,
} from '../../scripts/daraja-simulator/server.ts';
import { rows } from '../../src/connections/database.ts';
import { DAY_MS, HOUR_MS } from '../../src/time.ts';
import type { Document } from '../support/admin.ts';
import { type AdminRun, runAdmin } from '../support/admin-runs.ts';
import { ACTOR } from '../support/admin-usage.ts';
import { rewrite } from '../support/database.ts';
import { startLocalServer } from '../support/gateway-fixtures.ts';
import { learn, newCollection, succeeded } from '../support/payments.ts';
import { createTestMerchant } from '../support/test-merchant.ts';
import { startTestService, type TestService } from '../support/test-service.ts';

const SHORTCODE = '600980';
const OTHER = '600981';
const WHOLE = {
  consumer_key: 'key',
  consumer_secret: 'secret',
  passkey: 'a-passkey',
  initiator: 'testapi',
  security_credential: `${'A'.repeat(342)}==`,
  password_set_on: dayBefore(10),
  nominated_number: '254712345678',
  float_alert_below: '50000.00',
};

describe('admin daraja', () => {
  let simulator: DarajaSimulator;
  let web: TestService;

  before(async () => {
    simulator = await startDarajaSimulator({
      ...{ port: 0, delayMs: 20, shortCode: SHORTCODE, log: () => {} },
      ...{ consumerKey: 'key', consumerSecret: 'secret', passkey: 'a-passkey' },
    });
    web = await startTestService({ workers: ['dispatcher'], env: { DARAJA: config() } });
  });

  after(async () => {
    await web.close();
    await simulator.close();
  });

  function config(fields: object = {}, others: object = {}): string {
    return JSON.stringify({
      ...{ base_url: simulator.url, collections: SHORTCODE, payouts: SHORTCODE },
      shortcodes: { [SHORTCODE]: { ...WHOLE, ...fields } },
      ...others,
    });
  }

  function run(command: string, env: NodeJS.ProcessEnv = {}): Promise<AdminRun> {
    const service = { DATABASE_URL: web.config.databaseUrl, MALIPO_ACTOR: ACTOR };
    const callbacks = { GATEWAY_CALLBACK_URL: web.origin, DARAJA_ANSWER_WINDOW_MS: '5000' };
    return runAdmin(command.split(' '), {
      env: { ...service, ...callbacks, DARAJA: config(), ...env },
    });
  }

  /** What is not ok, each as `about: state, words`. */
  async function troubles(env: NodeJS.ProcessEnv): Promise<{ status: number | null; all: string }> {
    const { status, stdout, stderr } = await run('daraja check --json', env);
    expect(stderr).to.equal('');
    const [{ findings }] = JSON.parse(stdout).accounts;
    const bad = (findings as Document[]).filter(({ state }) => state !== 'ok');
    return {
      status,
      all: bad.map(({ about, state, words }) => `${about}: ${state}, ${words}`).join('\n'),
    };
  }

  const shortcode = (fields: object) => troubles({ DARAJA: config(fields) });

  it('says of each thing that it is ok, and that the balance has come', async () => {
    const { status, stdout } = await run(`daraja check --gateway daraja-${SHORTCODE}`);
    const others = stdout.split('\n').filter((line) => !/^ {2}[\w &-]+: ok, /i.test(line));
    const [name, statements, ...more] = others;
    expect([status, name, more]).to.deep.equal([0, `daraja-${SHORTCODE}`, ['']]);
    expect(statements).to.match(/^ {2}product Pull Transactions: warning, lists nothing in two/);
    expect(stdout).to.match(/^ {2}callbacks from Safaricom: ok, the balance has come/m);
    const [float] = await rows(web.database, 'SELECT gateway FROM gateway_floats');
    expect(float).to.deep.equal({ gateway: `daraja-${SHORTCODE}` });
    expect(await moved()).to.deep.equal([]);
  });

  async function moved(): Promise<unknown[]> {
    return (await (await fetch(`${simulator.url}/statement`)).json()) as unknown[];
  }

  it('says that a credential is wrong, and which', async () => {
    const key = { consumer_key: 'other-key' };
    expect((await shortcode(key)).all).to.match(
      /^credentials: wrong, .*check the consumer key and/,
    );
    const passkey = await shortcode({ passkey: 'wrong' });
    expect(passkey.all).to.match(/^product M-PESA Express: wrong, the passkey does not belong to/);
    expect(passkey.status).to.equal(1);
    const form = await shortcode({ security_credential: 'A'.repeat(120) });
    expect(form.all).to.match(/^product Account Balance: wrong, initiator or credential have the/m);
    const other = { collections: OTHER, payouts: OTHER, shortcodes: { [OTHER]: WHOLE } };
    const quick = { DARAJA_ANSWER_WINDOW_MS: '100' };
    expect((await troubles({ ...quick, DARAJA: config({}, other) })).all).to.match(
      /^product M-PESA Express: wrong, the shortcode is not the one of the go-live/,
    );
  });

  it('says what is missing in the configuration, and when the password ends', async () => {
    const bare = { initiator: undefined, security_credential: undefined };
    const collecting = { payouts: undefined };
    const withoutInitiator = await troubles({ DARAJA: config(bare, collecting) });
    expect(withoutInitiator.all).to.match(/^reversals: wrong, cannot be made without initiator/);
    const ended = await shortcode({ password_set_on: dayBefore(91) });
    expect(ended).to.deep.include({ status: 1 });
    expect(ended.all).to.match(/^initiator password: wrong, ended on /);
    const soon = await shortcode({ password_set_on: dayBefore(80), float_alert_below: undefined });
    expect(soon.status, 'a warning is no failure').to.equal(0);
    expect(soon.all)
      .to.match(/^initiator password: warning, ends on /m)
      .and.match(/^float: warning, nobody is told when it is low/m);
    const unset = { password_set_on: undefined, nominated_number: undefined };
    expect((await shortcode(unset)).all)
      .to.match(/^initiator password: warning, its end is not known/m)
      .and.match(/^statements: warning, cannot be asked for/m);
  });

  it('says what Safaricom would refuse in our addresses, and that they do not lead to us', async () => {
    const bad = await troubles({
      GATEWAY_CALLBACK_URL: 'http://MPESA.localhost:1',
      SECRETS_KEY: `cmd1:${Buffer.alloc(32, 1).toString('base64')}`,
      DARAJA_ANSWER_WINDOW_MS: '100',
    });
    expect(bad.all)
      .to.match(/^callback address: wrong, MPESA.localhost:1 must be in small letters/m)
      .and.match(/^callback address: wrong, Safaricom refuses "MPESA" in /m)
      .and.match(
        /^callback address: wrong, Safaricom refuses "cmd" in the id of the first SECRETS/m,
      )
      .and.match(/^callbacks from here: wrong, http:\/\/MPESA.localhost:1: its name is not found/m)
      .and.match(/^callbacks from Safaricom: wrong, no balance has come in 0.1 s/m);
    const strange = await troubles({
      GATEWAY_CALLBACK_URL: simulator.url,
      DARAJA_ANSWER_WINDOW_MS: '100',
    });
    expect(strange.all).to.match(/^callbacks from here: wrong, .* HTTP 404, but it is not ours/m);
    const unknown = await troubles({ GATEWAY_CALLBACK_URL: '' });
    expect(unknown.all).to.match(/^callback address: wrong, is not known/m);
  });

  it('says that the host is not reached, or that the clock is wrong', async () => {
    const away = await troubles({ DARAJA: config({}, { base_url: 'http://127.0.0.1:1' }) });
    expect(away.all).to.match(
      /^host: wrong, 127.0.0.1:1 is not reached: it refuses the connection/,
    );
    const late = await startLocalServer(async (_req, res) => {
      res.setHeader('date', new Date(Date.now() - HOUR_MS).toUTCString());
      res.writeHead(400).end();
    });
    const { all } = await troubles({ DARAJA: config({}, { base_url: late.url }) });
    await late.close();
    expect(all).to.match(/^clock: wrong, ours is 3[56]\d\d s fast: prompts are refused. Use NTP/m);
  });

  it('names each product that is not approved', async () => {
    const fault = {
      faultstring: 'Invalid API call as no apiproduct match found',
      detail: { errorcode: 'keymanagement.service.InvalidAPICallAsNoApiProductMatchFound' },
    };
    const server = await startLocalServer(async (req, res) => {
      const isToken = req.url!.startsWith('/oauth/');
      const body = isToken ? { access_token: 'token', expires_in: '3599' } : { fault };
      res.writeHead(isToken ? 200 : 401).end(JSON.stringify(body));
    });
    const { all } = await troubles({ DARAJA: config({}, { base_url: server.url }) });
    await server.close();
    for (const name of ['M-PESA Express', 'Account Balance', 'Transaction Status', 'Pull Trans']) {
      expect(all).to.match(
        new RegExp(`^product ${name}.*: wrong, the product is not approved for this app`, 'm'),
      );
    }
  });

  it('tells a shortcode that is quiet from one that is not registered, by our own records', async () => {
    const found = async () => (await troubles({})).all;
    expect(await found()).to.match(/for one that is not registered: register it/);
    await run('daraja register --reason go-live');
    expect(await found()).to.equal('');
    const merchant = await createTestMerchant(web);
    const collection = await newCollection(web.database, merchant);
    await rewrite(web.database, `UPDATE collections SET gateway = 'daraja-${SHORTCODE}'`);
    const completedAt = new Date(Date.now() - 2 * HOUR_MS);
    await learn(web.database, collection, succeeded({ completedAt }));
    expect(await found()).to.match(
      /^product Pull Trans\w+: wrong, .* Customers have paid to it in/,
    );
    await rewrite(web.database, "UPDATE movements SET completed_at = '2026-01-01'");
  });

  it('registers our address once, and says so', async () => {
    const register = 'daraja register --reason go-live';
    const { status, stdout } = await run(register);
    expect([status, stdout.startsWith(`daraja-${SHORTCODE}: `)]).to.deep.equal([0, true]);
    const { stdout: again } = await run(`${register} --json`);
    const callback_url = `${web.origin}/gateway/callbacks/daraja-${SHORTCODE}/unread`;
    const known = { outcome: 'known', callback_url };
    expect(JSON.parse(again).accounts).to.deep.equal([
      { gateway: `daraja-${SHORTCODE}`, ...known },
    ]);
    expect((await run(register)).stdout).to.match(/: was registered before/);
    const audits = await rows<{ details: object }>(
      web.database,
      `SELECT subject, actor, details FROM audit_log WHERE action = 'daraja.register' ORDER BY id`,
    );
    expect(audits.at(-1)).to.deep.equal({
      ...{ subject: `gateway daraja-${SHORTCODE}`, actor: ACTOR, details: known },
    });
    const posted = await fetch(callback_url, { method: 'POST', body: '{}' });
    expect([posted.status, await posted.json()]).to.deep.equal([
      200,
      { ResultCode: 0, ResultDesc: 'Accepted' },
    ]);
    expect(await rows(web.database, 'SELECT FROM callbacks')).to.deep.equal([]);
  });

  it('refuses accounts that there are not, and registrations that cannot be made', async () => {
    const line = async (command: string, env?: NodeJS.ProcessEnv) => {
      const { status, stderr } = await run(command, env);
      expect(status, command).to.equal(1);
      return stderr;
    };
    expect(await line('daraja check --gateway daraja-1')).to.equal(
      `There is no account daraja-1: there is daraja-${SHORTCODE}\n`,
    );
    expect(await line('daraja check', { DARAJA: '' })).to.match(
      /^No account with a gateway is conf/,
    );
    const bare = { DARAJA: config({ nominated_number: undefined }) };
    expect(await line('daraja register --reason x', bare)).to.match(/^Nothing to register/);
    const nowhere = { GATEWAY_CALLBACK_URL: '' };
    expect(await line('daraja register --reason x', nowhere)).to.match(/^nothing is submitted/);
    const { status, stdout } = await run('daraja register --reason x', {
      DARAJA: config({ consumer_key: 'wrong' }),
    });
    expect([status, stdout]).to.deep.equal([
      1,
      stdout.match(/^daraja-600980: not registered: .*check the consumer key/)?.input,
    ]);
  });

  it('looks at every account, or at the one that is named', async () => {
    const both = { [SHORTCODE]: WHOLE, [OTHER]: { ...WHOLE, initiator: undefined } };
    Object.assign(both[OTHER]!, { security_credential: undefined });
    const env = { DARAJA: config({}, { shortcodes: both }) };
    const names = async (command: string) => {
      const { stdout } = await run(`${command} --json`, env);
      return JSON.parse(stdout).accounts.map(({ gateway }: Document) => gateway);
    };
    const all = [`daraja-${SHORTCODE}`, `daraja-${OTHER}`];
    expect(await names('daraja check')).to.deep.equal(all);
    expect(await names(`daraja check --gateway daraja-${OTHER}`)).to.deep.equal(all.slice(1));
    expect(await names('daraja register --reason x')).to.deep.equal(all);
  });

  it('shows the name of a business', async () => {
    const { status, stdout } = await run('payee check --type till 123456');
    expect([status, stdout]).to.deep.equal([0, 'till 123456: Simulated Organisation\n']);
    const { stdout: json } = await run('payee check 600000 --type paybill --json');
    expect(JSON.parse(json)).to.deep.equal({
      ...{ type: 'paybill', number: '600000', name: 'Simulated Organisation' },
      gateway: `daraja-${SHORTCODE}`,
    });
    const nameless = await run('payee check --type till 123456789');
    expect([nameless.status, nameless.stderr]).to.deep.equal([
      1,
      nameless.stderr.match(/^No name for the till 123456789: .*\n$/)?.input,
    ]);
    const wrong = await run('payee check --type till 12');
    expect([wrong.status, wrong.stderr.includes('a till or PayBill number')]).to.deep.equal([
      2,
      true,
    ]);
  });
});

function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
}
