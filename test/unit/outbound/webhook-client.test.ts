import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { AttemptOutcome } from '../../../src/domain/webhooks/delivery.ts';
import { postWebhook } from '../../../src/outbound/webhook-client.ts';
import { networksFromText } from '../../../src/process/networks.ts';
import { eventually } from '../../support/eventually.ts';
import { bodyOf, startLocalServer } from '../../support/gateway-fixtures.ts';

/** A receiver of these tests may be anywhere. */
const ANYWHERE = { allowPrivate: true, blocked: [], ports: null };
const NO_PUBLIC_ADDRESS = 'The host leads to no public address';
const BODY = '{"name":"Wanjikũ 🎉"}';

type Answer = (res: ServerResponse) => void;

interface Receiver {
  port: string;
  requests: { method: string; url: string; body: string; headers: Record<string, unknown> }[];
  close(): Promise<void>;
}

/** Answers as told, once the whole request has come. */
async function receiverThat(answer: Answer): Promise<Receiver> {
  const requests: Receiver['requests'] = [];
  const server = await startLocalServer(async (req, res) => {
    const body = await bodyOf(req);
    requests.push({ method: req.method!, url: req.url!, body, headers: req.headers });
    answer(res);
  });
  return { port: new URL(server.url).port, requests, close: server.close };
}

/** Stands for the DNS: every name has this address. */
const leadTo = (address: string) => async () => [{ address, family: 4 }];

/** One POST to a receiver of its own. */
async function postTo(answer: Answer, timeoutMs = 2_000): Promise<[AttemptOutcome, Receiver]> {
  const receiver = await receiverThat(answer);
  try {
    const url = `http://127.0.0.1:${receiver.port}/hook?a=1`;
    const options = { ...ANYWHERE, timeoutMs };
    return [await postWebhook(url, BODY, { 'webhook-id': 'w1' }, options), receiver];
  } finally {
    await receiver.close();
  }
}

describe('Posting a webhook', () => {
  it('sends the body as it is, once, with the headers given', async () => {
    const [outcome, { requests }] = await postTo((res) => void res.writeHead(204).end());
    expect(outcome).to.include({ status: 204, error: null, timedOut: false });
    expect(outcome).to.include({ retryAfterMs: null, answer: '' });
    expect(outcome.durationMs).to.be.greaterThan(0);
    expect(requests).to.have.length(1);
    expect(requests[0]).to.include({ method: 'POST', url: '/hook?a=1', body: BODY });
    expect(requests[0]!.headers).to.include({
      'webhook-id': 'w1',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(BODY)),
    });
  });

  for (const status of [200, 299, 400, 404, 410, 429, 500, 503]) {
    it(`gives the status ${status} as it came, and does not try again`, async () => {
      const [outcome, { requests }] = await postTo((res) => void res.writeHead(status).end('{}'));
      expect(outcome).to.include({ status, error: null, answer: '{}' });
      expect(requests).to.have.length(1);
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`does not follow a redirect with ${status}`, async () => {
      const [outcome, { requests }] = await postTo(
        (res) => void res.writeHead(status, { location: '/elsewhere' }).end(),
      );
      expect(outcome).to.include({ status, error: null });
      expect(requests.map(({ url }) => url)).to.deep.equal(['/hook?a=1']);
    });
  }

  it('ends at its timeout with a receiver that does not answer', async () => {
    const [outcome] = await postTo(() => {}, 150);
    expect(outcome).to.include({ status: null, timedOut: true, answer: null });
    expect(outcome.error).to.equal('timeout: no answer within 150 ms');
  });

  it('takes an answer that came in time, though the process slept until its timeout', async () => {
    const [outcome] = await postTo((res) => {
      res.writeHead(200).end('taken');
      const wakesAt = Date.now() + 300;
      while (Date.now() < wakesAt);
    }, 150);
    expect(outcome).to.include({ status: 200, error: null, timedOut: false });
  });

  it('does not take a broken connection for a timeout', async () => {
    const [outcome] = await postTo((res) => void res.socket!.destroy());
    expect(outcome).to.include({ status: null, timedOut: false, answer: null });
    expect(outcome.error).to.equal('socket hang up');
  });

  it('takes the status that is known at its timeout, though the body goes on', async () => {
    const [outcome, { requests }] = await postTo((res) => {
      res.writeHead(200);
      const timer = setInterval(() => res.write('x'), 20);
      res.once('close', () => clearInterval(timer));
    }, 300);
    expect(outcome).to.include({ status: 200, error: null, timedOut: false });
    expect(requests).to.have.length(1);
  });

  it('is done when the part of the body that is kept has come, and when nothing more comes', async () => {
    let ended = 0;
    const neverEnd = (text: string) => (res: ServerResponse) => {
      res.once('close', () => {
        ended += 1;
      });
      res.writeHead(200).write(text);
    };
    const patience = { ...ANYWHERE, timeoutMs: 60_000 };
    for (const [text, endedAtOnce] of [
      ['x'.repeat(1_024), 0],
      ['few words', 1],
    ] as const) {
      const receiver = await receiverThat(neverEnd(text));
      const url = `http://127.0.0.1:${receiver.port}/hook`;
      expect(await postWebhook(url, BODY, {}, patience)).to.include({ status: 200, answer: text });
      expect(ended).to.be.at.most(endedAtOnce);
      await eventually('the connection is closed', async () => ended === 1);
      await receiver.close();
      ended = 0;
    }
  });
});

