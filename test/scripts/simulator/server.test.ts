import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Simulator, startSimulator } from '../../../scripts/simulator/server.ts';
import { MINUTE_MS } from '../../../src/time.ts';
import {
  closedPortUrl,
  eventually,
  startCallbackReceiver,
  startLocalServer,
} from '../../support/gateway-fixtures.ts';

const SLOW_ANSWER_MS = 300;

describe('simulator server', () => {
  const logged: string[] = [];
  let simulator: Simulator;

  before(async () => {
    const log = (line: string) => void logged.push(line);
    simulator = await startSimulator({ port: 0, delayMs: 0, slowAnswerMs: SLOW_ANSWER_MS, log });
  });
  after(() => simulator.close());
  afterEach(() => call('POST', '/faults', { for_ms: 0 }));

  async function call<T = Record<string, unknown>>(method: string, path: string, body?: unknown) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${simulator.url}${path}`, { method, headers, body: text });
    return { status: response.status, body: (await response.json()) as T };
  }

  const aPayment = (fields: object = {}) => ({
    reference: randomUUID(),
    account: '+254700000000',
    amount: '100.00',
    callback_url: 'http://127.0.0.1:9/token',
    ...fields,
  });
  const statementOf = async (reference: string) =>
    (await call<{ reference: string }[]>('GET', `/statement?reference=${reference}`)).body;
  const isKnown = async (reference: string) =>
    (await call('GET', `/payments/${reference}`)).status === 200;

  it('refuses a submission that is not well formed', async () => {
    for (const [field, value] of [
      ['reference', undefined],
      ['reference', ''],
      ['reference', 'a/b'],
      ['account', null],
      ['account', '+254 700'],
      ['amount', 100],
      ['amount', '100'],
      ['amount', '0.00'],
      ['callback_url', 'ftp://127.0.0.1/'],
      ['callback_url', 'nowhere'],
      ['account_number', 7],
      ['original_trans_id', ''],
    ]) {
      const answer = await call('POST', '/collections', aPayment({ [field as string]: value }));
      expect(answer).to.deep.equal({ status: 400, body: { detail: `Invalid ${field}` } });
    }
    for (const body of ['{', '"text"', '[]', undefined]) {
      const answer = await call('POST', '/returns', body);
      expect(answer.status, body).to.equal(400);
      expect(answer.body.detail).to.be.a('string');
    }
  });

  it('refuses a reference that another kind of payment has', async () => {
    const payment = aPayment();
    expect((await call('POST', '/collections', payment)).status).to.equal(202);
    expect((await call('POST', '/returns', payment)).status).to.equal(409);
  });

  it('gives a repeat the first answer, whatever else it says', async () => {
    const payment = aPayment();
    const first = await call('POST', '/collections', payment);
    const second = await call('POST', '/collections', { ...payment, amount: '7.00' });
    expect(second).to.deep.equal(first);
    expect((await call('GET', `/payments/${payment.reference}`)).body.amount).to.equal('100.00');
  });

  it('answers an unknown path, a health check and a bad filter', async () => {
    expect(await call('GET', '/nowhere')).to.deep.equal({
      status: 404,
      body: { detail: 'Not found' },
    });
    expect((await call('GET', '/health')).status).to.equal(200);
    expect((await call('GET', '/statement?reference=a&reference=b')).status).to.equal(400);
    expect((await call('GET', '/statement?reference=never')).body).to.deep.equal([]);
  });

  it('lists every movement in the order in which they were made', async () => {
    const references = [aPayment(), aPayment(), aPayment()].map((each) => each.reference);
    for (const reference of references) {
      await call('POST', '/collections', aPayment({ reference }));
      await eventually(async () => (await statementOf(reference)).length > 0);
    }
    const { body: all } = await call<{ reference: string }[]>('GET', '/statement');
    expect(all.slice(-references.length).map((each) => each.reference)).to.deep.equal(references);
  });

  it('posts a callback once even if it fails, and logs no address', async () => {
    let requests = 0;
    const failing = await startLocalServer((_req, res) => {
      requests += 1;
      res.writeHead(500).end();
    });
    const receiver = await startCallbackReceiver();
    const [lost, refused, next] = [aPayment(), aPayment(), aPayment()];
    await call('POST', '/collections', { ...lost, callback_url: `${failing.url}/token` });
    await call('POST', '/collections', {
      ...refused,
      callback_url: `${await closedPortUrl()}/token`,
    });
    await eventually(() => logged.some((line) => line.includes(lost.reference)));
    await eventually(() => logged.some((line) => line.includes(refused.reference)));
    await call('POST', '/collections', { ...next, callback_url: receiver.urlFor(next.reference) });
    await eventually(() => receiver.bodiesOf(next.reference)[0]);
    expect(requests).to.equal(1);
    expect(logged.join('\n')).to.not.contain('token');
    await Promise.all([failing.close(), receiver.close()]);
  });

  describe('faults', () => {
    const fault = (body: unknown) => call('POST', '/faults', body);
    const cut = (answer: Promise<unknown>) =>
      answer.then(
        () => false,
        () => true,
      );

    it('outage: cuts every payment endpoint and processes nothing', async () => {
      const answer = await fault({ mode: 'outage', for_ms: MINUTE_MS });
      expect(answer.body).to.include({ mode: 'outage', rate: 1 });
      expect(answer.body.for_ms).to.be.within(1, MINUTE_MS);
      const payment = aPayment();
      expect(await cut(call('POST', '/collections', payment))).to.equal(true);
      expect(await cut(call('POST', '/returns', payment))).to.equal(true);
      expect(await cut(call('GET', `/payments/${payment.reference}`))).to.equal(true);
      expect((await call('GET', '/statement')).status).to.equal(200);
      expect((await call('GET', '/health')).status).to.equal(200);
      const ended = await fault({ for_ms: 0 });
      expect(ended).to.deep.equal({ status: 200, body: { mode: null, rate: 0, for_ms: 0 } });
      expect(await isKnown(payment.reference)).to.equal(false);
    });

    it('errors: answers 500 and processes nothing; a new fault replaces the old', async () => {
      await fault({ mode: 'outage', for_ms: MINUTE_MS });
      await fault({ mode: 'errors', for_ms: MINUTE_MS });
      const payment = aPayment();
      expect((await call('POST', '/collections', payment)).status).to.equal(500);
      expect((await call('GET', `/payments/${payment.reference}`)).status).to.equal(500);
      await fault({ for_ms: 0 });
      expect(await isKnown(payment.reference)).to.equal(false);
    });

    it('slow: takes a payment at once and answers after everyone else', async () => {
      const payment = aPayment();
      const events: string[] = [];
      await fault({ mode: 'slow', for_ms: MINUTE_MS });
      const slow = call('POST', '/collections', payment).then((answer) => {
        events.push('answered');
        return answer;
      });
      await eventually(async () => (await statementOf(payment.reference))[0]);
      events.push('moved');
      expect((await slow).status).to.equal(202);
      expect(events).to.deep.equal(['moved', 'answered']);
    });

    it('hits none at rate 0, and some and not all in between', async () => {
      await fault({ mode: 'errors', rate: 0, for_ms: MINUTE_MS });
      expect((await call('GET', '/payments/x')).status).to.equal(404);
      await fault({ mode: 'errors', rate: 0.5, for_ms: MINUTE_MS });
      const statuses = new Set<number>();
      await eventually(
        async () => statuses.add((await call('GET', '/payments/x')).status).size === 2,
      );
      expect([...statuses].sort()).to.deep.equal([404, 500]);
    });

    it('ends by itself', async () => {
      await fault({ mode: 'errors', for_ms: 50 });
      await eventually(async () => (await call('GET', '/payments/x')).status === 404);
    });

    it('refuses what it does not understand and leaves the fault as it is', async () => {
      await fault({ mode: 'errors', for_ms: MINUTE_MS });
      for (const body of [
        {},
        [],
        { mode: 'errors' },
        { mode: 'fire', for_ms: 1 },
        { mode: 'fire', for_ms: 0 },
        { for_ms: 1 },
        { mode: 'slow', for_ms: -1 },
        { mode: 'slow', for_ms: '1' },
        { mode: 'slow', for_ms: 0.5 },
        { mode: 'slow', for_ms: 1, rate: 1.1 },
        { mode: 'slow', for_ms: 1, rate: '1' },
      ]) {
        const answer = await fault(body);
        expect(answer.status, JSON.stringify(body)).to.equal(400);
        expect(answer.body.detail).to.match(/^Invalid /);
      }
      expect((await call('GET', '/payments/x')).status).to.equal(500);
    });
  });
});
