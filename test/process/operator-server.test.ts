import { expect } from 'chai';
import { Gauge, Registry } from 'prom-client';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { openDatabase } from '../../src/connections/database.ts';
import { createLogger } from '../../src/process/logger.ts';
import { type Operated, startOperatorServer } from '../../src/process/operator-server.ts';
import { request, useStore } from '../support/world.ts';

/** The ports of further processes. */
const FURTHER = Array.from({ length: 50 }, (_, at) => 9472 + at);

describe("The operators' port", () => {
  const logger = createLogger('error', 'test');
  const store = useStore({ merchant: 'none' });
  let metricsPort: number;

  before(async () => {
    logger.silent = true;
    metricsPort = await findFreePort();
  });

  function start(overrides: Partial<Operated> = {}) {
    return startOperatorServer({
      type: 'web',
      config: { ...store.config, metricsPort },
      database: store.database,
      logger,
      registry: registryOf(() => 42),
      stopping: new AbortController().signal,
      ...overrides,
    });
  }

  async function ask(path: string, overrides: Partial<Operated> = {}) {
    const server = await start(overrides);
    try {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
      const text = await answer.text();
      return { status: answer.status, text, body: path === '/metrics' ? null : JSON.parse(text) };
    } finally {
      await server.close();
    }
  }

  it('is that of its type by default', async () => {
    const config = { ...store.config, metricsPort: undefined };
    const [web, second, refunds] = [
      await start({ config }),
      await start({ config }),
      await start({ config, type: 'refunds' }),
    ];
    try {
      // Another service of this machine may have them.
      expect([9464, ...FURTHER]).to.include(web.port);
      expect(FURTHER).to.include(second.port);
      expect([9469, ...FURTHER]).to.include(refunds.port);
    } finally {
      await Promise.all([web.close(), second.close(), refunds.close()]);
    }
  });

  it('differs for each process, and serves nothing else', async () => {
    const [first, second] = [await start(), await start()];
    try {
      expect(first.port).to.equal(metricsPort);
      expect(second.port).to.be.above(metricsPort);
      for (const { port } of [first, second]) {
        const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
        expect(answer.status).to.equal(200);
        expect(await answer.text()).to.include('answer 42');
        const statusOf = async (method: string, path: string) =>
          (await request(method, `http://127.0.0.1:${port}${path}`)).status;
        expect(await statusOf('GET', '/')).to.equal(404);
        expect(await statusOf('GET', '/toString')).to.equal(404);
        expect(await statusOf('POST', '/metrics')).to.equal(404);
      }
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
  });

  it('is any free one for 0', async () => {
    const server = await start({ config: { ...store.config, metricsPort: 0 } });
    expect(server.port).to.be.above(0);
    await server.close();
  });

  it('says that a process is healthy, or why it is not', async () => {
    const details = { work: [{ name: 'refunds', stuck: true }] };
    const healthy = await ask('/healthz');
    expect([healthy.status, healthy.body]).to.deep.equal([200, { status: 'ok' }]);
    const stuck = await ask('/healthz', { health: () => ({ isHealthy: false, details }) });
    expect([stuck.status, stuck.body]).to.deep.equal([503, { status: 'unhealthy', ...details }]);
  });

  it('says that a process may get work, or why not', async () => {
    const ready = await ask('/readyz');
    expect([ready.status, ready.body]).to.deep.equal([200, { status: 'ready' }]);
    const stopping = await ask('/readyz', { stopping: AbortSignal.abort('SIGTERM') });
    expect(stopping.status).to.equal(503);
    expect(stopping.body).to.deep.equal({ status: 'not ready', reason: 'stopping' });
    const away = openDatabase('postgres://nobody@127.0.0.1:1/none', 1);
    const without = await ask('/readyz', { database: away });
    expect(without.status).to.equal(503);
    expect(without.body.reason).to.match(/^DATABASE_URL cannot be used/);
    await away.destroy();
  });

  it('says what else keeps a process from getting work, and what only should be mended', async () => {
    const warnings = ['Redis drops the locks of jobs'];
    const at = (problem: string | null, others: string[] = []) =>
      ask('/readyz', { condition: async () => ({ problem, warnings: others }) });
    expect((await at(null)).body).to.deep.equal({ status: 'ready' });
    const warned = await at(null, warnings);
    expect([warned.status, warned.body]).to.deep.equal([200, { status: 'ready', warnings }]);
    const reason = 'Redis is a replica';
    const unready = await at(reason, warnings);
    expect(unready.status).to.equal(503);
    expect(unready.body).to.deep.equal({ status: 'not ready', reason, warnings });
  });

  it('has no metrics while they cannot be read', async () => {
    const registry = registryOf(() => {
      throw new Error('away');
    });
    expect((await ask('/metrics', { registry })).status).to.equal(503);
  });
});

/** Creates a registry with one gauge, which has the value that `read` returns. */
function registryOf(read: () => number): Registry {
  const registry = new Registry();
  new Gauge({
    name: 'answer',
    help: 'An answer',
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
  return registry;
}
