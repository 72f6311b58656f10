import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { addScrapedGauges, type Backend } from '../../src/metrics/gauges.ts';
import { createService, type Service } from '../../src/service/service.ts';
import { environment } from '../support/environment.ts';
import { scrape, sumOf, watch } from '../support/metrics.ts';
import { createRedisUser } from '../support/redis-user.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { SILENT, useStore } from '../support/world.ts';

describe('Gauges that a scrape reads', () => {
  /** A backend with two gauges, one of them with a label. Counts its readings. */
  function backendOf(read: (times: number) => number, check: Backend['check'] = async () => null) {
    let times = 0;
    const backend: Backend = {
      up: { name: 'up', help: 'up' },
      check,
      sources: [
        {
          name: 'first',
          gauges: { first: ['first'] },
          read: async () => {
            times += 1;
            return [{ first: read(times) }];
          },
        },
        {
          name: 'second',
          gauges: { second: ['second', 'of'] },
          read: async () => [{ of: 'it', second: times }],
        },
      ],
    };
    return backend;
  }

  function registryOf(backend: Backend, maxAgeMs: number): Registry {
    const registry = new Registry();
    addScrapedGauges(registry, [backend], SILENT, maxAgeMs);
    return registry;
  }

  it('are read once for scrapes at the same time, and not again for a while', async () => {
    const registry = registryOf(
      backendOf((times) => times),
      60_000,
    );
    await Promise.all([scrape(registry), scrape(registry)]);
    const samples = await scrape(registry);
    expect(sumOf(samples, 'first')).to.equal(1);
    expect(sumOf(samples, 'second', { of: 'it' })).to.equal(1);
  });

  it('have no value when they cannot be read, not even an old one, and the others have theirs', async () => {
    const read = (times: number) => {
      if (times === 2) throw new Error('no');
      return times;
    };
    const registry = registryOf(backendOf(read), 0);
    expect(sumOf(await scrape(registry), 'first')).to.equal(1);
    const without = await scrape(registry);
    expect(sumOf(without, 'first')).to.equal(undefined);
    expect(sumOf(without, 'second')).to.equal(2);
    expect(sumOf(without, 'up')).to.equal(1);
    const again = await scrape(registry);
    expect(sumOf(again, 'first')).to.equal(3);
    expect(sumOf(again, 'malipo_reading_failures_total', { source: 'first' })).to.equal(1);
  });

  it('are not read from a store that does not answer, and the scrape does not wait for it', async () => {
    let reads = 0;
    const backend = backendOf(
      () => {
        reads += 1;
        return 1;
      },
      () => new Promise(() => {}),
    );
    const samples = await scrape(registryOf(backend, 0));
    expect(sumOf(samples, 'up')).to.equal(0);
    expect(sumOf(samples, 'first')).to.equal(undefined);
    expect(sumOf(samples, 'second')).to.equal(undefined);
    expect(reads).to.equal(0);
  });
});

describe('A source that takes too long to read', () => {
  const READ_TIMEOUT_MS = 300;

  /** A backend of three sources, read in this order. The second waits for `slow`. */
  function registryOf(slow: () => Promise<void>, started: string[] = []): Registry {
    const source = (name: string, wait: () => Promise<void> = async () => {}) => ({
      name,
      gauges: { [name]: ['help'] } as const,
      read: async () => {
        started.push(name);
        await wait();
        return [{ [name]: 1 }];
      },
    });
    const backend: Backend = {
      up: { name: 'up', help: 'up' },
      check: async () => null,
      sources: [source('first'), source('slow', slow), source('last')],
    };
    const registry = new Registry();
    addScrapedGauges(registry, [backend], SILENT, 0, READ_TIMEOUT_MS);
    return registry;
  }

  const valuesOf = (samples: Awaited<ReturnType<typeof scrape>>) =>
    ['first', 'slow', 'last'].map((name) => sumOf(samples, name));
  const failuresOf = (samples: Awaited<ReturnType<typeof scrape>>) =>
    ['first', 'slow', 'last'].map((source) =>
      sumOf(samples, 'malipo_reading_failures_total', { source }),
    );

  it('has no value and is a failure, as are those after it; what was read before it stays', async () => {
    const samples = await scrape(registryOf(() => new Promise(() => {})));
    expect(valuesOf(samples)).to.deep.equal([1, undefined, undefined]);
    expect(failuresOf(samples)).to.deep.equal([0, 1, 1]);
    expect(sumOf(samples, 'up')).to.equal(1);
  });

  it('does not hold up the others a second time, and has no value when it comes too late', async () => {
    const registry = registryOf(() => sleep(READ_TIMEOUT_MS * 1.5));
    await scrape(registry);
    await sleep(READ_TIMEOUT_MS);
    for (const failures of [2, 3]) {
      const samples = await scrape(registry);
      expect(valuesOf(samples)).to.deep.equal([1, undefined, 1]);
      expect(failuresOf(samples)).to.deep.equal([0, failures, 1]);
      await sleep(READ_TIMEOUT_MS);
    }
  });

  it('is not read again before it is done, and nothing else is read beside it', async () => {
    const started: string[] = [];
    const registry = registryOf(() => new Promise(() => {}), started);
    await scrape(registry);
    const samples = await scrape(registry);
    expect(valuesOf(samples)).to.deep.equal([undefined, undefined, undefined]);
    expect(failuresOf(samples)).to.deep.equal([1, 2, 2]);
    expect(started).to.deep.equal(['first', 'slow']);
  });
});

