import { expect } from 'chai';
import type { Database, Transaction } from '../../src/connections/database.ts';
import { authenticate } from '../../src/domain/access/caller.ts';
import { issueAppTokens, logInUser, refreshTokens } from '../../src/domain/credentials/log-in.ts';
import type { TokenPair } from '../../src/domain/credentials/tokens.ts';
import { Refusal } from '../../src/domain/errors.ts';
import { updateApp } from '../../src/domain/merchants/app.ts';
import { revokeCredentials, updateMerchant } from '../../src/domain/merchants/merchant.ts';
import { rotateAppSecret } from '../../src/domain/merchants/rotate-secrets.ts';
import { eventually, rejection, type TestUser, useStore } from '../support/world.ts';

describe('Sessions that an operator ends', () => {
  const store = useStore({ token: true });
  let user: TestUser;

  beforeEach(async () => {
    user = await store.newUser();
  });

  // An open transaction stands for a request or a command that is under way.
  type Runner = Database | Transaction;
  const appTokens = (on: Runner = store.database) =>
    issueAppTokens(on as Database, store.config, store.merchant);
  const userTokens = (on: Runner = store.database) => logInUser(on as Database, store.config, user);
  const refresh = (token: string, on: Runner = store.database) =>
    refreshTokens(on as Database, store.config.jwtKeys, token, null);
  const inOwn = <Result>(on: Runner, work: (trx: Transaction) => Promise<Result>) =>
    on.transaction(work);

  const setApp = (active: boolean, on: Runner = store.database) =>
    inOwn(on, async (trx) => (await updateApp(trx, store.merchant.app_code, { active })).revoked);
  const setMerchant = (active: boolean, on: Runner = store.database) =>
    inOwn(on, async (trx) => (await updateMerchant(trx, store.merchantId, { active })).revoked);
  const revokeAll = (on: Runner = store.database) =>
    inOwn(on, (trx) => revokeCredentials(trx, store.merchantId, { keepWebhookSecrets: false }));

  const codeOf = async (work: Promise<unknown>) => {
    const error = await rejection(work);
    expect(error).to.be.instanceOf(Refusal);
    return (error as Refusal).code;
  };
  const use = (access: string) => authenticate(store.database, store.config.jwtKeys, access, null);

  async function expectEnded({ access, refresh: token }: TokenPair): Promise<void> {
    expect(await codeOf(use(access))).to.equal('token_revoked');
    expect(await codeOf(refresh(token))).to.equal('token_revoked');
  }

  const waitForLock = () =>
    eventually('somebody waits for a lock', async () =>
      store.firstRow(`SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`),
    );

  /** Lets the first one be under way, with the second waiting for it, and then both end. */
  async function oneAfterTheOther<First, Second>(
    first: (trx: Transaction) => Promise<First>,
    second: () => Promise<Second>,
  ): Promise<[First, PromiseSettledResult<Second>]> {
    const trx = await store.database.transaction();
    const done = await first(trx);
    const waiting = Promise.allSettled([second()]);
    await waitForLock();
    await trx.commit();
    const [end] = await waiting;
    return [done, end];
  }

  it('by a suspension of the app do not live again when it is activated', async () => {
    const [tokens, others] = [await appTokens(), await userTokens()];
    expect(await setApp(false)).to.equal(2);
    await setApp(true);
    await expectEnded(tokens);
    await use(others.access);
    await use((await appTokens()).access);
  });

  it('by a suspension of the merchant do not live again when it is activated', async () => {
    const pairs = [await appTokens(), await userTokens()];
    // One of the app and one of the user were started with the merchant.
    expect(await setMerchant(false)).to.equal(4);
    await setMerchant(true);
    for (const tokens of pairs) await expectEnded(tokens);
    await use((await appTokens()).access);
    await use((await userTokens()).access);
  });

  const SUSPENSIONS = {
    'of the app': [appTokens, setApp],
    'of the merchant': [appTokens, setMerchant],
    'of the merchant of a person': [userTokens, setMerchant],
  } as const;
  for (const [name, [logIn, setActive]] of Object.entries(SUSPENSIONS)) {
    it(`by a suspension ${name} include one that is just being started`, async () => {
      const [tokens, suspension] = await oneAfterTheOther(logIn, () => setActive(false));
      expect(suspension.status).to.equal('fulfilled');
      await setActive(true);
      await expectEnded(tokens);
    });

    it(`by a suspension ${name} cannot be started while it is being committed`, async () => {
      const [, started] = await oneAfterTheOther((trx) => setActive(false, trx), logIn);
      expect(started.status).to.equal('rejected');
      await setActive(true);
      const living = 'SELECT FROM token_families WHERE merchant_id = :id AND revoked_at IS NULL';
      const held = await store.rows(living, { id: store.merchantId });
      expect(held).to.have.length(setActive === setApp ? 1 : 0);
    });
  }

  it('include one that is just being refreshed, even if it would have expired', async () => {
    const { refresh: token } = await appTokens();
    await store.rows(
      `UPDATE token_families SET expires_at = now() - interval '1 second'
       WHERE merchant_id = :id`,
      { id: store.merchantId },
    );
    const [renewed] = await oneAfterTheOther(
      (trx) => refresh(token, trx),
      () => setApp(false),
    );
    await setApp(true);
    await expectEnded(renewed);
  });

  it('include everything with revoke-all: no token and no secret is valid after it', async () => {
    const pairs = [await appTokens(), await userTokens()];
    const { revoked, unsigned } = await revokeAll();
    expect(revoked).to.deep.equal({ token_families: 4, app_secrets: 1, webhook_secrets: 0 });
    expect(unsigned).to.deep.equal([store.merchant.app_code]);
    for (const tokens of pairs) await expectEnded(tokens);
    expect(await codeOf(appTokens())).to.equal('invalid_app_credentials');
    await use((await userTokens()).access);
    expect((await revokeAll()).revoked).to.deep.equal({
      ...{ token_families: 1, app_secrets: 0, webhook_secrets: 0 },
    });
  });

  it('leave those of another merchant alone', async () => {
    const tokens = await appTokens();
    store.merchant = await store.newMerchant();
    await revokeAll();
    await setMerchant(false);
    await use(tokens.access);
  });

  it('include a log-in that is under way at a revoke-all, and one that waits for it', async () => {
    const [tokens] = await oneAfterTheOther(appTokens, revokeAll);
    await expectEnded(tokens);
    store.merchant = await store.newMerchant();
    const [, started] = await oneAfterTheOther(
      (trx) => revokeAll(trx),
      () => appTokens(),
    );
    expect(started).to.have.nested.property('reason.code', 'invalid_app_credentials');
  });

  it('do not live on by a secret that is just being rotated', async () => {
    const { secretsKeys } = store.config;
    const [{ value }] = await oneAfterTheOther(
      (trx) => rotateAppSecret(trx, secretsKeys, store.merchant.app_code, 3_600_000, 0),
      revokeAll,
    );
    expect(await codeOf(appTokens())).to.equal('invalid_app_credentials');
    store.merchant = { ...store.merchant, app_secret: value.secret };
    expect(await codeOf(appTokens())).to.equal('invalid_app_credentials');
    const rotated = await inOwn(store.database, (trx) =>
      rotateAppSecret(trx, secretsKeys, store.merchant.app_code, 0, 0),
    );
    store.merchant = { ...store.merchant, app_secret: rotated.value.secret };
    await use((await appTokens()).access);
  });
});
