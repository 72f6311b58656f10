import { once } from 'node:events';
import { Agent, type RequestListener, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { startApiServer } from '../../src/api/app.ts';
import { type HttpServer, SERVER_LIMITS } from '../../src/http/http-server.ts';
import { eventually } from '../support/eventually.ts';

describe('A server', () => {
  const agent = new Agent({ keepAlive: true });
  let stopping: AbortController;
  let server: HttpServer;
  let waiting: ServerResponse[];

  beforeEach(async () => {
    stopping = new AbortController();
    waiting = [];
    const app: RequestListener = (incoming, response) => {
      if (incoming.url === '/wait') waiting.push(response);
      else if (incoming.url === '/begin') response.write('begun');
      else response.end('done');
    };
    const config = { tls: null, port: 0, host: '127.0.0.1' };
    server = await startApiServer(config, app, stopping.signal);
  });

  after(() => agent.destroy());

  /** The answer to one request over a connection that would be kept. */
  function get(path: string): Promise<{ status: number; connection: string }> {
    return new Promise((resolve, reject) => {
      const sent = request({ agent, port: server.port, path }, (answer) => {
        answer.resume();
        const { connection = '' } = answer.headers;
        answer.on('end', () => resolve({ status: answer.statusCode!, connection }));
      });
      sent.on('error', reject).end();
    });
  }

  const isUnderWay = () => eventually('the request', async () => waiting.length === 1);

  it('keeps connections before it stops', async () => {
    expect(await get('/')).to.deep.equal({ status: 200, connection: 'keep-alive' });
    await server.close();
  });

  it('goes on answering while it stops, and closes the connection of every answer', async () => {
    const underWay = get('/wait');
    await isUnderWay();
    stopping.abort('SIGTERM');
    expect(await get('/')).to.deep.equal({ status: 200, connection: 'close' });
    waiting[0]!.end('done');
    expect(await underWay).to.deep.equal({ status: 200, connection: 'close' });
    await server.close();
  });

  it('ends when its last request is answered, and takes no new connection meanwhile', async () => {
    const underWay = get('/wait');
    await isUnderWay();
    stopping.abort('SIGTERM');
    let isClosed = false;
    const closed = server.close().then(() => {
      isClosed = true;
    });
    const refused = await get('/').catch((error) => error);
    expect(refused.code).to.equal('ECONNREFUSED');
    expect(isClosed).to.equal(false);
    waiting[0]!.end('done');
    expect(await underWay).to.deep.equal({ status: 200, connection: 'close' });
    await closed;
  });

  it('does not wait at its end for connections that idle, have said nothing, or stopped half-way', async () => {
    await get('/');
    const sockets = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')];
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    sockets[1]!.write('GET / HTTP/1.1\r\nHost');
    for (const socket of sockets) socket.on('error', () => {});
    stopping.abort('SIGTERM');
    await server.close();
  });

  it('refuses in JSON what is no HTTP, and closes the connection', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write('nonsense\r\n\r\n');
    const [head, body] = (await text(socket)).split('\r\n\r\n');
    expect(head).to.match(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
    expect(JSON.parse(body!)).to.deep.equal({ detail: 'Invalid request', code: 'invalid_request' });
    await server.close();
  });

  it('adds nothing to an answer that has begun when the rest of the request is no HTTP', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write('POST /begin HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const [begun] = await once(socket, 'data');
    socket.write('no chunk\r\n');
    expect(String(begun)).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(await text(socket)).to.not.include('HTTP/1.1');
    await server.close();
  });
});

describe('A server with strangers', () => {
  const app: RequestListener = (_incoming, response) => void response.end('done');
  const config = { tls: null, port: 0, host: '127.0.0.1' };
  let server: HttpServer;
  const sockets: Socket[] = [];

  async function start(limits: Partial<typeof SERVER_LIMITS>): Promise<void> {
    const { signal } = new AbortController();
    server = await startApiServer(config, app, signal, { ...SERVER_LIMITS, ...limits });
  }

  function open(): Socket {
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket.on('error', () => {}));
    return socket;
  }

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });

  it('cuts one who sends a header at a time, when the time for headers is over', async () => {
    await start({ headersTimeout: 300 });
    const socket = open();
    const startedAt = performance.now();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => socket.write('X-Slow: 1\r\n'), 50);
    const answer = await text(socket).finally(() => clearInterval(drip));
    expect(answer).to.match(/^HTTP\/1\.1 408 /);
    const lateMs = performance.now() - startedAt - 300;
    // A busy machine may take some time for it. Left to itself, Node would take 30 s.
    expect(lateMs).to.be.within(-50, SERVER_LIMITS.connectionsCheckingInterval + 2_000);
  });

  it('gives headers 15 seconds, and looks every second', () => {
    const { headersTimeout, connectionsCheckingInterval } = SERVER_LIMITS;
    expect([headersTimeout, connectionsCheckingInterval]).to.deep.equal([15_000, 1_000]);
  });

  it('has no room for more connections than it is told, and has again when one leaves', async () => {
    await start({ maxConnections: 2 });
    const first = open();
    const second = open();
    await Promise.all([once(first, 'connect'), once(second, 'connect')]);
    const third = open();
    await once(third, 'close');
    expect(third.bytesRead).to.equal(0);
    first.destroy();
    await eventually('a free place', async () => {
      const next = open();
      next.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      return (await text(next).catch(() => '')).startsWith('HTTP/1.1 200');
    });
  });
});