describe('Gauges of the whole service', () => {
  const store = useStore({ merchant: 'none' });

  it('leave out the queues while Redis is away', async () => {
    const service = store.parts();
    const watching = watch(service, { ...store.config, redisUrl: 'redis://127.0.0.1:1' });
    const samples = await watching.scrape();
    expect(sumOf(samples, 'malipo_queue_backend_up')).to.equal(0);
    expect(sumOf(samples, 'malipo_queue_jobs')).to.equal(undefined);
    expect(sumOf(samples, 'malipo_database_up')).to.equal(1);
    expect(sumOf(samples, 'malipo_payments_open')).to.equal(0);
    await watching.close();
  });

  it('say that the queues are up when Redis only refuses to list its clients', async function () {
    if (!environment.redisUrl) this.skip();
    const user = await createRedisUser('-@dangerous', '+info');
    const service = store.parts();
    const watching = watch(service, { ...store.config, redisUrl: user.url });
    const samples = await watching.scrape();
    await watching.close();
    await user.drop();
    expect(sumOf(samples, 'malipo_queue_backend_up')).to.equal(1);
    expect(sumOf(samples, 'malipo_queue_jobs')).to.be.a('number');
    expect(sumOf(samples, 'malipo_queue_workers')).to.equal(undefined);
    expect(sumOf(samples, 'malipo_reading_failures_total', { source: 'queues' })).to.equal(0);
  });

  it('leave out one source when it cannot be read', async () => {
    const service = store.parts();
    const watching = watch(service);
    await rows(store.owner, 'ALTER TABLE last_ledger_verification RENAME TO away');
    const samples = await watching.scrape();
    await rows(store.owner, 'ALTER TABLE away RENAME TO last_ledger_verification');
    expect(sumOf(samples, 'malipo_ledger_verified_timestamp_seconds')).to.equal(undefined);
    expect(sumOf(samples, 'malipo_reading_failures_total', { source: 'ledger' })).to.equal(1);
    expect(sumOf(samples, 'malipo_month_partitions_ahead')).to.equal(6);
    expect(sumOf(await watching.scrape(), 'malipo_ledger_verified_timestamp_seconds')).to.equal(0);
    await watching.close();
  });

  describe('while PostgreSQL is away', () => {
    let proxy: TcpProxy;
    let service: Service;
    let watching: ReturnType<typeof watch>;

    before(async function () {
      if (!environment.redisUrl) this.skip();
      proxy = await startTcpProxy(store.url);
      service = createService(store.config, SILENT, openDatabase(proxy.url, 2));
      watching = watch(service, { ...store.config, redisUrl: environment.redisUrl });
    });

    after(async () => {
      await watching?.close();
      await service?.database.destroy();
      await proxy?.close();
    });

    it('leave out what is in it, and show it again when it is back', async () => {
      expect(sumOf(await watching.scrape(), 'malipo_payments_open')).to.equal(0);
      await proxy.cut();
      const without = await watching.scrape();
      expect(sumOf(without, 'malipo_database_up')).to.equal(0);
      expect(sumOf(without, 'malipo_payments_open')).to.equal(undefined);
      expect(sumOf(without, 'malipo_queue_backend_up')).to.equal(1);
      expect(sumOf(without, 'malipo_queue_jobs')).to.be.a('number');
      await proxy.restore();
      const again = await watching.scrape();
      expect(sumOf(again, 'malipo_database_up')).to.equal(1);
      expect(sumOf(again, 'malipo_payments_open')).to.equal(0);
    });
  });
});
