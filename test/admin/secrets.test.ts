import { expect } from 'chai';
import { firstRow, inTransaction, rows } from '../../src/connections/database.ts';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import { storeTotpSecret, totpContext } from '../../src/domain/credentials/one-time-passwords.ts';
import { USERS } from '../../src/domain/credentials/people.ts';
import {
  type AppCredentials,
  chooseWebhookSecret,
  createApp,
} from '../../src/domain/merchants/app.ts';
import { openSecret } from '../../src/domain/merchants/app-secrets.ts';
import { createMerchant } from '../../src/domain/merchants/merchant.ts';
import { createUser } from '../../src/domain/merchants/user.ts';
import { keyRingFromText, open, type Sealed } from '../../src/process/key-ring.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type AdminTester, createAdminTester } from '../support/admin.ts';

/** More than one batch. */
const APPS = 150;
const OLD = `old:${Buffer.alloc(32, 1).toString('base64')}`;
const NEW = `new:${Buffer.alloc(32, 2).toString('base64')}`;
const withKeys = (...keys: string[]) => ({ env: { SECRETS_KEY: keys.join(',') } });

describe('admin secrets', () => {
  const { jwtKeys } = loadConfig({ DATABASE_URL: 'postgres://unused' });
  let admin: AdminTester;
  let merchant_id: number;
  const apps: AppCredentials[] = [];

  before(async () => {
    admin = await createAdminTester();
    const details = { name: 'Duka', email: 'duka@x.example', phone_number: '+254712345678' };
    merchant_id = await createMerchant(admin.database, { ...details, approved: true });
    for (let count = 0; count < APPS; count += 1) apps.push(await newApp());
  });

  after(() => admin.close());

  function newApp(keys = OLD): Promise<AppCredentials> {
    return createApp(admin.database, keyRingFromText(keys), merchant_id, {
      name: 'Till',
      products: ['collections'],
    });
  }

  const letsIn = (keys: string, app: AppCredentials) =>
    issueAppTokens(admin.database, { jwtKeys, secretsKeys: keyRingFromText(keys) }, app);
  const keyOf = async ({ app_code }: AppCredentials) =>
    (await firstRow<{ key_id: string }>(
      admin.database,
      'SELECT key_id FROM app_secrets WHERE app_code = :app_code',
      { app_code },
    ))!.key_id;

  it('encrypts all again with the first key, in batches', async () => {
    const text = await admin.change('secrets rekey', withKeys(NEW, OLD));
    expect(text).to.equal(
      `Secrets encrypted again with the key new: ${APPS}\nCallback keys kept for addresses that were given out before: old\n`,
    );
    // The old key is not needed any more.
    await letsIn(NEW, apps[0]!);
    await letsIn(NEW, apps.at(-1)!);
    const audits = (await admin.audits()).filter(({ action }) => action === 'secrets.rekey');
    expect(audits.map(({ details }) => details)).to.deep.equal([
      { keys: ['old'], to_key: 'new' },
      { count: 100, from_keys: ['old'], to_key: 'new' },
      { count: 50, from_keys: ['old'], to_key: 'new' },
    ]);
    expect(await admin.lastAudit()).to.include({ merchant_id: null, subject: 'app secrets' });
    expect(JSON.stringify(audits)).to.not.include(apps[0]!.app_secret);
  });

  it('finds nothing the second time', async () => {
    const again = await admin.unchanged(() =>
      admin.changeJson('secrets rekey', withKeys(NEW, OLD)),
    );
    expect(again).to.deep.equal({ rekeyed: 0, key_id: 'new', callback_keys: ['old'] });
  });

  it('says which keys are missing', async () => {
    await admin.refused(
      [
        [
          'secrets rekey',
          `Encrypted again: 0; but ${APPS} need keys that SECRETS_KEY does not have (new)\n`,
        ],
      ],
      withKeys(OLD),
    );
  });

  it('encrypts webhook secrets again too, and knows the keys that they need', async () => {
    const { app_code } = await newApp(NEW);
    const webhookSecret = () =>
      firstRow<Sealed>(
        admin.database,
        'SELECT key_id AS "keyId", ciphertext FROM webhook_secrets WHERE app_code = :app_code',
        { app_code },
      );
    const { webhook_secret } = await inTransaction(admin.database, (trx) =>
      chooseWebhookSecret(trx, keyRingFromText(OLD), app_code, 'own'),
    );
    await admin.refused(
      [
        [
          'secrets rekey',
          'Encrypted again: 0; but 1 need keys that SECRETS_KEY does not have (old)\n',
        ],
      ],
      withKeys(NEW),
    );
    expect(await admin.changeJson('secrets rekey', withKeys(NEW, OLD))).to.include({ rekeyed: 1 });
    expect(await admin.lastAudit()).to.deep.equal({
      action: 'secrets.rekey',
      merchant_id: null,
      subject: 'webhook secrets',
      details: { count: 1, from_keys: ['old'], to_key: 'new' },
    });
    const sealed = (await webhookSecret())!;
    expect(sealed.keyId).to.equal('new');
    const ref = { merchant_id, app_code };
    expect(openSecret(keyRingFromText(NEW), 'own', sealed, ref)).to.equal(webhook_secret);
    const others = { ...ref, app_code: app_code - 1 };
    expect(() => openSecret(keyRingFromText(NEW), 'own', sealed, others)).to.throw();
  });

  it('encrypts the secrets of one-time passwords again too, each for its user alone', async () => {
    const people = ['a@x.example', 'b@x.example'].map((email) =>
      createUser(admin.database, merchant_id, { email, password: 'x', role: 'Admin' }),
    );
    const [user_id, other_id] = await Promise.all(people);
    const user = { merchant_id, user_id: user_id! };
    const { secret } = await inTransaction(admin.database, (trx) =>
      storeTotpSecret(trx, keyRingFromText(OLD), user, 'a@x.example'),
    );
    expect(await admin.changeJson('secrets rekey', withKeys(NEW, OLD))).to.include({ rekeyed: 1 });
    expect((await admin.lastAudit()).subject).to.equal('secrets of one-time passwords');
    const sealed = (await firstRow<Sealed>(
      admin.database,
      'SELECT key_id AS "keyId", ciphertext FROM totp_secrets WHERE user_id = :user_id',
      user,
    ))!;
    expect(open(keyRingFromText(NEW), sealed, totpContext(USERS, user.user_id))).to.equal(secret);
    expect(() => open(keyRingFromText(NEW), sealed, totpContext(USERS, other_id!))).to.throw();
  });

  it('does what can be done, and names the apps of what cannot be decrypted', async () => {
    const broken = await newApp();
    const sound = await newApp();
    await rows(
      admin.database,
      "UPDATE app_secrets SET ciphertext = ciphertext || '\\x00' WHERE app_code = :app_code",
      { app_code: broken.app_code },
    );
    const { status, stdout, stderr } = await admin.run(
      'secrets rekey --reason because --json',
      withKeys(NEW, OLD),
    );
    expect([status, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.equal(
      `Encrypted again: 1; but these secrets cannot be decrypted with the key they name: app ${broken.app_code}\n`,
    );
    await letsIn(NEW, sound);
    expect(await keyOf(broken)).to.equal('old');
    // Once nobody needs the secret, it is in nobody's way.
    await rows(
      admin.database,
      'UPDATE app_secrets SET expires_at = now() WHERE app_code = :app_code',
      { app_code: broken.app_code },
    );
    expect(await admin.changeJson('secrets rekey', withKeys(NEW, OLD))).to.include({ rekeyed: 0 });
  });
});
