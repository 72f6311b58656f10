import { expect } from 'chai';
import { issueAppTokens } from '../../src/domain/credentials/log-in.ts';
import { rotateAppSecret } from '../../src/domain/merchants/rotate-secrets.ts';
import { changeUser, resetUserTotp } from '../../src/domain/merchants/user.ts';
import { HOUR_MS } from '../../src/time.ts';
import { clientOf, payoutBody, reversalBody, type TestUser, useService } from '../support/world.ts';

const HELD = 'access_too_new';

describe('New access', () => {
  const service = useService({ merchant: 'each' });
  let owner: TestUser;

  beforeEach(async () => {
    owner = await service.newUser('Admin');
  });

  /** The answers to requests that send money out, and to one that takes money in. */
  async function codesOf(access: string) {
    const client = clientOf(service, { access });
    const answers = [
      await client.post('/payouts/initiate', payoutBody(service.merchant)),
      await client.post('/wallets/transfers', { amount: '1.00', ref_no: 'T1' }),
      await client.post('/reversals/initiate', reversalBody('none')),
      await client.initiate(),
    ];
    return answers.map(({ status, body }) => (status === 200 ? 'taken' : body.code));
  }
  const FREE = ['insufficient_balance', 'insufficient_balance', 'transaction_not_found', 'taken'];
  const WAITS = [HELD, HELD, HELD, 'taken'];

  /** Gives the app a new secret, and lets the old one work on. @returns tokens of the new one */
  async function rotated(): Promise<string> {
    const { app_key, app_code } = service.merchant;
    const { value } = await service.transaction((trx) =>
      rotateAppSecret(trx, service.config.secretsKeys, app_code, HOUR_MS, HOUR_MS),
    );
    const credentials = { app_key, app_secret: value.secret };
    return (await issueAppTokens(service.database, service.config, credentials, null)).access;
  }
  const release = (body: object, by = owner) =>
    clientOf(service, by).post('/auth/access/release', { password: by.password, ...body });
  const hold = (user: TestUser) =>
    service.transaction((trx) =>
      changeUser(trx, user, { role: 'Admin', active: true }, { holdMs: HOUR_MS }),
    );

  it('of an app sends no money out, while the old secret still does', async () => {
    const access = await rotated();
    expect(await codesOf(access)).to.deep.equal(WAITS);
    expect(await codesOf(service.merchant.access)).to.deep.equal(FREE);
  });

  it('of an app is released by an Admin', async () => {
    const access = await rotated();
    expect((await release({ app_code: service.merchant.app_code })).status).to.equal(200);
    expect(await codesOf(access)).to.deep.equal(FREE);
    expect(await service.securityKindsOf(owner.userId)).to.include('access_released');
    expect((await release({ app_code: service.merchant.app_code })).status, 'again').to.equal(200);
  });

  it('of a person is released by another Admin, and not by the person', async () => {
    const person = await service.newUser('Finance');
    await hold(person);
    const { access } = (
      await clientOf(service, person).post('/auth/login', {
        email: person.email,
        password: person.password,
      })
    ).body;
    expect(await codesOf(access)).to.deep.equal(WAITS);
    const own = await release({ email: person.email }, { ...person, access });
    expect([own.status, own.body.code]).to.deep.equal([403, HELD]);
    expect((await release({ email: person.email.toUpperCase() })).status).to.equal(200);
    expect(await codesOf(access)).to.deep.equal(FREE);
  });

  it('waits after one-time passwords were reset', async () => {
    const person = await service.newUser('Admin');
    await service.assign('users', 'totp = true');
    await service.transaction((trx) => resetUserTotp(trx, person, HOUR_MS));
    await service.assign('token_families', 'revoked_at = NULL');
    expect(await codesOf(person.access)).to.deep.equal(WAITS);
  });

  it('is not released without the password, by other roles, or for others', async () => {
    const access = await rotated();
    const { app_code } = service.merchant;
    const stranger = await service.newMerchant();
    const finance = await service.newUser('Finance');
    const answers = [
      await release({ app_code, password: 'wrong' }),
      await release({ app_code }, finance),
      await release({ app_code: stranger.app_code }),
      await release({ email: 'nobody@x.example' }),
      await release({}),
      await release({ app_code, email: finance.email }),
    ];
    expect(answers.map(({ body }) => body.code)).to.deep.equal([
      ...['invalid_credentials', 'role_insufficient', 'app_not_found', 'invalid_field'],
      ...['field_required', 'field_required'],
    ]);
    expect(await codesOf(access)).to.deep.equal(WAITS);
  });
});
