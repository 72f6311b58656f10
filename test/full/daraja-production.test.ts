import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import got from 'got';
import {
  type MerchantReceiver,
  startMerchantReceiver,
} from '../../scripts/sandbox/merchant-receiver.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { startTlsFront, type TlsFront } from '../../scripts/sandbox/processes/tls-front.ts';
import { type ServiceProcess, startServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { topUpPayoutWallet } from '../../scripts/sandbox/top-up.ts';
import { inTransaction, rows } from '../../src/connections/database.ts';
import { createStaff, newToken } from '../../src/domain/staff/staff.ts';
import { loadConfig } from '../../src/service/service.ts';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import { runAdmin } from '../support/admin-runs.ts';
import { collectionBody, payoutBody, reversalBody } from '../support/api-client.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith, PROGRAMS_FROM } from '../support/programs.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';
import { expiredCertificate } from '../unit/gateways/daraja/expired-certificate.ts';

const SHORTCODE = '600980';
const WALLET_CENTS = 1_000_000;

describeWith(['openssl'], 'Production with Daraja', () => {
  let folder: string;
  let certificates: Certificates;
  let store: TestDatabase;
  let env: NodeJS.ProcessEnv;
  let merchant: TestMerchant;
  /** Of the first admin. */
  let token: string;
  let receiver: MerchantReceiver;
  let hook: TlsFront;
  const fronts: TlsFront[] = [];
  const running: ServiceProcess[] = [];

  before(async () => {
    folder = makeFolder('daraja-production');
    certificates = await makeCertificates('DNS:localhost,IP:127.0.0.1');
    store = await createTestDatabase();
    const daraja = await startDaraja();
    env = await environmentWith(daraja.url);
    const config = loadConfig(env);
    merchant = await createTestMerchant({ database: store.database, config });
    await topUpPayoutWallet(store.database, merchant.merchant_id, WALLET_CENTS, 'top-up');
    receiver = await startMerchantReceiver(merchant.app_secret);
    hook = await front(receiver.url);
    env.WEBHOOK_PORTS = new URL(hook.url).port;
    const { reaper } = environment;
    const common = { logFolder: folder, reaper, from: PROGRAMS_FROM } as const;
    const types = ['web', ...PROCESS_TYPES] as const;
    const first = { name: 'Amina', email: 'amina@x.example', role: 'admin' } as const;
    const made = newToken();
    const others = ['juma@x.example', 'wanja@x.example'];
    await inTransaction(store.database, async (trx) => {
      await createStaff(trx, { ...first, ...made }, true);
      for (const email of others) await createStaff(trx, { ...first, email, ...newToken() }, false);
    });
    token = made.token;
    const start = (type: (typeof types)[number]) =>
      startProcess(type, { ...common, env: environmentOf(type) });
    running.push(...(await Promise.all(types.map(start))));
  });

  after(async () => {
    await Promise.all(running.map((child) => child.stop()));
    await Promise.all(fronts.map((front) => front.close()));
    await receiver?.close();
    await store?.drop();
  });

  async function front(target: string): Promise<TlsFront> {
    const started = await startTlsFront(target, certificates);
    fronts.push(started);
    return started;
  }

  /** Stands in for Safaricom. It trusts the certificate of our API, as Safaricom must. */
  async function startDaraja(): Promise<TlsFront> {
    const port = String(await findFreePort());
    const simulator = await startServiceProcess({
      ...{ name: 'daraja-simulator', program: 'scripts/daraja-simulator/main.ts' },
      env: {
        PATH: process.env.PATH,
        DARAJA_SIMULATOR_PORT: port,
        SIMULATOR_DELAY_MS: '100',
        NODE_EXTRA_CA_CERTS: certificates.ca,
      },
      ...{ logFolder: folder, reaper: environment.reaper },
    });
    running.push(simulator);
    return front(`http://127.0.0.1:${port}`);
  }

  function secretFile(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    return path;
  }

  async function environmentWith(base_url: string): Promise<NodeJS.ProcessEnv> {
    const port = String(await findFreePort());
    const shortcode = {
      consumer_key_file: secretFile('consumer-key', 'key'),
      consumer_secret_file: secretFile('consumer-secret', 'secret'),
      passkey_file: secretFile('passkey', 'a-passkey'),
      initiator: 'testapi',
      initiator_password_file: secretFile('password', 'Safaricom999!*!'),
      certificate_file: secretFile('certificate.pem', expiredCertificate(folder).certificate),
      password_set_on: new Date().toISOString().slice(0, 'yyyy-mm-dd'.length),
      nominated_number: '254712345678',
      float_alert_below: '1000.00',
    };
    const accounts = { collections: SHORTCODE, payouts: SHORTCODE };
    const daraja = { base_url, ...accounts, shortcodes: { [SHORTCODE]: shortcode } };
    const key = () => `k1:${randomBytes(32).toString('base64')}`;
    return {
      PATH: process.env.PATH,
      MALIPO_ENV: 'production',
      DATABASE_URL: store.url,
      ...{ SECRETS_KEY: key(), JWT_KEYS: key(), CHANNELS: '63902=daraja' },
      DARAJA: secretFile('daraja.json', JSON.stringify(daraja)),
      ...{ HOST: '127.0.0.1', PORT: port, PUBLIC_URL: 'https://pay.example' },
      GATEWAY_CALLBACK_URL: `https://localhost:${port}`,
      ...{ TLS_CERT: certificates.cert, TLS_KEY: certificates.key },
      NODE_EXTRA_CA_CERTS: certificates.ca,
    };
  }

  /** The merchant of this test is on the same machine, where production sends no webhooks. */
  function environmentOf(type: string): NodeJS.ProcessEnv {
    return type === 'webhooks'
      ? { ...env, MALIPO_ENV: 'sandbox', WEBHOOK_ALLOW_PRIVATE: 'true' }
      : env;
  }

  async function initiate(path: string, body: object): Promise<{ ref_no: string }> {
    const answer = await got.post(`${env.GATEWAY_CALLBACK_URL}/api/v1${path}`, {
      headers: { authorization: `Bearer ${merchant.access}` },
      ...{ json: body, throwHttpErrors: false, retry: { limit: 0 } },
      https: { certificateAuthority: readFileSync(certificates.ca) },
    });
    expect(answer.statusCode, answer.body).to.equal(200);
    return JSON.parse(answer.body);
  }

  async function expectWebhook(refNo: string, what: string): Promise<void> {
    let heard: Awaited<ReturnType<MerchantReceiver['webhookFor']>> | undefined;
    void receiver.webhookFor(refNo).then((webhook) => {
      heard = webhook;
    });
    const { payload, verified } = await eventually(`the webhook of ${what}`, async () => heard);
    expect(`${payload.notification.type} ${payload.notification.event}`).to.equal(what);
    expect(verified, `signature of ${what}`).to.equal(true);
  }

  it('pays in, out and back by HTTPS, and tells the merchant', async () => {
    const callback = { callback_url: hook.url };
    const collection = await initiate('/collections/checkouts/initiate', collectionBody(callback));
    await expectWebhook(collection.ref_no, 'collection transaction.completed');
    const payout = await initiate('/payouts/initiate', payoutBody(merchant, callback));
    await expectWebhook(payout.ref_no, 'payout transaction.completed');
    const reversal = await initiate(
      '/reversals/initiate',
      reversalBody(collection.ref_no, callback),
    );
    await expectWebhook(reversal.ref_no, 'reversal transaction.completed');
    const movements = await rows<{ gateway: string; n: number }>(
      store.database,
      'SELECT gateway, CAST(count(*) AS integer) AS n FROM movements GROUP BY gateway',
    );
    expect(movements).to.deep.equal([{ gateway: `daraja-${SHORTCODE}`, n: 3 }]);
    await expectSoundLedger(store.database);
  });

  it('stands the check of its operator, who then registers the address', async () => {
    const check = await runAdmin(['daraja', 'check'], { env, asProgram: true });
    expect(check.status, `${check.stdout}${check.stderr}`).to.equal(0);
    expect(check.stdout).to.not.match(/: (warning|wrong), /);
    const register = ['daraja', 'register', '--reason', 'go-live'];
    const asAdmin = { env: { ...env, MALIPO_STAFF_TOKEN: token }, asProgram: true };
    const { status, stdout } = await runAdmin(register, asAdmin);
    expect([status, stdout]).to.deep.equal([0, `daraja-${SHORTCODE}: registered\n`]);
  });

  it('says in the check that a certificate is not accepted', async () => {
    const { NODE_EXTRA_CA_CERTS: _, ...trustless } = env;
    const run = { env: trustless, asProgram: true };
    const { status, stdout } = await runAdmin(['daraja', 'check'], run);
    expect(status).to.equal(1);
    expect(stdout)
      .to.match(/^ {2}host: wrong, localhost:\d+ is not reached: its certificate is not accepted/m)
      .and.match(/^ {2}callbacks from here: wrong, .* its certificate is not accepted/m)
      .and.not.match(/credentials|product/);
  });

  it('writes no secret and no warning into its logs', () => {
    for (const type of ['web', ...PROCESS_TYPES]) {
      const log = readFileSync(join(folder, `${type}.log`), 'utf8');
      const complaints = log
        .split('\n')
        .filter((line) => /"level":"(warn|error)"/.test(line))
        // The PostgreSQL of the tests does not wait for its disk.
        .filter((line) => !line.includes('fsync=off'));
      expect(complaints, type).to.deep.equal([]);
      expect(log, type).to.not.match(/Safaricom999|a-passkey|Basic |Bearer /);
    }
  });

  it('refuses the simulated gateway, and Daraja without TLS', async () => {
    const refusalOf = async (changes: NodeJS.ProcessEnv) => {
      const run = { env: { ...env, ...changes }, asProgram: true };
      const { status, stderr } = await runAdmin(['channel', 'list'], run);
      expect(status).to.equal(1);
      return stderr;
    };
    expect(await refusalOf({ CHANNELS: '63902=daraja,63903=simulator' })).to.match(
      /CHANNELS and SIMULATOR_URL must not name the simulator in production/,
    );
    const plain = JSON.stringify({
      ...{ base_url: 'http://127.0.0.1:1', collections: SHORTCODE },
      shortcodes: { [SHORTCODE]: { consumer_key: 'k', consumer_secret: 's', passkey: 'p' } },
    });
    expect(await refusalOf({ DARAJA: plain })).to.match(/DARAJA must have an https base_url/);
  });
});
