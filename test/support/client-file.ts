import { spawn } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { startClientWorld } from '../../clients/typescript/test/support/client-world.ts';
import type { Answer } from '../../clients/typescript/test/support/front.ts';
import { openApiDocument } from '../../src/api/documentation/openapi.ts';
import { signatureHeaders } from '../../src/domain/webhooks/sign.ts';
import { output, samplesOf } from './documented-samples.ts';
import { eventually } from './eventually.ts';
import { expectRightBooks } from './ledger-check.ts';
import { makeFolder } from './make-folder.ts';
import { describeWith } from './programs.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import type { TestMerchant } from './test-merchant.ts';

const INITIATE = '/collections/checkouts/initiate';
const SECRET = 'as_4f0c6a1e9b';
const NEW_SECRET = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;
const EVENT = {
  notification: { type: 'collection', event: 'transaction.completed' },
  data: { id: '01a1f87d', amount: '250.00', ref_no: 'order-1042' },
};

/** The program of a language, and the driver that it runs. */
type Command = readonly [program: string, driver: string];

/** What comes of a call of a client, in whatever language. */
interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: it is an answer of the API as JSON
  result?: any;
  error?: Record<string, unknown>;
}

/** A program that does what each line asks for, by the client's file. */
type Driver = { ask(...request: unknown[]): Promise<Outcome>; end(): void };

