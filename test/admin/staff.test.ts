import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { darajaSettings } from '../../scripts/daraja-simulator/service-settings.ts';
import { firstRow, rows } from '../../src/connections/database.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { DAY_MS } from '../../src/time.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { REASON } from '../support/admin-usage.ts';
import { eventually } from '../support/eventually.ts';
import { drillCommands } from '../support/handbook.ts';
import { makeFolder } from '../support/make-folder.ts';
import { rejection } from '../support/payments.ts';
import { makeReadOnly } from '../support/read-only.ts';

const FIRST = ['staff', 'create', 'Amina', '--email', 'Amina@x.example', '--first'];
const NEEDS_TOKEN =
  'This needs the token of a member of staff: set MALIPO_STAFF_TOKEN or MALIPO_STAFF_TOKEN_FILE\n';

const securityEvents = (admin: AdminTester) =>
  rows<{ kind: string; staff: string | null; detail: Document }>(
    admin.database,
    'SELECT kind, staff, detail FROM security_events ORDER BY at, id',
  );

const freshKey = () => `k1:${randomBytes(32).toString('base64')}`;

/** What comes with a command of the member with this token, or of nobody. */
const by = (token = '') => ({ env: { MALIPO_STAFF_TOKEN: token } });

describe('admin staff, before there is any', () => {
  let admin: AdminTester;

  beforeEach(async () => {
    admin = await createAdminTester();
  });

  afterEach(() => admin.close());

  it('lets everybody do everything, and first of all add an admin', async () => {
    await admin.change('channel pause 63902');
    await admin.text('merchant list', { env: { MALIPO_ACTOR: '' } });
    expect((await admin.reads()).map(({ actor }) => actor)).to.deep.equal(['unnamed']);
    await admin.refused([
      ['staff create Juma --email juma@x.example --role viewer', 'There is no staff yet: --first'],
      ['staff new-token', 'There is no staff yet: staff create --first'],
      ['staff deactivate juma@x.example', 'There is no member of staff juma@x.example'],
    ]);
    const { staff_id, token, token_expires_at, created_at, ...member } =
      await admin.changeJson(FIRST);
    expect(member).to.deep.equal({
      ...{ name: 'Amina', email: 'amina@x.example', role: 'admin', active: true, totp: false },
      token_prefix: (token as string).slice(0, 12),
    });
    expect(token).to.match(/^staff_[\w-]{43}$/);
    const lifetime = Date.parse(token_expires_at as string) - Date.parse(created_at as string);
    expect(lifetime).to.equal(90 * DAY_MS);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'staff.create',
      merchant_id: null,
      subject: 'staff member amina@x.example',
      details: {
        ...{ name: 'Amina', role: 'admin', token_prefix: member.token_prefix, token_expires_at },
      },
    });
    expect(await securityEvents(admin)).to.deep.equal([
      { kind: 'staff_created', staff: 'tester', detail: { staff_id, role: 'admin' } },
    ]);
    const stored = await firstRow<{ text: string }>(
      admin.database,
      'SELECT CAST(s AS text) AS text FROM staff s',
    );
    expect(stored!.text).to.not.include(token as string);
    await admin.refused([[FIRST, NEEDS_TOKEN]]);
    await admin.refused(
      [[FIRST, 'There is staff already: --first makes only']],
      by(token as string),
    );
  });

  it('lets nobody do anything in production but make the first admin', async () => {
    const env = {
      ...{ MALIPO_ENV: 'production', PUBLIC_URL: 'https://pay.example', TRUST_PROXY: 'loopback' },
      ...{ SECRETS_KEY: freshKey(), JWT_KEYS: freshKey(), CHANNELS: '63902=daraja' },
      ...darajaSettings('https://127.0.0.1:1'),
    };
    const nobody = 'There are no staff accounts, so nobody may do this in production';
    await admin.refused(
      [
        ['merchant list', nobody],
        ['channel pause 63902', nobody],
        ['staff new-token amina@x.example', nobody],
      ],
      { env },
    );
    const { token } = await admin.changeJson(FIRST, { env });
    await admin.text('merchant list', { env: { ...env, MALIPO_STAFF_TOKEN: String(token) } });
  });

  it('adds one first admin when two are added at once', async () => {
    const runs = await Promise.all(
      ['amina', 'juma'].map((name) =>
        admin.run([
          ...['staff', 'create', name, '--email', `${name}@x.example`, '--first'],
          ...['--reason', REASON],
        ]),
      ),
    );
    expect(runs.map(({ status }) => status)).to.have.members([0, 1]);
    expect(runs.map(({ stderr }) => stderr).join('')).to.match(
      /^There is staff already|^This needs/,
    );
    expect(await rows(admin.database, 'SELECT FROM staff')).to.have.length(1);
  });

  it('never goes back to that: no member is deleted', async () => {
    await admin.changeJson(FIRST);
    for (const statement of ['DELETE FROM staff', 'TRUNCATE staff CASCADE']) {
      const refused = await rejection(rows(admin.owner, statement));
      expect(refused.message, statement).to.include('of staff is refused');
    }
  });
});

