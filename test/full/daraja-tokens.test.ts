import { expect } from 'chai';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { RENEWAL_PAUSE_MS } from '../../src/domain/gateway-accounts/access-token.ts';
import { createTokenStore } from '../../src/domain/gateway-accounts/token-store.ts';
import type { DarajaAnswer } from '../../src/gateways/daraja/account.ts';
import { createDarajaClient } from '../../src/gateways/daraja/client.ts';
import { DEVELOPMENT_KEYS, keyRingFromText } from '../../src/process/key-ring.ts';
import { deadlineIn } from '../../src/time.ts';
import { MISBEHAVIOURS } from '../support/broken-servers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { withFreeze } from '../support/frozen.ts';
import { closedPortUrl, eventually } from '../support/gateway-fixtures.ts';
import { startTokenCaller, type TokenCaller } from '../support/token-callers.ts';
import { CREDENTIALS, startTokenProvider, type TokenProvider } from '../support/token-provider.ts';

const KEYS = keyRingFromText(DEVELOPMENT_KEYS);
const OTHER_KEYS = keyRingFromText(`other:${Buffer.alloc(32, 'another-key').toString('base64')}`);
const TIMEOUT_MS = 20_000;
const SHORT_MS = 300;
const FROZEN_MS = 120_000;
const ACCEPTED = { outcome: 'answered', status: 200, body: { ResponseCode: '0' } };
const EIGHT = Array.from({ length: 8 }, (_, index) => index);

