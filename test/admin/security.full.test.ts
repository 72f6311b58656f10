import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { logInUser } from '../../src/domain/credentials/log-in.ts';
import {
  accountHash,
  countFailures,
  FAILURES_AT_ONCE,
} from '../../src/domain/credentials/log-in-limit.ts';
import { createApp } from '../../src/domain/merchants/app.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { createUser } from '../../src/domain/merchants/user.ts';
import {
  allSecurityEvents,
  listSecurityEvents,
  recordSecurityEvent,
  type SecurityEvent,
  type SecurityEventFilter,
} from '../../src/domain/security/security-events.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { ACTOR } from '../support/admin-usage.ts';
import { rewrite } from '../support/database.ts';
import { plansOf } from '../support/plans.ts';
import { securityEvents } from '../support/security-events.ts';

const NOBODY = '0199f0c0-5a3e-7cc1-8f0e-3d5b0a1c2d3e';
const key = (byte: number) => `k${byte}:${Buffer.alloc(32, `key ${byte}`).toString('base64')}`;

describe('admin security', () => {
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });
  const { secretsKeys } = config;
  let admin: AdminTester;
  let merchant_id: number;

  before(async () => {
    admin = await createAdminTester();
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    merchant_id = await createMerchant(admin.database, { ...details, approved: true });
  });

  after(() => admin.close());

  const list = async (options = '') =>
    (await admin.json(`security list ${options}`)).security_events as Document[];
  const note = (event: SecurityEvent) => recordSecurityEvent(admin.database, event);

  it('lists what happened, newest first, by kind, merchant, account, address and time', async () => {
    const asked = accountHash(secretsKeys, 'amina@x.example');
    await note({ kind: 'log_in_failed', account_hash: asked, ip: '203.0.113.7', merchant_id: 7 });
    await note({ kind: 'log_in', account_hash: asked, ip: '203.0.113.8', merchant_id: 7 });
    await note({ kind: 'address_refused', ip: '203.0.113.7', merchant_id: 8, app_code: 5001 });
    const kinds = async (options: string) => (await list(options)).map(({ kind }) => kind);
    const all = ['address_refused', 'log_in', 'log_in_failed'];
    expect(await kinds('')).to.deep.equal(all);
    expect(await kinds('--kind log_in')).to.deep.equal(['log_in']);
    expect(await kinds('--merchant 7')).to.deep.equal(['log_in', 'log_in_failed']);
    expect(await kinds('--account Amina@X.example')).to.deep.equal(['log_in', 'log_in_failed']);
    expect(await kinds('--account amina@y.example')).to.deep.equal([]);
    expect(await kinds('--ip 203.0.113.7')).to.deep.equal(['address_refused', 'log_in_failed']);
    expect(await kinds('--ip 203.0.113.7 --merchant 7')).to.deep.equal(['log_in_failed']);
    expect(await kinds('--since 2026-01-01 --until 2026-01-02')).to.deep.equal([]);
    const [event] = await list('--limit 1');
    expect(event).to.include({ merchant_id: 8, app_code: 5001, ip: '203.0.113.7', user_id: null });
    expect(await admin.text('security list --merchant 8'))
      .to.match(/^WHEN +KIND +MERCHANT ID +APP CODE +USER ID +STAFF +IP +DETAIL\n/)
      .and.match(/ EAT +address_refused +8 +5001 /);
    await admin.refused([[`security list --after ${NOBODY}`, `There is no security event`]]);
  });

  it('finds an account from before a rotation of SECRETS_KEY', async () => {
    const rings = [key(1), `${key(2)},${key(1)}`, key(2)];
    const ringOf = (text: string) =>
      loadConfig({ DATABASE_URL: 'postgres://unused', SECRETS_KEY: text }).secretsKeys;
    const account_hash = accountHash(ringOf(rings[0]!), 'juma@x.example');
    await note({ kind: 'log_in_failed', account_hash });
    const found = await Promise.all(
      rings.map(async (SECRETS_KEY) => {
        const options = { env: { SECRETS_KEY } };
        const { security_events } = await admin.json(
          'security list --account juma@x.example',
          options,
        );
        return (security_events as Document[]).length;
      }),
    );
    expect(found).to.deep.equal([1, 1, 0]);
  });

  it('reads by an index, and exports all that fit page by page', async () => {
    await rewrite(
      admin.database,
      `INSERT INTO security_events (id, kind, merchant_id, account_hash, ip, at)
       SELECT gen_random_uuid(), 'kind' || n % 50, n % 300, 'account ' || n % 500,
         CAST('10.0.0.0' AS inet) + n % 500, now() - n * interval '1 minute'
       FROM generate_series(1, 20000) AS n`,
    );
    await rows(admin.database, 'ANALYZE security_events');
    const cases: [SecurityEventFilter, string][] = [
      [{}, 'listed'],
      [{ since: new Date(Date.now() - 3_600_000) }, 'listed'],
      [{ kind: 'kind7' as never }, 'by_kind'],
      [{ merchant_id: 7 }, 'by_merchant'],
      [{ account_hashes: ['account 7', 'account 8'] }, 'by_account'],
      [{ ip: '10.0.0.7' }, 'by_ip'],
    ];
    for (const [filter, index] of cases) {
      const [plan] = await plansOf(admin.database, () =>
        listSecurityEvents(admin.database, { ...filter, after: undefined, limit: 51 }),
      );
      expect(plan, index).to.include(`security_events_${index}`).and.not.include('Seq Scan');
    }
    const until = new Date(Date.now() - 2_000 * 60_000);
    const pages: number[] = [];
    const ids = new Set<string>();
    for await (const page of allSecurityEvents(admin.database, { until })) {
      pages.push(page.length);
      for (const { id } of page) ids.add(id);
    }
    expect(Math.max(...pages)).to.be.below(ids.size);
    expect(ids.size).to.be.within(17_999, 18_001);
    const lines = (await admin.text('security list --merchant 7 --jsonl --limit 1'))
      .trimEnd()
      .split('\n');
    const listed = await list('--merchant 7 --limit 500');
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal(listed);
    expect(await admin.text('security list --merchant 4711 --jsonl')).to.equal('');
  });

  /** The events that `work` causes. */
  async function eventsOf(work: () => Promise<unknown>): Promise<Partial<SecurityEvent>[]> {
    const before = new Set((await securityEvents(admin.database)).map(({ id }) => id));
    await work();
    return (await securityEvents(admin.database))
      .filter(({ id }) => !before.has(id))
      .map(({ kind, merchant_id, app_code, user_id, staff, detail }) => ({
        ...{ kind, merchant_id, app_code, user_id, staff, detail },
      }));
  }

  it('has what operators change about access, with their names', async () => {
    const email = 'wanjiru@x.example';
    const user_id = await createUser(admin.database, merchant_id, {
      ...{ email, password: 'correct horse battery', role: 'Finance' },
    });
    await logInUser(admin.database, config, { email, password: 'correct horse battery' });
    const product = { name: 'Till', products: ['collections' as const] };
    const app = await createApp(admin.database, secretsKeys, merchant_id, product);
    const code = app.app_code;
    const by = { merchant_id, app_code: null, user_id: null, staff: ACTOR };
    const ofUser = { ...by, user_id };
    const ofApp = { ...by, app_code: code };
    const cases: [command: string, events: object[]][] = [
      [
        `user update ${email} --role Admin`,
        [
          { ...ofUser, kind: 'role_changed', detail: { from: 'Finance', to: 'Admin' } },
          { ...ofUser, kind: 'tokens_revoked', detail: { families: 1 } },
        ],
      ],
      [`user update ${email} --role Admin`, []],
      [`user update ${email} --name Wanjiru`, []],
      [`user deactivate ${email}`, [{ ...ofUser, kind: 'user_deactivated', detail: {} }]],
      [
        `app update ${code} --ip-allow-list 203.0.113.7,203.0.113.8`,
        [{ ...ofApp, kind: 'allow_list_changed', detail: { addresses: { from: 0, to: 2 } } }],
      ],
      [
        `app update ${code} --webhook-secret own`,
        [{ ...ofApp, kind: 'webhook_secret_rotated', detail: { signs_with: 'own' } }],
      ],
      [
        `app rotate-webhook-secret ${code}`,
        [{ ...ofApp, kind: 'webhook_secret_rotated', detail: { overlap_s: 0 } }],
      ],
      [
        `app rotate-secret ${code} --overlap 1h`,
        [{ ...ofApp, kind: 'app_secret_rotated', detail: { overlap_s: 3_600 } }],
      ],
      [`app suspend ${code}`, [{ ...ofApp, kind: 'app_suspended', detail: {} }]],
      [
        `merchant update ${merchant_id} --user-ips 203.0.113.7`,
        [{ ...by, kind: 'allow_list_changed', detail: { addresses: { from: 0, to: 1 } } }],
      ],
      [`merchant suspend ${merchant_id}`, [{ ...by, kind: 'merchant_suspended', detail: {} }]],
    ];
    for (const [command, expected] of cases) {
      expect(await eventsOf(() => admin.change(command)), command).to.deep.equal(expected);
    }
  });

  it('lets a person in again who is locked out, and says who did it', async () => {
    const email = 'otieno@x.example';
    const user_id = await createUser(admin.database, merchant_id, {
      ...{ email, password: 'correct horse battery', role: 'Finance' },
    });
    const account_hash = accountHash(secretsKeys, email);
    const wrong = new Error('wrong');
    const attempt = {
      account_hash,
      network: null,
      isWrong: () => true,
      refuse: () => new Error('too many'),
    };
    const count = () =>
      countFailures(admin.database, attempt, () => Promise.reject(wrong)).catch(
        (error) => error === wrong,
      );
    for (let n = 0; n < FAILURES_AT_ONCE; n += 1) expect(await count()).to.equal(true);
    expect(await count()).to.equal(false);
    const command = `user update ${email} --forget-failures`;
    expect(await eventsOf(() => admin.change(command))).to.deep.equal([
      {
        ...{ kind: 'log_in_limit_lifted', merchant_id, user_id, app_code: null },
        ...{ staff: ACTOR, detail: {} },
      },
    ]);
    expect(await admin.lastAudit()).to.deep.include({
      action: 'user.update',
      details: { failed_log_ins: 'forgotten' },
    });
    const again = await admin.unchanged(() => admin.change(command));
    expect(again).to.include('is like that already: nothing was changed');
    expect(await count()).to.equal(true);
    // Nobody is guessed at without end.
    for (let time = 2; time <= 3; time += 1) {
      expect(await admin.change(command)).to.not.include('times within a day');
      expect(await count()).to.equal(true);
    }
    await admin.refused([[command, /were forgotten 3 times within a day/]]);
  });
});