describe('admin staff', () => {
  let admin: AdminTester;
  let merchant_id: number;
  let root: string;
  const tokens = { viewer: '', support: '', admin: '' };

  before(async () => {
    admin = await createAdminTester();
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    merchant_id = await createMerchant(admin.database, { ...details, approved: true });
    root = (await admin.changeJson(FIRST)).token as string;
    for (const role of ['viewer', 'support', 'admin'] as const)
      tokens[role] = await newMember(role);
  });

  after(() => admin.close());

  let count = 0;
  const nameOf = (number: number) => `member-${number}@x.example`;
  async function newMember(role: string): Promise<string> {
    count += 1;
    const create = `staff create M --email ${nameOf(count)} --role ${role}`;
    return (await admin.changeJson(create, by(root))).token as string;
  }
  /** The e-mail address of the newest member. */
  const newest = () => nameOf(count);
  /** Replaces the token of another member, which needs a second admin where there is one. */
  async function renewByRoot(member: string): Promise<string> {
    const others = "role = 'admin' AND email <> 'amina@x.example'";
    const set = 'UPDATE staff SET active = :active WHERE';
    await rows(admin.owner, `${set} ${others}`, { active: false });
    const { token } = await admin.changeJson(`staff new-token ${member}`, by(root));
    await rows(admin.owner, `${set} ${others}`, { active: true });
    return String(token);
  }
  const lastEvent = async () => (await securityEvents(admin)).at(-1);

  it('lets nobody change or read data without a token, whatever name is given', async () => {
    await admin.refused([
      ['merchant approve 1001', NEEDS_TOKEN],
      ['merchant approve 1001 --actor amina@x.example', NEEDS_TOKEN],
      ['merchant list', NEEDS_TOKEN],
      ['payment show ref-1', NEEDS_TOKEN],
      ['audit list', NEEDS_TOKEN],
      ['staff list', NEEDS_TOKEN],
    ]);
  });

  it('names the member in the audit log, and refuses any other name', async () => {
    const env = { MALIPO_STAFF_TOKEN: tokens.admin, MALIPO_ACTOR: 'somebody else' };
    await admin.change('channel pause 63902', { env });
    await admin.change('channel resume 63902 --actor Member-3@x.example', { env });
    const actors = (await admin.audits()).slice(-2).map(({ actor }) => actor);
    expect(actors).to.deep.equal([nameOf(3), nameOf(3)]);
    const line = `--actor names amina@x.example, but the token belongs to ${nameOf(3)}\n`;
    await admin.refused([['channel pause 63902 --actor amina@x.example', line]], { env });
    expect((await lastEvent())!.detail).to.include({ why: 'actor', action: 'channel.pause' });
  });

  it('takes the token from a file, too', async () => {
    const path = join(makeFolder('staff'), 'token');
    writeFileSync(path, `${tokens.viewer}\n`, { mode: 0o600 });
    await admin.text('merchant list', { env: { MALIPO_STAFF_TOKEN_FILE: path } });
    expect((await admin.reads()).at(-1)).to.include({ actor: nameOf(1), action: 'merchant.list' });
    const { status, stderr } = await admin.run('merchant list', {
      env: { MALIPO_STAFF_TOKEN_FILE: `${path}.gone` },
    });
    expect([status, stderr]).to.deep.equal([
      2,
      'MALIPO_STAFF_TOKEN_FILE names a file that cannot be read (ENOENT)\n',
    ]);
    for (const mode of [0o666, 0o640, 0o620, 0o604]) {
      chmodSync(path, mode);
      const refused = await admin.run('merchant list', { env: { MALIPO_STAFF_TOKEN_FILE: path } });
      const words = `names a file that others may read or change: chmod 600 ${path}\n`;
      expect([refused.status, refused.stderr]).to.deep.equal([
        2,
        `MALIPO_STAFF_TOKEN_FILE ${words}`,
      ]);
    }
  });

  it('lets each role do what it may, and no more', async () => {
    const user = `user create --merchant ${merchant_id} --email user@x.example --role Finance`;
    const shutOut = 'user deactivate user@x.example';
    const needs = (role: string, number: number, has: string) =>
      `This needs the role ${role}, and ${nameOf(number)} has the role ${has}\n`;
    await admin.text('merchant list', by(tokens.viewer));
    await admin.refused(
      [[`merchant show ${merchant_id}`, needs('support', 1, 'viewer')]],
      by(tokens.viewer),
    );
    await admin.refused([[shutOut, needs('support', 1, 'viewer')]], by(tokens.viewer));
    await admin.refused([[user, needs('admin', 2, 'support')]], by(tokens.support));
    // The first admin has given the other one access, and may agree.
    expect(await admin.changeJson(user, by(tokens.admin))).to.include({ booked: false });
    // Nobody is a second person beside the one who has made all others.
    await admin.change(user.replace('user@', 'other@'), by(root));
    await admin.change(shutOut.replace('user@', 'other@'), by(tokens.support));
    await admin.text('user show other@x.example', by(tokens.support));
    const refusals = (await securityEvents(admin)).filter(({ kind }) => kind === 'staff_refused');
    expect(refusals.at(-1)).to.deep.equal({
      kind: 'staff_refused',
      staff: nameOf(2),
      detail: { token: tokens.support.slice(0, 12), why: 'role', action: 'user.create' },
    });
  });

  it('refuses a token that nobody has, one that was replaced, and one that has expired', async () => {
    const old = await newMember('viewer');
    const member = newest();
    const renewed = (await admin.changeJson('staff new-token', by(old))).token as string;
    expect(renewed).to.not.equal(old);
    await admin.text('staff list', by(renewed));
    for (const token of [old, 'x', `staff_${'x'.repeat(43)}`]) {
      await admin.refused([['staff list', /^The staff token is not valid, or another/]], by(token));
    }
    await rows(admin.database, 'UPDATE staff SET token_expires_at = now() WHERE email = :member', {
      member,
    });
    await admin.refused(
      [['staff list', `The token of ${member} has expired: an admin gives out another`]],
      by(renewed),
    );
    const events = (await securityEvents(admin)).slice(-4);
    expect(events.map(({ staff, detail }) => [staff, detail.why, detail.token])).to.deep.equal([
      [null, 'unknown', old.slice(0, 12)],
      [null, 'unknown', ''],
      [null, 'unknown', 'staff_xxxxxx'],
      [member, 'expired', renewed.slice(0, 12)],
    ]);
  });

  it('lets a member renew the own token only, and an admin any', async () => {
    const token = await newMember('support');
    const member = newest();
    await admin.refused(
      [['staff new-token amina@x.example', 'Only an admin may give another member a new token']],
      by(token),
    );
    const second = (await admin.changeJson(`staff new-token ${member}`, by(token))).token as string;
    const third = await renewByRoot(member);
    await admin.refused([['staff list', 'is not valid']], by(second));
    await admin.text('staff list', by(third));
    expect((await admin.audits()).at(-1)).to.include({
      actor: 'amina@x.example',
      action: 'staff.new-token',
      subject: `staff member ${member}`,
    });
  });

  it('shuts a member out at once and for good: who comes back needs a new token', async () => {
    const token = await newMember('support');
    const member = newest();
    const gone = await admin.change(`staff deactivate ${member}`, by(root));
    expect(gone).to.include(`Staff member ${member} is deactivated now\n`);
    await admin.refused([['staff list', `${member} is deactivated\n`]], by(token));
    expect((await lastEvent())!.detail).to.include({ why: 'deactivated' });
    await admin.refused(
      [[`staff new-token ${member}`, `${member} is deactivated: staff update ${member}`]],
      by(root),
    );
    await admin.change(`staff update ${member} --reactivate --role viewer`, by(root));
    await admin.refused([['staff list', 'has expired']], by(token));
    const renewed = await renewByRoot(member);
    await admin.text('staff list', by(renewed));
    await admin.refused([['user deactivate a@x.example', 'This needs the role']], by(renewed));
  });

  it('refuses a change that has begun when its member is shut out meanwhile', async () => {
    const token = await newMember('admin');
    const trx = await admin.database.transaction();
    await rows(trx, 'UPDATE staff SET active = false WHERE email = :member', { member: newest() });
    const changed = admin.run(['channel', 'pause', '63903', '--reason', REASON], by(token));
    await eventually('the command waits', async () =>
      firstRow(
        admin.database,
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    );
    await trx.commit();
    const { status, stderr } = await changed;
    expect([status, stderr]).to.deep.equal([1, `${newest()} is deactivated\n`]);
    expect(await admin.json('channel show 63903')).to.include({ paused: false });
  });

  it('has an admin left, even when two shut each other out at once', async () => {
    const [first, second] = [
      await admin.changeJson(`staff create A --email a@x.example --role admin`, by(root)),
      await admin.changeJson(`staff create B --email b@x.example --role admin`, by(root)),
    ];
    await rows(
      admin.database,
      `UPDATE staff SET active = false WHERE role = 'admin' AND length(email) > length('a@x.example')`,
    );
    const shutOut = (email: unknown, token: unknown) =>
      admin.run(['staff', 'deactivate', email as string, '--reason', REASON], by(token as string));
    const runs = await Promise.all([
      shutOut('a@x.example', second.token),
      shutOut('b@x.example', first.token),
    ]);
    expect(runs.map(({ status }) => status)).to.have.members([0, 1]);
    const left = await rows<{ email: string }>(
      admin.database,
      "SELECT email FROM staff WHERE active AND role = 'admin'",
    );
    expect(left).to.have.length(1);
    const { email } = left[0]!;
    const token = (email === 'a@x.example' ? first : second).token as string;
    await admin.refused(
      [
        [`staff deactivate ${email}`, 'An active admin must be left: make somebody else an admin'],
        [`staff update ${email} --role support`, 'An active admin must be left'],
      ],
      by(token),
    );
    await rows(admin.database, "UPDATE staff SET active = true WHERE email = 'amina@x.example'");
  });

  it('leaves to machines what they do, under a name that no token has proved', async () => {
    for (const command of ['ledger verify', 'channel list', 'channel show 63902']) {
      await admin.text(command, by());
    }
    const settings = { SUBMISSION_PAUSED: 'true' };
    await admin.change('restore mark', { env: { ...settings, MALIPO_ACTOR: 'amina@x.example' } });
    expect((await admin.audits()).at(-1)).to.include({
      actor: 'amina@x.example (without token)',
      action: 'restore.mark',
    });
    // A restored database may not know this token.
    const env = { ...settings, MALIPO_STAFF_TOKEN: 'of later' };
    await admin.change('restore mark', { env });
    expect((await admin.audits()).at(-1)).to.include({ actor: 'tester (without token)' });
    await admin.change('restore mark', { env: { ...settings, MALIPO_STAFF_TOKEN: root } });
    expect((await admin.audits()).at(-1)).to.include({ actor: 'amina@x.example' });
  });

  it('gives an admin a token by the database when all are lost, as the handbook says', async () => {
    const token = 'staff_lost-and-found-0123456789-0123456789-0123456789';
    const [, statement] = /-c "(UPDATE staff .*)"/.exec(
      drillCommands('Staff accounts').get('lost')!,
    )!;
    const hash = createHash('sha256').update(token).digest('hex');
    await rows(admin.database, statement!.replaceAll('$HASH', hash));
    root = (await admin.changeJson('staff new-token', by(token))).token as string;
    await admin.text('staff list', by(root));
  });

  it('reads with a token from a database that can only be read, and refuses without', async () => {
    await makeReadOnly(admin.url);
    const { status, stdout } = await admin.run('merchant list', by(root));
    expect(status).to.equal(0);
    expect(stdout).to.include('Duka');
    await admin.refused([['merchant list', NEEDS_TOKEN]]);
    await admin.refused([['merchant list', 'is not valid']], by('x'));
  });
});