describe('Access tokens of Daraja', () => {
  let store: TestDatabase;
  let provider: TokenProvider;

  before(async () => {
    store = await createTestDatabase();
  });
  after(() => store.drop());

  beforeEach(async () => {
    await rows(store.owner, 'DELETE FROM gateway_tokens');
    provider = await startTokenProvider();
  });
  afterEach(() => provider.close());

  /** A client with a memory of its own, as each process has. */
  function newClient(options: Partial<Parameters<typeof createDarajaClient>[0]> = {}) {
    const tokenStore = createTokenStore(store.database, KEYS);
    const { url: baseUrl } = provider;
    return createDarajaClient({
      ...{ ...CREDENTIALS, baseUrl, timeoutMs: TIMEOUT_MS, tokenStore },
      ...options,
    });
  }

  const post = (client = newClient(), ...deadline: [ReturnType<typeof deadlineIn>?]) =>
    client.post('/mpesa/stkpush/v1/processrequest', { Amount: '1' }, ...deadline);

  const change = (assignment: string) =>
    rows(store.database, `UPDATE gateway_tokens SET ${assignment}`);
  /** Makes the token old enough to be renewed when it is refused. */
  const ageToken = () => change(`renewed_at = renewed_at - interval '1 minute'`);

  function expectNoSecrets(answers: DarajaAnswer[]): void {
    const said = JSON.stringify(answers);
    const secrets = [...Object.values(CREDENTIALS), ...provider.tokens, 'Basic', 'Bearer'];
    for (const secret of secrets) expect(said).not.to.include(secret);
  }

  describe('of eight processes', () => {
    let callers: TokenCaller[] = [];

    beforeEach(async () => {
      callers = await Promise.all(EIGHT.map(() => startTokenCaller(store.url, provider.url)));
    });
    afterEach(() => Promise.all(callers.map((caller) => caller.kill())));

    const callAll = () => Promise.all(callers.map((caller) => caller.call()));

    it('come from one request, also when the token is due or ends in the middle of calls', async () => {
      provider.lifeSeconds = '6';
      expect(await callAll()).to.deep.equal(EIGHT.map(() => ACCEPTED));
      expect(provider.tokenRequests, 'first token').to.equal(1);

      provider.lifeSeconds = '3599';
      await eventually(async () => {
        const due = `SELECT 1 FROM gateway_tokens WHERE renewed_at <= now() - interval '3 seconds'`;
        return (await rows(store.database, due)).length > 0;
      });
      expect(await callAll()).to.deep.equal(EIGHT.map(() => ACCEPTED));
      expect(provider.tokenRequests, 'the first was due').to.equal(2);

      await ageToken();
      provider.endToken();
      expect(await callAll()).to.deep.equal(EIGHT.map(() => ACCEPTED));
      expect(provider.tokenRequests, 'the second was ended').to.equal(3);
    });
  });

  it('are renewed by another process after the lease of one that was killed', async () => {
    const killed = await startTokenCaller(store.url, provider.url);
    provider.onTokenRequest = () => {};
    const call = killed.call().catch(() => 'killed');
    await eventually(() => provider.tokenRequests === 1);
    await killed.kill();
    expect(await call).to.equal('killed');
    provider.onTokenRequest = null;

    const meanwhile = await post(newClient(), deadlineIn(SHORT_MS));
    expect(meanwhile.outcome).to.equal('neverSent');
    expect(provider.tokenRequests).to.equal(1);
    const waiting = post();
    await change(`lease_until = now()`);
    expect(await waiting).to.deep.equal(ACCEPTED);
    expect(provider.tokenRequests).to.equal(2);
    expect(provider.calls).to.equal(1);
  });

  it('are renewed once for many callers whose token was ended', async () => {
    const clients = EIGHT.map(() => newClient());
    await Promise.all(clients.map((client) => post(client)));
    await ageToken();
    provider.endToken();
    const answers = await Promise.all(clients.flatMap((each) => [post(each), post(each)]));
    expect(answers).to.deep.equal(answers.map(() => ACCEPTED));
    expect(provider.tokenRequests).to.equal(2);
  });

  it('cost no statement while they are valid', async () => {
    const client = newClient();
    await post(client);
    let statements = 0;
    const count = () => {
      statements += 1;
    };
    store.database.client.on('query', count);
    expect(await post(client)).to.deep.equal(ACCEPTED);
    store.database.client.off('query', count);
    expect(statements).to.equal(0);
  });

  it('are stored encrypted, under an account that does not tell its key', async () => {
    await post();
    const stored = JSON.stringify(await rows(store.database, 'SELECT * FROM gateway_tokens'));
    for (const secret of [...Object.values(CREDENTIALS), ...provider.tokens]) {
      expect(stored).not.to.include(secret);
    }
  });

  it('are asked for anew when their key has left the ring', async () => {
    await post();
    const client = newClient({ tokenStore: createTokenStore(store.database, OTHER_KEYS) });
    expect(await post(client)).to.deep.equal(ACCEPTED);
    expect(await post(client)).to.deep.equal(ACCEPTED);
    expect(provider.tokenRequests).to.equal(2);
  });

  it('are not asked for again and again with wrong credentials', async () => {
    const clients = EIGHT.map(() => newClient({ consumerSecret: 'wrong' }));
    const answers = await Promise.all(clients.flatMap((each) => [post(each), post(each)]));
    answers.push(await post(clients[0]), await post(newClient()));
    expect(provider.tokenRequests).to.equal(1);
    expect(provider.calls).to.equal(0);
    for (const answer of answers) {
      expect(answer.outcome).to.equal('neverSent');
      const { reason, retryAfterMs } = answer as Extract<DarajaAnswer, { outcome: 'neverSent' }>;
      expect(reason).to.equal('No access token: HTTP 400: check the consumer key and secret');
      expect(retryAfterMs).to.be.within(1, RENEWAL_PAUSE_MS);
    }
    expectNoSecrets(answers);
    await change(`failed_at = now() - interval '1 minute'`);
    expect(await post()).to.deep.equal(ACCEPTED);
  });

  for (const [name, misbehave] of Object.entries(MISBEHAVIOURS)) {
    it(`are missing, and no call is sent, when their provider ${name}`, async () => {
      provider.onTokenRequest = misbehave;
      const answer = await post();
      expect(answer.outcome).to.equal('neverSent');
      expect([provider.tokenRequests, provider.calls]).to.deep.equal([1, 0]);
      expectNoSecrets([answer]);
    });
  }

  it('that are due serve until their end when there is no newer one', async () => {
    await post();
    await change(`renewed_at = now() - interval '1 hour', expires_at = now() + interval '30 s'`);
    provider.onTokenRequest = MISBEHAVIOURS['answers 503']!;
    const client = newClient();
    expect(await post(client)).to.deep.equal(ACCEPTED);
    expect(await post(client)).to.deep.equal(ACCEPTED);
    expect(provider.tokenRequests).to.equal(2);
    await change(`expires_at = now()`);
    expect((await post(client)).outcome).to.equal('neverSent');
    expect(provider.tokenRequests).to.equal(2);
  });

  it('that are refused again are not renewed, so a product without approval ends no other call', async () => {
    const client = newClient();
    await post(client);
    await ageToken();
    provider.onCall = (res) => void res.writeHead(404).end('{"errorCode":"404.001.03"}');
    const refused = [await post(client), await post(client), await post(newClient())];
    expect(refused.map(({ outcome }) => outcome)).to.deep.equal(refused.map(() => 'neverSent'));
    expect(provider.tokenRequests).to.equal(2);
    expect(provider.calls, 'one, then two, then one each').to.equal(1 + 2 + 1 + 1);
    expectNoSecrets(refused);
    provider.onCall = null;
    expect(await post(client)).to.deep.equal(ACCEPTED);
    expect(provider.tokenRequests).to.equal(2);
  });

  const REFUSALS: [status: number, body: string][] = [
    [404, '{"errorCode":"404.001.03","errorMessage":"Invalid Access Token"}'],
    [401, '{"errorCode":"401.002.01"}'],
    [400, '{"errorCode":"400.003.01"}'],
    [401, '{"errorCode":"401.003.01"}'],
    [401, '{"errorCode":"401.001"}'],
    [200, '{"errorCode":"404.001.03"}'],
    [401, '<html>Unauthorized</html>'],
    [401, ''],
  ];
  for (const [status, body] of REFUSALS) {
    it(`are renewed and the call goes once more after HTTP ${status} ${body}`, async () => {
      const client = newClient();
      await post(client);
      await ageToken();
      provider.onCall = (res) => {
        provider.onCall = null;
        res.writeHead(status).end(body);
      };
      expect(await post(client)).to.deep.equal(ACCEPTED);
      expect([provider.tokenRequests, provider.calls]).to.deep.equal([2, 3]);
    });
  }

  const NO_REFUSALS: [status: number, body: string][] = [
    [401, '{"errorMessage":"Invalid API call as no apiproduct match found"}'],
    [
      401,
      '{"fault":{"detail":{"errorcode":"keymanagement.InvalidAPICallAsNoApiProductMatchFound"}}}',
    ],
    [401, '{"errorCode":"404.001.03","errorMessage":"No ApiProduct match"}'],
    [403, '{"errorCode":"403.001"}'],
    [401, '{"errorCode":"403.001"}'],
    [403, '<html>Blocked</html>'],
    [400, '{"errorCode":"400.002.02"}'],
    [404, '{"errorCode":"404.001.01"}'],
    [401, '{"ResponseCode":"0"}'],
    [500, '{"errorCode":"404.001.03"}'],
  ];
  for (const [status, body] of NO_REFUSALS) {
    it(`are kept and the answer is passed on after HTTP ${status} ${body}`, async () => {
      const client = newClient();
      await post(client);
      await ageToken();
      provider.onCall = (res) => void res.writeHead(status).end(body);
      const parsed = body.startsWith('{') ? JSON.parse(body) : undefined;
      expect(await post(client)).to.deep.equal({ outcome: 'answered', status, body: parsed });
      expect([provider.tokenRequests, provider.calls]).to.deep.equal([1, 2]);
    });
  }

  for (const [name, misbehave] of Object.entries(MISBEHAVIOURS)) {
    it(`are no reason to repeat a call when the server ${name}`, async () => {
      provider.onCall = misbehave;
      const answer = await post();
      expect(answer.outcome).to.be.oneOf(['answered', 'lost']);
      expect([provider.tokenRequests, provider.calls]).to.deep.equal([1, 1]);
      expectNoSecrets([answer]);
    });
  }

  it('leave a call lost whose answer was lost after a renewal', async () => {
    const client = newClient();
    await post(client);
    await ageToken();
    provider.onCall = (res) => {
      provider.onCall = MISBEHAVIOURS['resets the connection']!;
      res.writeHead(401).end('{"errorCode":"401.002.01"}');
    };
    expect((await post(client)).outcome).to.equal('lost');
    expect(provider.calls).to.equal(3);
  });

  it('are waited for until the deadline, and the one that comes later serves the next call', async () => {
    let answerNow = () => {};
    provider.onTokenRequest = (res) => {
      answerNow = () => res.end('{"access_token":"late-token","expires_in":3599}');
    };
    provider.onCall = (res) => void res.end('{"ResponseCode":"0"}');
    const client = newClient();
    expect((await post(client, deadlineIn(SHORT_MS))).outcome).to.equal('neverSent');
    expect(provider.calls).to.equal(0);
    answerNow();
    expect(await post(client)).to.deep.equal(ACCEPTED);
    expect([provider.tokenRequests, provider.calls]).to.deep.equal([1, 1]);
  });

  it('that come after the deadline, because the process was frozen, send nothing', () =>
    withFreeze('wall', FROZEN_MS, async (freeze) => {
      provider.onTokenRequest = (res) => {
        freeze();
        res.end('{"access_token":"a-token","expires_in":"3599"}');
      };
      expect((await post()).outcome).to.equal('neverSent');
      expect(provider.calls).to.equal(0);
    }));

  it('are missing, and nothing is sent, when the database is away', async () => {
    const address = (await closedPortUrl()).replace('http:', 'postgres:');
    const away = openDatabase(`${address}/malipo`, 1, 'malipo-test');
    const client = newClient({ tokenStore: createTokenStore(away, KEYS) });
    expect((await post(client)).outcome).to.equal('neverSent');
    expect([provider.tokenRequests, provider.calls]).to.deep.equal([0, 0]);
    await away.destroy();
  });

  it('are stored only by the holder of the lease', async () => {
    const tokens = createTokenStore(store.database, KEYS);
    const late = await tokens.claim('account', 0, 0);
    const holder = await tokens.claim('account', 0, TIMEOUT_MS);
    expect(await tokens.claim('account', 0, TIMEOUT_MS)).to.equal(null);
    await tokens.save('account', late!, { value: 'late', lifeMs: 3_599_000 });
    await tokens.fail('account', late!, 'late');
    expect(await tokens.read('account')).to.include({ token: null, isRenewing: true, pause: null });
    await tokens.save('account', holder!, { value: 'fresh', lifeMs: 3_599_000 });
    expect((await tokens.read('account')).token).to.include({ number: 1, value: 'fresh' });
    expect(await tokens.claim('account', 0, TIMEOUT_MS), 'of an older token').to.equal(null);
    expect(await tokens.read('account')).to.deep.include({ isRenewing: false, pause: null });
  });
});
