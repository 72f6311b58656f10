import { Readable } from 'node:stream';
import { expect } from 'chai';
import { failureOf } from '../../src/admin/failure.ts';
import { readPassword } from '../../src/admin/options/new-password.ts';
import { firstRow, inTransaction } from '../../src/connections/database.ts';
import { authenticate } from '../../src/domain/access/caller.ts';
import { logInUser } from '../../src/domain/credentials/log-in.ts';
import {
  renewRecoveryCodes,
  setTotp,
  storeTotpSecret,
} from '../../src/domain/credentials/one-time-passwords.ts';
import type { Refusal } from '../../src/domain/errors.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { createUser } from '../../src/domain/merchants/user.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { ACTOR } from '../support/admin-usage.ts';
import { rejection } from '../support/payments.ts';

const EASY =
  'The password is easy to guess: take several words, not repeated characters, a row of keys or your own name';
const PASSWORD = 'correct horse battery';
const SHOWN_ONCE = /^The password, which is shown only this once: (\S+)$/m;

describe('admin user', () => {
  const config = loadConfig({ DATABASE_URL: 'postgres://unused' });
  const { jwtKeys } = config;
  let admin: AdminTester;
  let merchant_id: number;

  before(async () => {
    admin = await createAdminTester();
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    merchant_id = await createMerchant(admin.database, { ...details, approved: true });
  });

  after(() => admin.close());

  const logIn = (email: string, password: string) =>
    logInUser(admin.database, config, { email, password });
  const problemOf = async (access: string) =>
    ((await rejection(authenticate(admin.database, jwtKeys, access, null))) as Refusal).code;

  let count = 0;
  async function newUser(): Promise<string> {
    count += 1;
    const email = `user-${count}@x.example`;
    await createUser(admin.database, merchant_id, { email, password: PASSWORD, role: 'Finance' });
    return email;
  }

  it('creates one with a password that is shown once and kept nowhere', async () => {
    const created = await admin.changeJson(
      `user create --merchant ${merchant_id} --email Amina@X.example --role Admin`,
    );
    const { user_id, password, created_at, ...rest } = created;
    expect(created_at).to.be.a('string');
    expect(rest).to.deep.equal({
      merchant_id,
      email: 'amina@x.example',
      name: null,
      role: 'Admin',
      active: true,
      totp: false,
      must_change_password: true,
    });
    expect(password).to.match(/^[\w-]{20}$/);
    await logIn('amina@x.example', password as string);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'user.create',
      merchant_id,
      subject: 'user amina@x.example',
      details: { email: 'amina@x.example', role: 'Admin', must_change_password: true },
    });
    const row = await firstRow<{ text: string }>(
      admin.database,
      'SELECT u::text AS text FROM users u WHERE id = :user_id',
      { user_id },
    );
    expect(row!.text).to.not.include(password as string);
    const text = await admin.change(
      `user create --merchant ${merchant_id} --email juma@x.example --role Operator`,
    );
    expect(text).to.match(/^User juma@x\.example created\n/);
    await logIn('juma@x.example', SHOWN_ONCE.exec(text)![1]!);
  });

  it('takes a password from a pipe and does not repeat it', async () => {
    const command = `user create --merchant ${merchant_id} --email pipe@x.example --role Finance --password-stdin`;
    const text = await admin.change(command, { input: `${PASSWORD}\r\n` });
    expect(text).to.include('User pipe@x.example created').and.not.include(PASSWORD);
    expect(text).to.not.include('shown only this once');
    await logIn('pipe@x.example', PASSWORD);
  });

  it('lists them by e-mail address, of one merchant or all', async () => {
    const [first, second] = [await newUser(), await newUser()];
    const [all, text] = await Promise.all([
      admin.json(`user list --limit 1 --after user-0@x.example`),
      admin.text(`user list --merchant ${merchant_id} --after ${first.toUpperCase()}`),
    ]);
    expect(all.next).to.equal(first);
    const [listed] = all.users as Document[];
    expect(listed).to.include({ email: first, merchant_id, role: 'Finance' });
    expect(listed).to.have.all.keys(
      ...['user_id', 'merchant_id', 'email', 'name', 'role', 'active', 'created_at'],
      ...['totp', 'must_change_password'],
    );
    const [titles, row] = text.split('\n');
    expect(titles).to.match(/^EMAIL +NAME +MERCHANT ID +ROLE +ACTIVE +TOTP$/);
    expect(row).to.match(new RegExp(`^${second} +- +${merchant_id} +Finance +yes +no$`));
  });

  it('keeps a name, which is no password: it ends no session', async () => {
    const create = ['user', 'create', '--merchant', String(merchant_id), '--role', 'Finance'];
    const details = { email: 'wanjiru@x.example', name: 'Wanjiru Kamau', role: 'Finance' };
    const text = await admin.change([...create, '--email', details.email, '--name', details.name]);
    expect(text).to.match(/^User wanjiru@x\.example created\n/);
    expect((await admin.lastAudit()).details).to.deep.include(details);
    expect(await admin.text('user list')).to.match(/^wanjiru@x\.example +Wanjiru Kamau +\d+ /m);
    const { access } = await logIn(details.email, SHOWN_ONCE.exec(text)![1]!);
    const renamed = ['user', 'update', details.email, '--name', 'Wanjiru Njoroge'];
    expect(await admin.changeJson(renamed)).to.include({
      changed: true,
      revoked_token_families: 0,
    });
    expect((await admin.lastAudit()).details).to.deep.equal({
      name: { from: 'Wanjiru Kamau', to: 'Wanjiru Njoroge' },
    });
    await authenticate(admin.database, jwtKeys, access, null);
    const [document, shown] = await Promise.all([
      admin.json('user show Wanjiru@x.example'),
      admin.text(`user show ${details.email} --merchant ${merchant_id}`),
    ]);
    expect(document).to.include({ ...details, name: 'Wanjiru Njoroge', merchant_id, active: true });
    expect(shown)
      .to.match(/^User wanjiru@x\.example\n/)
      .and.match(/ name +Wanjiru Njoroge\n/);
  });

  it('ends the sessions of a user whose role changes', async () => {
    const email = await newUser();
    const { access } = await logIn(email, PASSWORD);
    const changed = await admin.changeJson(`user update --email ${email} --role Operator`);
    expect(changed).to.include({ role: 'Operator', changed: true, revoked_token_families: 1 });
    expect(await problemOf(access)).to.equal('token_revoked');
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'user.update',
      merchant_id,
      subject: `user ${email}`,
      details: { role: { from: 'Finance', to: 'Operator' }, revoked_token_families: 1 },
    });
    const { access: newer } = await logIn(email, PASSWORD);
    const same = `user update --email ${email} --merchant ${merchant_id} --role Operator`;
    const again = await admin.unchanged(() => admin.change(same));
    expect(again).to.match(/is like that already: nothing was changed\n/);
    await authenticate(admin.database, jwtKeys, newer, null);
  });

  it('replaces a password and ends the sessions', async () => {
    const email = await newUser();
    const { access } = await logIn(email, PASSWORD);
    const text = await admin.change(`user update --email ${email} --new-password`);
    expect(text).to.include('Sessions ended: 1');
    const shown = SHOWN_ONCE.exec(text)![1]!;
    expect(await problemOf(access)).to.equal('token_revoked');
    expect((await rejection(logIn(email, PASSWORD))).message).to.equal('invalid_credentials');
    await logIn(email, shown);
    const own = 'another horse battery';
    const document = await admin.changeJson(`user update --email ${email} --password-stdin`, {
      input: own,
    });
    expect(document).to.include({ changed: true, revoked_token_families: 1 });
    expect(document).to.not.have.property('password');
    await logIn(email, own);
    expect((await admin.lastAudit()).details).to.deep.equal({
      password: 'replaced',
      revoked_token_families: 1,
    });
    const log = JSON.stringify(await admin.audits());
    for (const secret of [shown, own, PASSWORD, 'scrypt']) expect(log).to.not.include(secret);
  });

  it('shuts a user out at once, until it is let in again', async () => {
    const email = await newUser();
    const { access } = await logIn(email, PASSWORD);
    const text = await admin.change(`user deactivate --email ${email}`);
    expect(text).to.include(`User ${email} is deactivated now`).and.include('Sessions ended: 1');
    expect(await problemOf(access)).to.equal('token_revoked');
    expect((await rejection(logIn(email, PASSWORD))).message).to.equal('invalid_credentials');
    expect((await admin.lastAudit()).details).to.deep.equal({
      active: { from: true, to: false },
      revoked_token_families: 1,
    });
    const again = await admin.unchanged(() =>
      admin.changeJson(`user deactivate --email ${email} --merchant ${merchant_id}`),
    );
    expect(again).to.include({ active: false, changed: false, revoked_token_families: 0 });
    const back = await admin.changeJson(`user update --email ${email} --reactivate`);
    expect(back).to.include({ active: true, changed: true });
    await logIn(email, PASSWORD);
    expect(await problemOf(access)).to.equal('token_revoked');
  });

  it('lets a person do nothing before changing a password that an operator knows', async () => {
    const email = await newUser();
    const isAsked = async (password: string) => {
      const { access } = await logIn(email, password);
      return (await authenticate(admin.database, jwtKeys, access, null)).mustChangePassword;
    };
    expect(await isAsked(PASSWORD)).to.equal(false);
    await admin.change(`user update ${email} --must-change-password`);
    expect(await isAsked(PASSWORD)).to.equal(true);
    const { password } = await admin.changeJson(`user update ${email} --new-password`);
    expect(await isAsked(password as string)).to.equal(true);
    await admin.change(`user update ${email} --password-stdin`, { input: PASSWORD });
    expect(await isAsked(PASSWORD)).to.equal(true);
  });

  it('switches one-time passwords off for whoever has lost them, and ends the sessions', async () => {
    const email = await newUser();
    const { user_id } = await admin.json(`user show ${email}`);
    const reset = `user reset-totp ${email}`;
    const nothing = await admin.unchanged(() => admin.change(reset));
    expect(nothing).to.include(`User ${email} is without one-time passwords already`);
    const { access } = await logIn(email, PASSWORD);
    await inTransaction(admin.database, async (trx) => {
      const user = { merchant_id, user_id: user_id as string };
      await storeTotpSecret(trx, config.secretsKeys, user, email);
      await renewRecoveryCodes(trx, user);
      await setTotp(trx, user, true);
    });
    expect(await admin.json(`user show ${email}`)).to.include({ totp: true });
    const problem = await rejection(logIn(email, PASSWORD));
    expect(problem.message).to.equal('otp_required');
    const text = await admin.change(reset);
    expect(text)
      .to.include(`User ${email} is without one-time passwords now`)
      .and.include('Sessions ended: 1');
    expect(await problemOf(access)).to.equal('token_revoked');
    await logIn(email, PASSWORD);
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'user.reset-totp',
      merchant_id,
      subject: `user ${email}`,
      details: { totp: { from: true, to: false }, revoked_token_families: 1 },
    });
    const left = await firstRow(
      admin.database,
      `SELECT (SELECT count(*) FROM totp_secrets) AS secrets,
         (SELECT count(*) FROM recovery_codes) AS codes,
         (SELECT array_agg(staff) FROM security_events WHERE kind = 'totp_reset') AS told`,
    );
    expect(left).to.deep.equal({ secrets: 0, codes: 0, told: [ACTOR] });
  });

  it('refuses what is taken or not there, and changes nothing', async () => {
    const email = await newUser();
    const create = 'user create --role Finance --merchant';
    await admin.refused([
      [
        `${create} ${merchant_id} --email ${email.toUpperCase()}`,
        `${email} is a user of merchant ${merchant_id} already`,
      ],
      ['user show nobody@x.example', /^There is no user nobody@x\.example\n$/],
      [`${create} 99 --email a@x.example`, /^There is no merchant 99\n$/],
      [
        `user deactivate --email ${email} --merchant 99`,
        `There is no user ${email} of merchant 99`,
      ],
    ]);
  });

  it('takes no bad password, and never repeats it', async () => {
    const run = await admin.unchanged(() =>
      admin.run(
        `user create --merchant ${merchant_id} --email a@x.example --role Admin --password-stdin --reason x`,
        { input: 'eleven char' },
      ),
    );
    expect(run).to.deep.equal({
      status: 2,
      stdout: '',
      stderr: 'The password must have 12 to 128 characters\n',
    });
    const bad: [input: string | Buffer, line: string][] = [
      ['', '--password-stdin found nothing on standard input'],
      ['\n', '--password-stdin found nothing on standard input'],
      ['x'.repeat(129), 'The password must have 12 to 128 characters'],
      ['x'.repeat(100_000), 'The password must have 12 to 128 characters'],
      ['password1234', EASY],
      ['two lines\nof a password', 'The password must be a single line of text'],
      [Buffer.alloc(20, 0xff), 'The password must be UTF-8 text'],
    ];
    for (const [input, line] of bad) {
      const problem = await rejection(readPassword(Readable.from([Buffer.from(input)])));
      expect(failureOf(problem)).to.deep.equal({ status: 2, line });
    }
    const terminal = Object.assign(Readable.from(['']), { isTTY: true });
    expect((await rejection(readPassword(terminal))).message).to.include('reads a pipe');
  });
});
