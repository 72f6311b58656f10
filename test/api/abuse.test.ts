import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { collectionBody, expectRefusal, request, useService } from '../support/world.ts';

const INITIATE = '/collections/checkouts/initiate';
const TEN_MB = 10_000_000;
/** More than the database has connections for. */
const SLOW_CALLERS = 60;

describe('Under abuse', () => {
  const service = useService({ merchant: 'all' });

  afterEach(async () => {
    expect((await request('GET', `${service.origin}/readyz`)).status).to.equal(200);
    expect((await service.client.initiate()).status).to.equal(200);
  });

  async function open(): Promise<Socket> {
    const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  const head = (length: number, access = service.merchant.access) =>
    `POST /api/v1${INITIATE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
    `Authorization: Bearer ${access}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  /** Sends bytes as they are, and reads the status and the body of the answer. */
  async function exchange(bytes: Buffer | string): Promise<[status: number, body: string]> {
    const socket = await open();
    const answer = text(socket);
    socket.write(bytes);
    const [first = '', body = ''] = (await answer).split('\r\n\r\n');
    return [Number(first.split(' ')[1]), body];
  }

  const bodyOf = (bytes: Buffer) =>
    exchange(Buffer.concat([Buffer.from(head(bytes.length)), bytes]));

  it('a body of 10 MB is refused, and a stranger’s is not even read', async () => {
    const body = JSON.stringify({ filler: 'x'.repeat(TEN_MB) });
    expectRefusal(await service.client.post(INITIATE, body), 413, 'Request body is too large');
    const stranger = service.clientOf({ access: 'wrong' });
    expectRefusal(await stranger.post(INITIATE, body), 401, 'Invalid or expired token');
    const credentials = await stranger.post('/auth/app/token', body);
    expectRefusal(credentials, 413, 'Request body is too large');
  });

  it('callers who send their bodies slowly keep nobody waiting', async () => {
    const before = await service.countOf('collections');
    const body = JSON.stringify(collectionBody());
    const slow = await Promise.all(Array.from({ length: SLOW_CALLERS }, open));
    for (const socket of slow) socket.write(head(body.length) + body.slice(0, 1));
    for (let at = 1; at < 6; at += 1) {
      for (const socket of slow) socket.write(body[at]!);
      expect((await service.client.initiate()).status).to.equal(200);
    }
    const patient = slow.shift()!;
    const answer = text(patient);
    for (const socket of slow) socket.destroy();
    patient.write(body.slice(6));
    expect(await answer).to.match(/^HTTP\/1\.1 200 /);
    // Five that were served meanwhile, and the patient one; of those who left, nothing.
    expect((await service.countOf('collections')) - before).to.equal(6);
  });

  const BYTES: [what: string, bytes: Buffer, detail: string][] = [
    ['a byte that is no UTF-8', Buffer.from('{"payfrom":"\xff"}', 'latin1'), 'JSON parse error'],
    [
      'a character that is cut',
      Buffer.from('{"payfrom":"\xe2\x82"}', 'latin1'),
      'JSON parse error',
    ],
    ['a surrogate in UTF-8', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'), 'JSON parse error'],
    ['an overlong slash', Buffer.from('{"a":"\xc0\xaf"}', 'latin1'), 'JSON parse error'],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), 'JSON parse error'],
    ['lists in lists', Buffer.from('['.repeat(60_000)), 'JSON parse error'],
    [
      'lists in lists that end',
      Buffer.from('['.repeat(30_000) + ']'.repeat(30_000)),
      'Invalid request',
    ],
    [
      'a number beyond all bounds',
      Buffer.from(`{"amount":1${'0'.repeat(60_000)}}`),
      'payfrom field is required',
    ],
    [
      'fields of a prototype',
      Buffer.from('{"__proto__":{"payfrom":"x"}}'),
      'payfrom field is required',
    ],
    [
      'an amount twice',
      Buffer.from('{"payfrom":"x","amount":"1.00","amount":"2.00"}'),
      'JSON parse error',
    ],
    ['a name twice, spelt out', Buffer.from('{"a":1,"\\u0061" :2}'), 'JSON parse error'],
    ['a name twice inside', Buffer.from('{"b":[{"a":"\\"","a":2}]}'), 'JSON parse error'],
    [
      'one name in several objects, and in texts',
      Buffer.from('{"a":{"b":[{"a":"a: {"}]},"b":{"a":"a"}}'),
      'payfrom field is required',
    ],
    [
      'very many fields',
      Buffer.from(
        JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [at, 1]))),
      ),
      'payfrom field is required',
    ],
  ];
  for (const [what, bytes, detail] of BYTES) {
    it(`a body of ${what} is refused`, async () => {
      const [status, answer] = await bodyOf(bytes);
      expectRefusal({ status, body: JSON.parse(answer) }, 400, detail);
    });
  }

  it('a thousand parameters and those of a prototype are refused by name, as a known one is', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `p${at}=1`).join('&');
    for (const [query, name] of [
      [many, 'p0'],
      ['__proto__=1&__proto__[x]=1&constructor=1', '__proto__'],
      ['page[__proto__]=1', 'page[__proto__]'],
    ]) {
      const answer = await service.client.get(`/collections/checkouts?${query}`);
      expectRefusal(answer, 400, `Invalid query parameter: ${name}`);
    }
    const pages = Array.from({ length: 1_000 }, () => 'page=1').join('&');
    const answer = await service.client.get(`/collections/checkouts?${pages}`);
    expectRefusal(answer, 400, 'Invalid query parameter: page');
    expect(({} as Record<string, unknown>).x).to.equal(undefined);
  });

  const BROKEN: [what: string, bytes: string | (() => string), status: number][] = [
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['two hosts', () => `${head(2).replace('Host', 'HOST: other.example\r\nHost')}{}`, 400],
    ['two lengths', () => `${head(2).replace('Host', 'Content-Length: 3\r\nHost')}{}`, 400],
    [
      'a length and chunks',
      () => `${head(2).replace('Host', 'Transfer-Encoding: chunked\r\nHost')}0\r\n\r\n`,
      400,
    ],
    ['a length below zero', () => head(-1), 400],
  ];
  for (const [what, bytes, expected] of BROKEN) {
    it(`${what} is refused`, async () => {
      const [status] = await exchange(typeof bytes === 'string' ? bytes : bytes());
      expect(status).to.equal(expected);
    });
  }
});