describe('The answer to a webhook', () => {
  const answerTo = async (...parts: (string | Buffer)[]) => {
    const [{ answer }] = await postTo((res) => {
      res.writeHead(200);
      for (const part of parts) res.write(part);
      res.end();
    });
    return answer;
  };
  const EURO = Buffer.from('€');

  it('is kept from its beginning to the end of a character', async () => {
    const long = 'x'.repeat(1_023);
    expect(await answerTo('ok')).to.equal('ok');
    expect(await answerTo(long, 'y')).to.equal(`${long}y`);
    expect(await answerTo(long, 'yz')).to.equal(`${long}y`);
    expect(await answerTo(long, EURO)).to.equal(long);
    expect(await answerTo('a', EURO.subarray(0, 2), EURO.subarray(2))).to.equal('a€');
    expect(await answerTo('🎉'.repeat(300))).to.equal('🎉'.repeat(256));
  });

  it('can be stored, whatever its bytes are', async () => {
    expect(await answerTo('a\u0000b')).to.equal('a\uFFFDb');
    expect(await answerTo(Buffer.from([0x61, 0xff, 0x62]))).to.equal('a\uFFFDb');
    expect(await answerTo(Buffer.from([0xed, 0xa0, 0x80]))).to.match(/^\uFFFD+$/);
    expect(await answerTo('a', EURO.subarray(0, 2))).to.equal('a\uFFFD');
    const bytes = Buffer.alloc(5_000, 0xff);
    expect(await answerTo(bytes)).to.equal('\uFFFD'.repeat(1_024));
  });
});

describe('The wait that a receiver asks for', () => {
  const waitFor = async (status: number, header: string) => {
    const [{ retryAfterMs }] = await postTo(
      (res) => void res.writeHead(status, { 'retry-after': header }).end(),
    );
    return retryAfterMs;
  };

  it('is read from the seconds of an answer 429 or 503, and of no other', async () => {
    for (const status of [429, 503]) expect(await waitFor(status, '120')).to.equal(120_000);
    expect(await waitFor(503, '0')).to.equal(0);
    expect(await waitFor(503, '9'.repeat(400))).to.equal(Number.MAX_SAFE_INTEGER);
    for (const status of [200, 302, 404, 410, 500, 502]) {
      expect(await waitFor(status, '120'), `${status}`).to.equal(null);
    }
  });

  it('is read from a date in each of its three forms', async () => {
    const noon = new Date(Date.now() + 86_400_000);
    const [day, date, month, year, time] = noon.toUTCString().split(/,? /) as string[];
    const zone = 'GMT';
    for (const header of [
      `${day}, ${date} ${month} ${year} ${time} ${zone}`,
      `${day}day, ${date}-${month}-${year!.slice(2)} ${time} ${zone}`,
      `${day} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`,
    ]) {
      expect(await waitFor(429, header), header).to.be.closeTo(86_400_000, 10_000);
    }
  });

  it('is none when the header cannot be read, or has passed', async () => {
    for (const header of [
      ...['', '-5', '1.5', '5s', '0x10', '1e3', '5, 6', 'soon', '2030-01-01', 'Jan 1 2030'],
      ...['2030-01-01T00:00:00Z', 'Sun, 99 Nov 2030 08:49:37 GMT', 'Sun, 06 Foo 2030 08:49:37 GMT'],
      'Sun, 06 Nov 1994 08:49:37 GMT',
    ]) {
      expect(await waitFor(503, header), header).to.equal(null);
    }
  });
});