function startDriver([program, driver]: Command): Driver {
  const child = spawn(program, [driver], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: ((line: string) => void)[] = [];
  createInterface(child.stdout).on('line', (line) => waiting.shift()!(line));
  // It has written why.
  child.once('exit', () => waiting.shift()?.('{"error": {"name": "the driver has ended"}}'));
  return {
    ask: async (...request) => {
      const answer = new Promise<string>((resolve) => waiting.push(resolve));
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return JSON.parse(await answer);
    },
    end: () => child.stdin.end(),
  };
}

/**
 * Declares the tests of a client that is one file. The clients of all languages keep the same rules, by
 * the same tests, against the whole service.
 * @param options `needs`: the program without which the tests are left out; `more`: tests of this
 *   language alone
 */
export function describeClientFile(
  language: string,
  command: Command,
  { needs = command[0], more = () => {} }: { needs?: string; more?(file: ClientFile): void } = {},
): void {
  describeWith([needs], `The client for ${language}`, () => {
    const file = new ClientFile(command);
    before(() => file.start());
    after(() => file.stop());
    beforeEach(() => file.begin());
    declareCalls(file);
    declareErrors(file);
    declareWebhooks(file);
    declareSample(file, command);
    more(file);
  });
}

/** One client in the whole service, behind a front that can change answers. */
export class ClientFile {
  declare world: Awaited<ReturnType<typeof startClientWorld>>;
  declare merchant: TestMerchant;
  declare driver: Driver;

  readonly #command: Command;

  constructor(command: Command) {
    this.#command = command;
  }

  async start(): Promise<void> {
    this.world = await startClientWorld();
  }

  async stop(): Promise<void> {
    this.driver?.end();
    await this.world.close();
  }

  /** A new merchant, with a client that has no token yet. */
  async begin(): Promise<void> {
    this.driver?.end();
    this.driver = startDriver(this.#command);
    this.merchant = await this.world.newMerchant();
    this.world.front.passed.length = 0;
    this.world.front.changeWith(() => null);
    await this.use(this.world.front.origin);
  }

  use(origin: string, options: object = {}): Promise<Outcome> {
    const { app_key, app_secret } = this.merchant;
    return this.driver.ask('client', `${origin}/api/v1/`, app_key, app_secret, options);
  }

  // biome-ignore lint/suspicious/noExplicitAny: it is an answer of the API as JSON
  async done(...request: unknown[]): Promise<any> {
    const { result, error } = await this.driver.ask(...request);
    expect(error, JSON.stringify(error)).to.equal(undefined);
    return result;
  }

  async failed(...request: unknown[]): Promise<Record<string, unknown>> {
    const { error, result } = await this.driver.ask(...request);
    expect(result, 'the result of what should fail').to.equal(undefined);
    return error!;
  }

  pay = (refNo: string, key: string | null = null) => [
    ...['post', INITIATE, this.world.collection(refNo), key],
  ];

  sentTo(path: string) {
    return this.world.front.passed.filter((each) => each.path === `/api/v1${path}`);
  }

  keysOf(path: string) {
    return this.sentTo(path).map(({ headers }) => headers.get('idempotency-key'));
  }

  answerFirst(path: string, ...answers: Answer[]): void {
    this.world.front.changeWith((passed) =>
      passed.path === `/api/v1${path}` ? (answers.shift() ?? null) : null,
    );
  }
}

const errorAnswer = (status: number, code: string, headers = {}, field?: string): Answer => ({
  ...{ status, headers: { 'content-type': 'application/json', ...headers } },
  body: JSON.stringify({ detail: 'Not now', code, field }),
});
const LOST: Answer = {
  ...{ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' },
};

function declareCalls(file: ClientFile): void {
  it('takes a payment, whose webhook it verifies, and reads it', async () => {
    const { id, status } = await file.done(...file.pay('paid-1'));
    expect(status).to.equal('pending');
    const [webhook] = await eventually('the webhook', async () => {
      const received = file.world.shop.webhooksFor('paid-1');
      return received.length > 0 && received;
    });
    const body = Buffer.from(webhook!.body).toString('base64');
    const event = await file.done('verify', body, webhook!.headers, file.merchant.app_secret);
    expect(event).to.include({ type: 'collection', event: 'transaction.completed' });
    expect(event.data).to.include({ id, ref_no: 'paid-1', amount: '100.00', result_code: 0 });
    const collection = await file.done('get', `/collections/checkouts/${id}`, {});
    expect(collection).to.include({ status: 'completed', net_amount: '98.50' });
    const answers: unknown[][] = await file.done('answers');
    expect(answers[1]!.slice(0, 3)).to.deep.equal(['POST', `/api/v1${INITIATE}`, 200]);
    expect(answers.map(([, , , requestId]) => requestId)).to.not.include(null);
  });

  it('walks through every page of a list, once', async () => {
    const refNos = ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'];
    for (const refNo of refNos) await file.done(...file.pay(refNo));
    const found = await file.done('paginate', '/collections/checkouts', { page_size: 2 });
    expect(found.map(({ ref_no }: { ref_no: string }) => ref_no)).to.deep.equal(refNos.reverse());
    expect(file.sentTo('/collections/checkouts')).to.have.length(3);
    const one = await file.done('paginate', '/collections/checkouts', { ref_no: 'page-3' });
    expect(one).to.have.length(1);
  });

  it('loses no filter of a list', async () => {
    await file.done(...file.pay('filter-1'));
    const list = ['/collections/checkouts'];
    // Kenya's time, to the microsecond.
    const inMinutes = (minutes: number) =>
      new Date(Date.now() + (3 * 60 + minutes) * 60_000).toISOString().replace('Z', '000+03:00');
    const later = await file.done('get with times', ...list, { date_from: inMinutes(1) });
    expect(later.results).to.deep.equal([]);
    const query = { date_from: inMinutes(-1), date_to: inMinutes(1) };
    expect((await file.done('get with times', ...list, query)).results).to.have.length(1);
    expect((await file.done('get', ...list, { status: null })).results).to.have.length(1);
    for (const value of [['completed'], { is: 'completed' }]) {
      const error = await file.failed('get', ...list, { status: value });
      expect(error.name).to.match(/^(ValueError|InvalidArgumentException)$/);
      expect(error.message).to.include('query parameter status');
    }
  });

  it('gets one token for all calls, and another one when it is refused', async () => {
    await file.done('get', '/channels', {});
    await file.done('get', '/channels', {});
    expect(file.sentTo('/auth/app/token')).to.have.length(1);
    file.answerFirst(INITIATE, errorAnswer(401, 'invalid_token', {}, 'Authorization'));
    await file.done(...file.pay('token-1'));
    expect(file.sentTo('/auth/app/token')).to.have.length(2);
    expect(new Set(file.keysOf(INITIATE)).size).to.equal(1);
  });

  it('pays once when the first answer is cut off', async () => {
    const proxy = await startTcpProxy(file.world.front.origin);
    await file.use(proxy.url.replace(/\/$/, ''));
    await file.done('get', '/channels', {});
    proxy.cutNextAnswer();
    const { id } = await file.done(...file.pay('cut-1'));
    await proxy.close();
    const keys = file.keysOf(INITIATE);
    expect(keys).to.have.length(2);
    expect(keys[0]).to.be.a('string').and.equal(keys[1]);
    await file.use(file.world.front.origin);
    const { results } = await file.done('get', '/collections/checkouts', {});
    expect(results.map((each: { id: string }) => each.id)).to.deep.equal([id]);
    await expectRightBooks(file.world.service.database);
  });

  it('has a new key for each payment, or the caller’s own', async () => {
    const first = await file.done(...file.pay('key-1', 'order-77'));
    expect(await file.done(...file.pay('key-1', 'order-77'))).to.deep.equal(first);
    await file.done(...file.pay('key-2'));
    await file.done(...file.pay('key-3'));
    const keys = file.keysOf(INITIATE);
    expect(keys.slice(0, 2)).to.deep.equal(['order-77', 'order-77']);
    expect(new Set(keys).size).to.equal(3);
  });

  it('sends a key where the document knows one, and nowhere else', async () => {
    const operations = Object.entries(openApiDocument('').paths).flatMap(([path, { post }]) =>
      post ? [{ path: path.replace(/\{.*?\}/g, 'x'), post }] : [],
    );
    const [expected, sent]: string[][] = [[], []];
    file.world.front.changeWith(({ path }) =>
      path.endsWith('/auth/app/token') ? null : errorAnswer(400, 'invalid_request'),
    );
    await file.failed('get', '/channels', {});
    for (const { path, post } of operations) {
      if (path === '/auth/app/token') continue;
      if (JSON.stringify(post).includes('Idempotency-Key')) expected!.push(path);
      await file.failed('post', path, {}, null);
      if (file.keysOf(path).at(-1)) sent!.push(path);
    }
    expect(sent).to.deep.equal(expected).and.have.length.above(5);
  });
}

function declareErrors(file: ClientFile): void {
  for (const [what, answer] of [
    ['is away', errorAnswer(503, 'unavailable')],
    ['is behind a proxy that lost it', LOST],
    ['wants fewer requests', errorAnswer(429, 'rate_limited', { 'retry-after': '0' })],
    ['is still at it', errorAnswer(409, 'idempotency_key_running')],
  ] as const) {
    it(`sends a payment again under its key when the service ${what}`, async () => {
      file.answerFirst(INITIATE, answer);
      expect((await file.done(...file.pay('again-1'))).ref_no).to.equal('again-1');
      expect(file.keysOf(INITIATE)).to.have.length(2);
      expect(new Set(file.keysOf(INITIATE)).size).to.equal(1);
    });
  }

  it('does not count an answer that only wants fewer requests as a try', async () => {
    const fewer = errorAnswer(429, 'rate_limited', { 'retry-after': '0' });
    file.answerFirst(INITIATE, ...Array(5).fill(fewer));
    expect((await file.done(...file.pay('fewer-1'))).ref_no).to.equal('fewer-1');
    expect(new Set(file.keysOf(INITIATE)).size).to.equal(1);
  });

  it('sends nothing again where that is not safe', async () => {
    file.answerFirst('/auth/logout', errorAnswer(503, 'unavailable'));
    const error = await file.failed('post', '/auth/logout', {}, 'mine');
    expect(error).to.include({ status: 503, code: 'unavailable', idempotency_key: null });
    expect(file.keysOf('/auth/logout')).to.deep.equal([null]);
  });

  it('says what is wrong, and which request it was', async () => {
    const body = { ...file.world.collection('wrong-1'), amount: '1' };
    const error = await file.failed('post', INITIATE, body, null);
    expect(error).to.include({ name: 'MalipoError', status: 400, code: 'invalid_amount' });
    expect(error).to.include({ field: 'amount', detail: 'Invalid amount', may_be_done: false });
    expect(error.message).to.match(/^Invalid amount \(400, invalid_amount, amount, .+\)$/);
    expect(error.request_id).to.be.a('string').and.not.equal('');
  });

  it('says that a payment may be done, when only a later try was refused', async () => {
    const refusal = errorAnswer(429, 'rate_limited', { 'retry-after': '60' });
    file.answerFirst(INITIATE, LOST, refusal);
    const error = await file.failed(...file.pay('lost-1'));
    expect(error).to.include({ status: 429, code: 'rate_limited', may_be_done: true });
    expect(error.message).to.include('rate_limited, may be done');
    expect(new Set([...file.keysOf(INITIATE), error.idempotency_key]).size).to.equal(1);
  });

  it('says so too when the log-in after a lost try is refused', async () => {
    await file.done('get', '/channels', {});
    const answers = [LOST, errorAnswer(401, 'token_revoked', {}, 'Authorization')];
    file.world.front.changeWith(({ path }) => {
      if (path.endsWith('/auth/app/token')) return errorAnswer(401, 'invalid_app_credentials');
      return path.endsWith(INITIATE) ? (answers.shift() ?? null) : null;
    });
    const error = await file.failed(...file.pay('lost-2'));
    expect(error).to.include({ code: 'invalid_app_credentials', may_be_done: true });
    expect(new Set([...file.keysOf(INITIATE), error.idempotency_key]).size).to.equal(1);
  });

  it('says so when no answer came, or one that is not the service’s', async () => {
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: 'Hi' };
    file.answerFirst('/channels', page);
    const unreadable = await file.failed('get', '/channels', {});
    expect(unreadable).to.include({ status: 200, code: 'unreadable_answer' });
    const elsewhere = { status: 307, headers: { location: '/elsewhere' }, body: '' };
    file.answerFirst('/auth/logout', elsewhere);
    const moved = await file.failed('post', '/auth/logout', {}, null);
    expect(moved).to.include({ status: 307, code: 'unreadable_answer', may_be_done: true });
    const proxy = await startTcpProxy(file.world.front.origin);
    await file.use(proxy.url.replace(/\/$/, ''));
    await file.done('get', '/channels', {});
    proxy.cutNextAnswer();
    const unanswered = await file.failed('post', '/auth/logout', {}, null);
    await proxy.close();
    expect(unanswered).to.include({ status: 0, code: 'no_answer', may_be_done: true });
    const host = new URL(proxy.url).host;
    expect(unanswered.detail).to.include(`POST /api/v1/auth/logout from ${host}: `);
    const refused = await file.failed('post', '/auth/logout', {}, null);
    expect(refused.detail).to.match(/: .*(refused|connect)/i);
  });

  it('waits for an answer as long as it was told to', async () => {
    await file.use(file.world.front.origin, { timeout: 0.2 });
    await file.done('get', '/channels', {});
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    file.world.front.changeWith(async ({ path }) => {
      if (path.endsWith('/auth/logout')) await held;
      return null;
    });
    const error = await file.failed('post', '/auth/logout', {}, null);
    release();
    expect(error).to.include({ status: 0, code: 'no_answer' });
  });
}

function declareWebhooks(file: ClientFile): void {
  const signed = (secrets: string[], { body = JSON.stringify(EVENT), ageS = 0 } = {}) => {
    const timestamp = Math.floor(Date.now() / 1_000) - ageS;
    const headers = signatureHeaders({
      event_id: 'event-1',
      sequence: 7,
      timestamp,
      body,
      secrets,
    });
    return { body: Buffer.from(body).toString('base64'), headers };
  };
  const verified = async (
    { body, headers }: ReturnType<typeof signed>,
    secrets: string | string[],
  ) => {
    const { result, error } = await file.driver.ask('verify', body, headers, secrets);
    return result ?? error!.name;
  };
  const event = { id: 'event-1', sequence: 7, ...EVENT.notification, data: EVENT.data };

  it('verifies webhooks by each secret, also while secrets overlap', async () => {
    for (const secret of [SECRET, NEW_SECRET]) {
      expect(await verified(signed([secret]), secret)).to.deep.equal(event);
    }
    const overlap = signed([NEW_SECRET, SECRET]);
    for (const secrets of [SECRET, NEW_SECRET, [SECRET, NEW_SECRET]]) {
      expect(await verified(overlap, secrets)).to.deep.equal(event);
    }
  });

  it('refuses webhooks that are forged, old, changed or no events', async () => {
    const good = signed([SECRET]);
    const { 'webhook-id': _, ...nameless } = good.headers as Record<string, string>;
    const refused = [
      signed(['as_other']),
      signed([SECRET], { ageS: 301 }),
      signed([SECRET], { body: 'hello' }),
      signed([SECRET], { body: '[]' }),
      { ...good, body: Buffer.from('{}').toString('base64') },
      { ...good, headers: nameless },
      { ...good, headers: { ...good.headers, 'webhook-id': 'event-2' } },
      { ...good, headers: { ...good.headers, 'x-service-signature': '0'.repeat(64) } },
      { ...good, headers: { ...good.headers, 'webhook-timestamp': '1' } },
    ] as ReturnType<typeof signed>[];
    for (const each of refused) {
      expect(await verified(each, SECRET)).to.equal('WebhookVerificationError');
    }
    for (const none of ['', [], [SECRET, ''], 'whsec_']) {
      expect(await verified(good, none)).to.match(/^(ValueError|InvalidArgumentException)$/);
    }
  });
}

function declareSample(file: ClientFile, [program, driver]: Command): void {
  it('pays with the program of its README', async () => {
    const folder = dirname(dirname(driver));
    const clientFile = program === 'php' ? 'Malipo.php' : 'malipo.py';
    const cwd = makeFolder(basename(folder));
    cpSync(join(folder, clientFile), join(cwd, clientFile));
    const sample = samplesOf(join('clients', basename(folder), 'README.md')).payment;
    writeFileSync(join(cwd, 'first-payment'), sample!);
    const { app_key: APP_KEY, app_secret: APP_SECRET } = file.merchant;
    const env = { BASE_URL: file.world.service.baseUrl, APP_KEY, APP_SECRET };
    const printed = await output(program, ['first-payment'], { cwd, env });
    expect(printed).to.match(/^\w+-1 completed 246\.25\n$/);
  });
}
