import { Writable } from 'node:stream';
import { expect } from 'chai';
import winston from 'winston';
import { callbackUrl } from '../../../src/gateways/callback-address.ts';
import { DEVELOPMENT_KEYS, keyRingFromText } from '../../../src/process/key-ring.ts';
import { createLogger, type LogFields, type Logger } from '../../../src/process/logger.ts';

const PHONE = '+254712345678';
const MASKED = '+254******678';

/** A logger as every process has it, and the lines that it writes. */
function capture(
  level = 'info',
  samplePercent?: number,
): { logger: Logger; text: () => string; lines: () => Line[] } {
  const chunks: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk));
      done();
    },
  });
  const logger = createLogger(level, 'web', samplePercent);
  logger.clear().add(new winston.transports.Stream({ stream }));
  const text = () => chunks.join('');
  return {
    logger,
    text,
    lines: () =>
      text()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

type Line = Record<string, unknown>;

describe('A log line', () => {
  it('is one line of JSON with time, level, process and message', () => {
    const { logger, text, lines } = capture();
    logger.info('two\nlines', { count: 2 });
    expect(text().match(/\n/g)).to.have.length(1);
    const [line] = lines();
    expect(line).to.include({ level: 'info', process: 'web', message: 'two\nlines', count: 2 });
    expect(new Date(String(line!.timestamp)).toISOString()).to.equal(line!.timestamp);
  });

  it('is written from its level on', () => {
    const { logger, lines } = capture('warn');
    logger.info('unimportant');
    logger.warn('important');
    expect(lines().map(({ message }) => message)).to.deep.equal(['important']);
  });

  it('is written of some payments alone when it is a usual one, and then all of them', () => {
    const { logger, lines } = capture('info', 25);
    for (let number = 0; number < 1_000; number += 1) {
      const payment = logger.child({ payment_id: `payment-${number}` });
      payment.info('submitted', { outcome: 'acknowledged' });
      payment.info('webhook attempted', { result: 'delivered' });
    }
    const written = lines().map(({ payment_id }) => payment_id);
    expect(new Set(written).size * 2).to.equal(written.length);
    expect(written.length).to.be.within(400, 600);
  });

  it('is written of every payment when something went wrong, or only once in a while', () => {
    const { logger, lines } = capture('info', 0);
    logger.info('request', { request_id: 'one', status: 201 });
    logger.info('request', { request_id: 'one', status: 503 });
    logger.info('request', { request_id: 'one', status: 200, aborted: true });
    logger.info('submitted', { payment_id: 'one', outcome: 'unknown' });
    logger.info('callback processed', { payment_id: 'one', settlement: 'discrepancy' });
    logger.info('webhook attempted', { payment_id: 'one', result: 'retry' });
    logger.info('ready');
    logger.warn('submitted', { payment_id: 'one', outcome: 'acknowledged' });
    expect(lines().map(({ message, status }) => status ?? message)).to.deep.equal([
      ...[503, 200, 'submitted', 'callback processed', 'webhook attempted', 'ready', 'submitted'],
    ]);
  });

  const PHONES: Readonly<Record<string, unknown>> = {
    'a field': PHONE,
    'a text': `the payer ${PHONE} did not answer`,
    'a nested object': { payment: { payer: { phone: PHONE } } },
    'a list': [[PHONE], { phone: PHONE }],
    'a query': `payfrom=${PHONE}&x=1`,
    'JSON in a text': JSON.stringify({ payfrom: PHONE }),
    'an error’s stack': `Error: ${PHONE} is wrong\n    at x.ts:1`,
    'the form without plus': '254712345678',
    'an encoded query': `payfrom=${encodeURIComponent(PHONE)}`,
  };
  for (const [where, value] of Object.entries(PHONES)) {
    it(`masks phones in ${where}`, () => {
      const { logger, text } = capture();
      logger.info('x', { value });
      expect(text()).to.not.include('712345678');
      expect(text()).to.include('254******678');
    });
  }

  it('shows no phone and no secret however deeply it is nested', () => {
    const { logger, text } = capture();
    let value: unknown = { phone: PHONE, secret: 'hush' };
    for (let depth = 0; depth < 20; depth += 1) value = depth % 2 === 0 ? { value } : [value];
    logger.info('x', { value });
    expect(text()).to.not.include('712345678').and.not.include('hush');
  });

  it('masks phones in its message', () => {
    const { logger, lines } = capture();
    logger.info(`prompted ${PHONE}`);
    expect(lines()[0]!.message).to.equal(`prompted ${MASKED}`);
  });

  it('leaves ids, amounts and times as they are', () => {
    const { logger, lines } = capture();
    const fields = {
      payment_id: '019aa0f4-2547-7123-8456-789012345678',
      amount_cents: 254_712_345,
      at: '2026-11-20T10:00:00.000Z',
    };
    logger.info('x', fields);
    expect(lines()[0]).to.include(fields);
  });

  for (const name of [
    'secret',
    'app_secret',
    'app_secret',
    'SECRETS_KEY',
    'password',
    'Authorization',
    'access',
    'refresh',
    'token',
    'app_key',
  ]) {
    it(`leaves out the value of a field named ${name}, nested or not`, () => {
      const { logger, text } = capture();
      logger.info('x', {
        [name]: 'hush1',
        body: { [name]: { deep: 'hush2' } },
        list: [{ [name]: 'hush3' }],
      });
      expect(text()).to.not.include('hush');
      expect(text()).to.include(name);
    });
  }

  it('leaves out user and password of an address', () => {
    const { logger, text } = capture();
    logger.info('cannot reach postgres://malipo:hush@db/x', { url: 'redis://:hush@cache:6379' });
    expect(text()).to.not.include('hush');
    expect(text()).to.include('@cache:6379');
  });

  describe('about a gateway’s callback', () => {
    const target = { kind: 'collection', merchant_id: 1001, id: crypto.randomUUID() } as const;
    const keys = keyRingFromText(DEVELOPMENT_KEYS);
    const url = callbackUrl('https://pay.example', keys, 'simulator', target);
    const proof = url.split('~').at(-1)!;
    const token = url.split('/').at(-1)!;
    const WRITTEN = {
      'as it is': url,
      'with a query': `${url}?a=1`,
      'in the middle of a text': `POST ${url} failed`,
      'with its tildes encoded': url.replaceAll('~', '%7E'),
      'with another letter encoded': url.replace('result', '%72esult'),
    };
    for (const [how, text] of Object.entries(WRITTEN)) {
      it(`never contains the address’s proof, written ${how}`, () => {
        const captured = capture();
        captured.logger.info('request', { path: text, nested: [{ text }] });
        expect(captured.text()).to.not.include(proof);
        expect(captured.text()).to.not.include(token);
        expect(captured.text()).to.include('/gateway/callbacks/simulator/***');
      });
    }
  });

  it('changes nothing of what it was given to log', () => {
    const { logger } = capture();
    const payment = Object.freeze({ payfrom: PHONE, keys: Object.freeze({ secret: 'mine' }) });
    const given = { payment: { ...payment }, frozen: payment };
    logger.info('x', given);
    expect(given).to.deep.equal({
      payment: { payfrom: PHONE, keys: { secret: 'mine' } },
      frozen: { payfrom: PHONE, keys: { secret: 'mine' } },
    });
  });
});

describe('The log of a job', () => {
  it('has the fields of the job on each of its lines, also what is added later', () => {
    const { logger, lines } = capture();
    const fields: LogFields = { job_id: 'j1' };
    const own = logger.child(fields);
    own.info('at first', { count: 1 });
    fields.payment_id = 'p1';
    own.info('later');
    logger.info('another');
    const seen = lines().map(({ message, job_id, payment_id }) => [message, job_id, payment_id]);
    expect(seen).to.deep.equal([
      ['at first', 'j1', undefined],
      ['later', 'j1', 'p1'],
      ['another', undefined, undefined],
    ]);
  });

  it('masks them like all others', () => {
    const { logger, text } = capture();
    logger.child({ job_id: PHONE }).info('x');
    expect(text()).to.include(MASKED);
    expect(text()).to.not.include(PHONE);
  });
});