describe('Posting webhooks one after the other', () => {
  const options = { ...ANYWHERE, timeoutMs: 2_000 };
  let server: Server;
  let url: string;
  let connections: number;
  let requests: number;
  /** Says what the receiver does with the first request on a connection. */
  let onNew: (socket: Socket) => void;
  /** Says what the receiver does with a request on a connection that it has answered on before. */
  let onKept: (socket: Socket) => void;

  beforeEach(async () => {
    [connections, requests] = [0, 0];
    onNew = answer;
    server = createServer((socket) => {
      connections += 1;
      let answered = 0;
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        requests += 1;
        if (answered > 0) onKept(socket);
        else onNew(socket);
        answered += 1;
        expect(String(bytes)).to.include(BODY);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  });

  afterEach(() => void server.close());

  const answer = (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const post = async () => (await postWebhook(url, BODY, {}, options)).status;

  it('uses the same connection', async () => {
    onKept = answer;
    for (let number = 1; number <= 3; number += 1) expect(await post()).to.equal(200);
    expect([connections, requests]).to.deep.equal([1, 3]);
  });

  it('uses it also after a body that goes on behind the part that is kept', async () => {
    let isUsedAgain = false;
    onNew = (socket) => {
      const isFirst = connections === 1;
      const body = 'x'.repeat(isFirst ? 10_000 : 0);
      const connection = isFirst ? 'keep-alive' : 'close';
      socket.write(
        `HTTP/1.1 200 OK\r\nConnection: ${connection}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    };
    onKept = (socket) => {
      isUsedAgain = true;
      answer(socket);
    };
    await eventually('the first is used again', async () => {
      expect(await post()).to.equal(200);
      return isUsedAgain;
    });
  });

  it('uses none that was opened where more was allowed', async () => {
    onKept = answer;
    expect(await post()).to.equal(200);
    const blocked = networksFromText('10.0.0.0/8');
    for (const fence of [{ allowPrivate: false }, { blocked }]) {
      const port = new URL(url).port;
      // A name is judged when a connection is opened, and not before.
      const outcome = await postWebhook(`http://localhost:${port}/`, BODY, {}, options);
      expect(outcome.status).to.equal(200);
      const fenced = { ...options, ...fence, find: leadTo('10.0.0.1') };
      const refused = await postWebhook(`http://localhost:${port}/`, BODY, {}, fenced);
      expect(refused).to.include({ status: null, error: NO_PUBLIC_ADDRESS });
    }
  });

  it('posts again when the receiver has closed it', async () => {
    onKept = (socket) => socket.destroy();
    for (let number = 1; number <= 2; number += 1) expect(await post()).to.equal(200);
    expect([connections, requests]).to.deep.equal([2, 3]);
  });

  it('posts once more at most', async () => {
    await post();
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      connections += 1;
      socket.destroy();
    });
    onKept = (socket) => socket.destroy();
    expect(await post()).to.equal(null);
    expect([connections, requests]).to.deep.equal([2, 2]);
  });
});

describe('Posting a webhook where private addresses are not allowed', () => {
  let receiver: Receiver;

  before(async () => {
    receiver = await receiverThat((res) => void res.end());
  });

  after(() => receiver.close());

  const HOSTS = [
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '１２７.０.０.１',
    '0',
    '0.0.0.0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
    'LOCALHOST',
    '%6cocalhost',
  ];
  const FENCED = { ...ANYWHERE, timeoutMs: 2_000, allowPrivate: false };
  for (const host of HOSTS) {
    it(`refuses ${host} before anything is sent`, async () => {
      const url = `http://${host}:${receiver.port}/hook`;
      const outcome = await postWebhook(url, BODY, {}, FENCED);
      expect(outcome.status).to.equal(null);
      expect(outcome.error).to.equal(NO_PUBLIC_ADDRESS);
      expect(outcome.reason).to.match(/is not a public address/);
      expect(receiver.requests).to.deep.equal([]);
    });
  }

  it('refuses a port that is not allowed, also the one that an address does not name', async () => {
    const options = { ...ANYWHERE, timeoutMs: 2_000, ports: [443, 8443] };
    for (const [url, port] of [
      [`http://127.0.0.1:${receiver.port}/hook`, receiver.port],
      ['http://127.0.0.1/hook', 80],
      ['https://127.0.0.1:444/hook', 444],
    ] as const) {
      const outcome = await postWebhook(url, BODY, {}, options);
      expect(outcome).to.include({ status: null, timedOut: false });
      expect(outcome.error).to.equal(`port ${port} is not in WEBHOOK_PORTS (443, 8443)`);
    }
    expect(receiver.requests).to.deep.equal([]);
    const find = () => Promise.reject(new Error('nobody.invalid is looked up'));
    const asked = { ...options, find };
    const { reason } = await postWebhook('https://nobody.invalid/hook', BODY, {}, asked);
    expect(reason, 'the port of https').to.equal('nobody.invalid is looked up');
    const own = { ...options, ports: [Number(receiver.port)] };
    const url = `http://127.0.0.1:${receiver.port}/hook`;
    expect(await postWebhook(url, BODY, {}, own)).to.include({ status: 200 });
    receiver.requests.length = 0;
  });

  it('refuses a blocked network even where private addresses are allowed', async () => {
    const blocked = networksFromText('127.0.0.0/8,::1');
    for (const host of ['127.0.0.1', '0x7f000001', '[::1]', '[::ffff:127.0.0.1]', 'localhost']) {
      const url = `http://${host}:${receiver.port}/hook`;
      const options = { ...ANYWHERE, timeoutMs: 2_000, blocked };
      const outcome = await postWebhook(url, BODY, {}, options);
      expect(outcome.error, host).to.equal(NO_PUBLIC_ADDRESS);
      expect(outcome.reason, host).to.match(/is in WEBHOOK_BLOCK/);
      expect(receiver.requests).to.deep.equal([]);
    }
  });
});
