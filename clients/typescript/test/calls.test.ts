import { expect } from 'chai';
import { topUpPayoutWallet } from '../../../scripts/sandbox/top-up.ts';
import { assign } from '../../../test/support/assignments.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { expectRightBooks } from '../../../test/support/ledger-check.ts';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import type { TestMerchant } from '../../../test/support/test-merchant.ts';
import {
  createClient,
  type MalipoClient,
  MalipoError,
  type TryAnswer,
  verifyWebhook,
} from '../src/index.ts';
import { type ClientWorld, startClientWorld } from './support/client-world.ts';
import type { Answer } from './support/front.ts';

const INITIATE = '/collections/checkouts/initiate';
/** The simulated gateway does not answer when a collection of this phone is given back. */
const SILENT_ON_REVERSAL = '+254712345110';
/** One payout, then four a second. */
const LOW_LIMIT = 'payout_limit_per_minute = 240, payout_limit_burst = 1';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const errorAnswer = (status: number, code: string, headers = {}): Answer => ({
  ...{ status, headers },
  body: JSON.stringify({ detail: 'Not now', code }),
});

describe('The client’s calls', () => {
  let world: ClientWorld;
  let merchant: TestMerchant;
  let client: MalipoClient;

  before(async () => {
    // No request waits for the gateway, so the first answer about a silent one is always 502.
    world = await startClientWorld({ env: { REVERSAL_WAIT_MS: '0' } });
  });

  after(() => world.close());

  beforeEach(async () => {
    merchant = await world.newMerchant();
    client = world.clientOf(merchant);
    world.front.passed.length = 0;
    world.front.changeWith(() => null);
  });

  /** The requests to a path, in order. */
  const sentTo = (path: string) =>
    world.front.passed.filter((each) => each.path === `/api/v1${path}`);
  const keysOf = (path: string) =>
    sentTo(path).map(({ headers }) => headers.get('idempotency-key'));
  const failure = (call: Promise<unknown>): Promise<MalipoError> =>
    call.then(
      () => expect.fail('It should have failed'),
      (error) => error,
    );

  /** Changes the first answers of a path to these, one after the other. */
  function answerFirst(path: string, ...answers: Answer[]): void {
    world.front.changeWith((passed) =>
      passed.path === `/api/v1${path}` ? (answers.shift() ?? null) : null,
    );
  }

  it('take a payment, and its webhook is verified', async () => {
    const body = world.collection('paid-1');
    const { id, status } = await client.post(INITIATE, { body });
    expect(status).to.equal('pending');
    const [webhook] = await eventually('the webhook', async () => {
      const received = world.shop.webhooksFor('paid-1');
      return received.length > 0 && received;
    });
    const event = verifyWebhook(webhook!.body, webhook!.headers, merchant.app_secret);
    if (event.type !== 'collection') return expect.fail(event.type);
    expect(event.event).to.equal('transaction.completed');
    expect(event.data).to.include({ id, ref_no: 'paid-1', amount: '100.00', result_code: 0 });
    const params = { path: { checkout_id: id } };
    const collection = await client.get('/collections/checkouts/{checkout_id}', { params });
    expect(collection).to.include({ status: 'completed', net_amount: '98.50' });
    expect(collection.trans_id).to.equal(event.data.trans_id);
  });

  it('have names, and tell how each try has ended', async () => {
    const { app_key: appKey, app_secret: appSecret } = merchant;
    const tries: TryAnswer[] = [];
    const named = createClient({
      ...{ baseUrl: `${world.front.origin}/api/v1`, appKey, appSecret },
      onAnswer: (answer) => tries.push(answer),
    });
    answerFirst(INITIATE, errorAnswer(503, 'unavailable'));
    const { id } = await named.initiateCollection({ body: world.collection('named-1') });
    const found = await named.getCollection({ params: { path: { checkout_id: id } } });
    expect(found).to.include({ id, ref_no: 'named-1' });
    const told = tries.map(({ method, path, status, tryNo }) => [method, path, status, tryNo]);
    expect(told).to.deep.equal([
      ['POST', '/api/v1/auth/app/token', 200, 1],
      ['POST', `/api/v1${INITIATE}`, 503, 1],
      ['POST', `/api/v1${INITIATE}`, 200, 2],
      ['GET', `/api/v1/collections/checkouts/${id}`, 200, 1],
    ]);
    expect(tries.at(-1)!.requestId).to.be.a('string').and.not.equal('');
  });

  it('wait for an answer no longer than they were told to', async () => {
    const { app_key: appKey, app_secret: appSecret } = merchant;
    const baseUrl = `${world.front.origin}/api/v1`;
    const hasty = createClient({ baseUrl, appKey, appSecret, timeoutMs: 200 });
    await hasty.getBalance();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.front.changeWith(async ({ path }) => {
      if (path.endsWith('/auth/logout')) await held;
      return null;
    });
    const error = await failure(hasty.logOut());
    release();
    expect(error).to.include({ status: 0, code: 'no_answer' });
  });

  it('walk through every page of a list, and add nothing that came meanwhile', async () => {
    const refNos = ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'];
    for (const refNo of refNos) await client.post(INITIATE, { body: world.collection(refNo) });
    const params = { query: { page_size: 2 } };
    const seen: string[] = [];
    for await (const { ref_no } of client.paginate('/collections/checkouts', { params })) {
      if (seen.push(ref_no) === 1) {
        await client.post(INITIATE, { body: world.collection('page-late') });
      }
    }
    expect(seen).to.deep.equal(refNos.toReversed());
    expect(sentTo('/collections/checkouts')).to.have.length(3);
    const filtered = { params: { query: { ref_no: 'page-3' } } };
    for await (const { ref_no } of client.paginate('/collections/checkouts', filtered)) {
      expect(ref_no).to.equal('page-3');
    }
  });

  it('lose no filter of a list', async () => {
    const list = (query: object) => client.listCollections({ params: { query } });
    await client.post(INITIATE, { body: world.collection('filter-1') });
    const count = async (query: object) => (await list(query)).results.length;
    expect(await count({ date_from: new Date(Date.now() + 60_000) })).to.equal(0);
    expect(await count({ date_to: new Date(Date.now() + 60_000), status: null })).to.equal(1);
    for (const value of [['completed'], { is: 'completed' }]) {
      const error = await failure(list({ status: value }));
      expect(error).to.be.instanceOf(TypeError).with.property('message').includes('status');
    }
  });

  it('pay once when the first answer is cut off', async () => {
    const proxy = await startTcpProxy(world.front.origin);
    const { app_key: appKey, app_secret: appSecret } = merchant;
    const cut = createClient({ baseUrl: `${proxy.url}api/v1`, appKey, appSecret });
    await cut.get('/channels');
    proxy.cutNextAnswer();
    const { id } = await cut.post(INITIATE, { body: world.collection('cut-1') });
    await proxy.close();
    const keys = keysOf(INITIATE);
    expect(keys).to.have.length(2);
    expect(keys[0]).to.match(UUID).and.equal(keys[1]);
    const { results } = await client.get('/collections/checkouts');
    expect(results.map((each) => each.id)).to.deep.equal([id]);
    await expectRightBooks(world.service.database);
  });

  for (const [what, answer] of [
    ['is away', errorAnswer(503, 'unavailable')],
    ['is behind a proxy that lost it', { status: 502, body: '<h1>Bad Gateway</h1>' }],
    ['wants fewer requests', errorAnswer(429, 'rate_limited', { 'retry-after': '0' })],
    ['is still at it', errorAnswer(409, 'idempotency_key_running')],
  ] as const) {
    it(`go again under the same key when the service ${what}`, async () => {
      answerFirst(INITIATE, answer);
      const { ref_no } = await client.post(INITIATE, { body: world.collection('again-1') });
      expect(ref_no).to.equal('again-1');
      const keys = keysOf(INITIATE);
      expect(keys).to.have.length(2);
      expect(new Set(keys).size).to.equal(1);
    });
  }

  it('all get their turn at the rate limit, however many wait for it', async () => {
    await assign(world.service.database, merchant.merchant_id, 'merchants', LOW_LIMIT);
    const { database } = world.service;
    await topUpPayoutWallet(
      database,
      merchant.merchant_id,
      1_000_000,
      `limit-${merchant.app_code}`,
    );
    const payouts = Array.from({ length: 20 }, (_, index) => ({
      ...{ payto: '+254712345678', amount: '10.00', ref_no: `wage-${index}` },
      ...{ app_code: merchant.app_code, callback_url: world.shop.url },
    }));
    await Promise.all(payouts.map((body) => client.initiatePayout({ body })));
    const { results } = await client.listPayouts();
    expect(results).to.have.length(20);
    await expectRightBooks(database);
  });

  it('fail at once when their turn at the rate limit is too far away', async () => {
    const slow = { 'retry-after': '20', 'x-ratelimit-limit': '0.5' };
    const leave = new AbortController();
    answerFirst('/channels', ...Array(2).fill(errorAnswer(429, 'rate_limited', slow)));
    const calls = [1, 2].map(() => failure(client.get('/channels', { signal: leave.signal })));
    const error = await Promise.race(calls);
    leave.abort();
    expect(error).to.include({ status: 429, code: 'rate_limited', mayBeDone: false });
    await Promise.all(calls);
  });

  it('get the reversal in place of the 502 of a gateway that is silent', async () => {
    const body = { ...world.collection('back-1'), payfrom: SILENT_ON_REVERSAL };
    const { id } = await client.post(INITIATE, { body });
    const params = { path: { checkout_id: id } };
    await eventually('the payment', async () => {
      const collection = await client.get('/collections/checkouts/{checkout_id}', { params });
      return collection.status === 'completed';
    });
    const reversal = await client.post('/reversals/initiate', {
      body: { checkout_ref_no: 'back-1', ref_no: 'back-2', callback_url: world.shop.url },
    });
    expect(reversal).to.include({ ref_no: 'back-2', amount: '100.00' });
    const statuses = sentTo('/reversals/initiate').map(({ status }) => status);
    expect([statuses[0], statuses.at(-1)]).to.deep.equal([502, 200]);
  });

  it('have a new key each, or the caller’s own', async () => {
    const own = { 'Idempotency-Key': 'order-77' };
    for (const refNo of ['key-1', 'key-2']) {
      await client.post(INITIATE, { body: world.collection(refNo) });
    }
    const body = world.collection('key-3');
    const first = await client.post(INITIATE, { body, params: { header: own } });
    const again = await client.post(INITIATE, { body, params: { header: own } });
    expect(again).to.deep.equal(first);
    const keys = keysOf(INITIATE);
    expect(new Set(keys).size).to.equal(3);
    expect(keys.slice(2)).to.deep.equal(['order-77', 'order-77']);
  });

  it('do not go again where that is not safe, and have no key there', async () => {
    answerFirst('/auth/logout', errorAnswer(503, 'unavailable'));
    const init = { params: { header: { 'Idempotency-Key': 'mine' } } };
    const error = await failure(client.post('/auth/logout', init as object));
    expect(error).to.include({ status: 503, code: 'unavailable', idempotencyKey: undefined });
    expect(keysOf('/auth/logout')).to.deep.equal([null]);
  });

  it('leave a long wait to the caller, with the key', async () => {
    answerFirst(INITIATE, errorAnswer(503, 'channel_paused', { 'retry-after': '60' }));
    const error = await failure(client.post(INITIATE, { body: world.collection('wait-1') }));
    expect(error).to.include({ status: 503, code: 'channel_paused' });
    expect(keysOf(INITIATE)).to.deep.equal([error.idempotencyKey]);
  });

  const lost: Answer = { status: 502, body: '<h1>Bad Gateway</h1>' };

  it('say that they may be done, when only a later try was refused', async () => {
    answerFirst(INITIATE, lost, errorAnswer(429, 'rate_limited', { 'retry-after': '60' }));
    const error = await failure(client.post(INITIATE, { body: world.collection('lost-1') }));
    expect(error).to.include({ status: 429, code: 'rate_limited', mayBeDone: true });
    expect(error.message).to.include('rate_limited, may be done');
    expect(keysOf(INITIATE)).to.deep.equal([error.idempotencyKey, error.idempotencyKey]);
    const { results } = await client.get('/collections/checkouts');
    expect(results.map(({ ref_no }) => ref_no)).to.deep.equal(['lost-1']);
  });

  it('say so too when the log-in after a lost try is refused', async () => {
    const refused = { detail: 'No', code: 'token_revoked', field: 'Authorization' };
    const answers = [lost, { status: 401, body: JSON.stringify(refused) }];
    await client.get('/channels');
    world.front.changeWith(({ path }) => {
      if (path.endsWith('/auth/app/token')) return errorAnswer(401, 'invalid_app_credentials');
      return path.endsWith(INITIATE) ? (answers.shift() ?? null) : null;
    });
    const error = await failure(client.post(INITIATE, { body: world.collection('lost-2') }));
    expect(error).to.include({ code: 'invalid_app_credentials', mayBeDone: true });
    expect(keysOf(INITIATE)).to.deep.equal([error.idempotencyKey, error.idempotencyKey]);
  });

  for (const [what, answer, mayBeDone] of [
    ['a fault of the service', errorAnswer(500, 'internal_error'), true],
    ['a page of a proxy', { ...lost, status: 403 }, true],
    ['a refusal', errorAnswer(403, 'product_missing'), false],
    [
      'a channel that is paused',
      errorAnswer(503, 'channel_paused', { 'retry-after': '60' }),
      false,
    ],
  ] as const) {
    it(`say that they ${mayBeDone ? 'may be' : 'are not'} done after ${what}`, async () => {
      answerFirst(INITIATE, answer);
      const error = await failure(client.post(INITIATE, { body: world.collection('fate-1') }));
      expect(error).to.include({ status: answer.status, mayBeDone });
    });
  }

  it('say that they are not done when no token came, with the key', async () => {
    answerFirst('/auth/app/token', errorAnswer(500, 'internal_error'));
    const params = { header: { 'Idempotency-Key': 'mine' } };
    const error = await failure(client.post(INITIATE, { body: world.collection('a'), params }));
    expect(error).to.include({ status: 500, mayBeDone: false, idempotencyKey: 'mine' });
    expect(sentTo(INITIATE)).to.deep.equal([]);
  });

  it('end when their caller ends them, while they wait', async () => {
    const ended = new AbortController();
    world.front.changeWith(({ path }) => {
      if (!path.endsWith('/channels')) return null;
      ended.abort();
      return errorAnswer(503, 'unavailable');
    });
    const error = await failure(client.get('/channels', { signal: ended.signal }));
    expect(error).to.have.property('name', 'AbortError');
    expect(sentTo('/channels').length).to.be.below(2);
  });

  it('say what is wrong, and which request it was', async () => {
    const body = { ...world.collection('wrong-1'), amount: '1' };
    const error = await failure(client.post(INITIATE, { body }));
    expect(error).to.be.instanceOf(MalipoError);
    expect(error).to.include({
      ...{ status: 400, code: 'invalid_amount', field: 'amount', detail: 'Invalid amount' },
    });
    expect(error.requestId).to.be.a('string').and.not.equal('');
    expect(error.message).to.match(/^Invalid amount \(400, invalid_amount, amount, .+\)$/);
    expect(sentTo(INITIATE)).to.have.length(1);
  });

  it('say so when no answer came, or one that is not the service’s', async () => {
    answerFirst('/channels', { status: 200, headers: { 'content-type': 'text/html' }, body: 'Hi' });
    const unreadable = await failure(client.get('/channels'));
    expect(unreadable).to.include({ status: 200, code: 'unreadable_answer' });
    const { app_key: appKey, app_secret: appSecret } = merchant;
    const proxy = await startTcpProxy(world.front.origin);
    const cut = createClient({ baseUrl: `${proxy.url}api/v1`, appKey, appSecret });
    await cut.get('/channels');
    proxy.cutNextAnswer();
    const unanswered = await failure(cut.post('/auth/logout'));
    await proxy.close();
    expect(unanswered).to.include({ status: 0, code: 'no_answer', mayBeDone: true });
    const host = new URL(proxy.url).host;
    expect(unanswered.detail).to.include(`POST /api/v1/auth/logout from ${host}: `);
    const refused = await failure(cut.post('/auth/logout'));
    expect(refused.detail).to.include('ECONNREFUSED');
    expect(unanswered.cause).to.be.instanceOf(Error);
  });
});
