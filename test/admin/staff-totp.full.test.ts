import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { rows } from '../../src/connections/database.ts';
import { FAILURES_AT_ONCE } from '../../src/domain/credentials/log-in-limit.ts';
import { DEVELOPMENT_KEYS } from '../../src/process/key-ring.ts';
import { type AdminTester, createAdminTester, type Document } from '../support/admin.ts';
import { REASON } from '../support/admin-usage.ts';
import { securityEvents } from '../support/security-events.ts';
import { otpOf, wrongOtpOf } from '../support/totp.ts';

const NEEDED = 'This needs your one-time password (on the command line: --otp)';
const NOT_BEGUN = 'You have not begun: staff begin-totp';
const WRONG = 'The one-time password is wrong, or was used before: wait for the next one';
const ON = 'You have one-time passwords already: an admin switches them off with staff reset-totp';

describe('One-time passwords of staff', () => {
  let admin: AdminTester;
  let root: string;
  let count = 0;

  before(async () => {
    admin = await createAdminTester();
    const first = 'staff create Amina --email amina@x.example --first';
    root = (await admin.changeJson(first)).token as string;
  });

  after(() => admin.close());

  const by = (token: string) => ({ env: { MALIPO_STAFF_TOKEN: token } });

  async function newMember(role: string): Promise<{ email: string; token: string }> {
    count += 1;
    const email = `member-${count}@x.example`;
    const create = `staff create Member --email ${email} --role ${role}`;
    return { email, token: (await admin.changeJson(create, by(root))).token as string };
  }

  /** Lets a member set them up with the code of now, so that the next one is left. */
  async function newMemberWithTotp(role: string) {
    const { email, token } = await newMember(role);
    const begun = await admin.changeJson('staff begin-totp', by(token));
    const secret = begun.secret as string;
    await admin.change(`staff confirm-totp ${otpOf(secret)}`, by(token));
    return { email, token, secret };
  }

  /** Runs what must be refused, although a wrong password is counted. */
  async function turnsDown(command: string, message: string, token: string): Promise<void> {
    const { status, stderr } = await admin.run(
      [...command.split(' '), '--reason', REASON],
      by(token),
    );
    expect([status, stderr], command).to.deep.equal([1, `${message}\n`]);
  }

  const refusals = async (email: string) =>
    (await securityEvents(admin.database, 'staff_refused'))
      .filter(({ staff }) => staff === email)
      .map(({ detail }) => (detail as Document).why);

  it('are set up with a secret that is shown once, and count from a first one on', async () => {
    const { email, token } = await newMember('viewer');
    await turnsDown('staff confirm-totp 123456', NOT_BEGUN, token);
    const begun = await admin.changeJson('staff begin-totp', by(token));
    expect(begun.email).to.equal(email);
    expect(begun.otpauth_uri).to.include(begun.secret).and.to.include(encodeURIComponent(email));
    const secret = begun.secret as string;
    await turnsDown(`staff confirm-totp ${wrongOtpOf(secret)}`, WRONG, token);
    const [stored] = await rows<{ text: string }>(
      admin.database,
      `SELECT string_agg(CAST(s AS text), ' ') AS text FROM staff_totp_secrets s`,
    );
    expect(stored!.text).to.not.include(secret);
    // Until then everything is as before.
    const renewed = (await admin.changeJson('staff new-token', by(token))).token as string;
    // Whoever gave the token may have begun it.
    await turnsDown(`staff confirm-totp ${otpOf(secret)}`, NOT_BEGUN, renewed);
    const own = (await admin.changeJson('staff begin-totp', by(renewed))).secret as string;
    await admin.change(`staff confirm-totp ${otpOf(own)}`, by(renewed));
    expect((await admin.audits()).at(-1)).to.deep.include({
      ...{ actor: email, action: 'staff.confirm-totp', subject: `staff member ${email}` },
      details: { totp: true },
    });
    const [enabled] = await securityEvents(admin.database, 'staff_totp_enabled');
    expect(enabled).to.include({ staff: email });
    await turnsDown('staff begin-totp', ON, renewed);
    await turnsDown(`staff confirm-totp ${otpOf(own, 1)}`, ON, renewed);
  });

  it('are needed for each change of accounts and tokens, and are good once', async () => {
    const { email, token, secret } = await newMemberWithTotp('admin');
    const other = await newMember('viewer');
    const changes = [
      'staff create Juma --email juma@x.example --role viewer',
      'staff new-token',
      `staff new-token ${other.email}`,
      `staff update ${other.email} --role support`,
      `staff deactivate ${other.email}`,
      `staff reset-totp ${other.email}`,
    ];
    await admin.refused(
      changes.map((change) => [change, NEEDED]),
      by(token),
    );
    for (const change of changes) {
      await turnsDown(`${change} --otp ${wrongOtpOf(secret)}`, WRONG, token);
    }
    expect(await refusals(email)).to.deep.equal(changes.map(() => 'otp'));
    const code = otpOf(secret, 1);
    const renewed = await admin.changeJson(`staff new-token --otp ${code}`, by(token));
    const again = `staff deactivate ${other.email} --otp ${code}`;
    await turnsDown(again, WRONG, renewed.token as string);
    // What is no change of staff goes on without.
    await admin.change('channel pause 63902', by(renewed.token as string));
    await admin.change('channel resume 63902', by(renewed.token as string));
  });

  it('are taken once when two commands use the same one at once', async () => {
    const { token, secret } = await newMemberWithTotp('admin');
    const others = [await newMember('viewer'), await newMember('viewer')];
    const runs = await Promise.all(
      others.map(({ email }) =>
        admin.run(
          ['staff', 'deactivate', email, '--otp', otpOf(secret, 1), '--reason', REASON],
          by(token),
        ),
      ),
    );
    expect(runs.map(({ status }) => status)).to.have.members([0, 1]);
  });

  it('cannot be guessed: wrong ones are limited', async () => {
    const { email, token, secret } = await newMemberWithTotp('viewer');
    const guess = `staff new-token --otp ${wrongOtpOf(secret)}`;
    for (let tries = 0; tries < FAILURES_AT_ONCE; tries += 1) {
      await turnsDown(guess, WRONG, token);
    }
    const limited = 'Too many wrong one-time passwords: try again in 5 min';
    await turnsDown(`staff new-token --otp ${otpOf(secret, 1)}`, limited, token);
    expect((await refusals(email)).at(-1)).to.equal('otp_limited');
  });

  it('are taken again after an admin has let the member in', async () => {
    const { email, token, secret } = await newMemberWithTotp('viewer');
    const guess = `staff new-token --otp ${wrongOtpOf(secret)}`;
    for (let tries = 0; tries < FAILURES_AT_ONCE; tries += 1) await turnsDown(guess, WRONG, token);
    const letIn = `staff update ${email} --forget-failures`;
    await admin.refused([[letIn, 'This needs the role admin']], by(token));
    await admin.change(letIn, by(root));
    expect((await admin.audits()).at(-1)).to.deep.include({
      ...{ action: 'staff.update', subject: `staff member ${email}` },
      details: { failed_log_ins: 'forgotten' },
    });
    const [lifted] = await securityEvents(admin.database, 'log_in_limit_lifted');
    expect(lifted).to.include({ staff: 'amina@x.example' });
    expect(await admin.changeJson(letIn, by(root))).to.include({ changed: false });
    await admin.changeJson(`staff new-token --otp ${otpOf(secret, 1)}`, by(token));
  });

  it('go on after their secrets were encrypted again with a new key', async () => {
    const newKey = `new:${randomBytes(32).toString('base64')}`;
    const SECRETS_KEY = `${newKey},${DEVELOPMENT_KEYS}`;
    const { token, secret } = await newMemberWithTotp('viewer');
    const env = { env: { MALIPO_STAFF_TOKEN: root, SECRETS_KEY } };
    await admin.change('secrets rekey', env);
    const later = { env: { MALIPO_STAFF_TOKEN: token, SECRETS_KEY: newKey } };
    await admin.changeJson(`staff new-token --otp ${otpOf(secret, 1)}`, later);
  });

  it('are switched off by an admin for who has lost them', async () => {
    const { email, token } = await newMemberWithTotp('viewer');
    await admin.refused([[`staff reset-totp ${email}`, 'This needs the role admin']], by(token));
    await rows(admin.owner, "UPDATE staff SET active = email LIKE 'amina%' WHERE role = 'admin'");
    await admin.change(`staff reset-totp ${email}`, by(root));
    expect((await admin.audits()).at(-1)).to.deep.include({
      ...{ action: 'staff.reset-totp', subject: `staff member ${email}` },
      details: { totp: false },
    });
    expect(await securityEvents(admin.database, 'staff_totp_reset')).to.have.length(1);
    await admin.changeJson('staff new-token', by(token));
    const again = await admin.changeJson(`staff reset-totp ${email}`, by(root));
    expect(again).to.deep.equal({ email, totp: false, changed: false });
    await admin.refused(
      [['staff new-token --otp 123456', 'You have not set up one-time passwords']],
      by(root),
    );
  });
});
