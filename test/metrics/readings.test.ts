import { expect } from 'chai';
import { Registry } from 'prom-client';
import winston from 'winston';
import { createService, type Service } from '../../src/boot.ts';
import { openDatabase, rows } from '../../src/database.ts';
import { addReadings, type Backend } from '../../src/metrics/readings.ts';
import { environment } from '../support/environment.ts';
import { scrape, sumOf, watch } from '../support/metrics.ts';
import { createTestStore, type TestStore } from '../support/payments.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const logger = winston.createLogger({ silent: true });

describe('What is read when somebody asks', () => {
  /** One backend with two gauges, one by label; counts how often it is read. */
  function backendOf(read: (times: number) => number, check = async () => {}) {
    let times = 0;
    const backend: Backend = {
      up: { name: 'up', help: 'up' },
      check,
      sources: [
        {
          name: 'first',
          gauges: [{ name: 'first', help: 'first' }],
          read: async () => {
            times += 1;
            return [{ name: 'first', value: read(times) }];
          },
        },
        {
          name: 'second',
          gauges: [{ name: 'second', help: 'second', labels: ['of'] }],
          read: async () => [{ name: 'second', labels: { of: 'it' }, value: times }],
        },
      ],
    };
    return backend;
  }

  function registryOf(backend: Backend, maxAgeMs: number): Registry {
    const registry = new Registry();
    addReadings(registry, [backend], logger, maxAgeMs);
    return registry;
  }

  it('is read once for all who ask at the same time, and not again for a while', async () => {
    const registry = registryOf(
      backendOf((times) => times),
      60_000,
    );
    await Promise.all([scrape(registry), scrape(registry)]);
    const samples = await scrape(registry);
    expect(sumOf(samples, 'first')).to.equal(1);
    expect(sumOf(samples, 'second', { of: 'it' })).to.equal(1);
  });

  it('has no value when it cannot be read, not even an old one, and the rest has', async () => {
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

  it('is not read from what does not answer, and nobody waits for that for long', async () => {
    let reads = 0;
    const backend = backendOf(
      () => {
        reads += 1;
        return 1;
      },
      () => new Promise<void>(() => {}),
    );
    const samples = await scrape(registryOf(backend, 0));
    expect(sumOf(samples, 'up')).to.equal(0);
    expect(sumOf(samples, 'first')).to.equal(undefined);
    expect(sumOf(samples, 'second')).to.equal(undefined);
    expect(reads).to.equal(0);
  });
});

describe('Metrics of the whole service', () => {
  let store: TestStore;

  before(async () => {
    store = await createTestStore();
  });

  after(() => store.drop());

  it('do without the queues while Redis is away', async () => {
    const service = createService(store.config, logger, store.database);
    const watching = watch(service, { ...store.config, redisUrl: 'redis://127.0.0.1:1' });
    const samples = await watching.scrape();
    expect(sumOf(samples, 'malipo_queue_backend_up')).to.equal(0);
    expect(sumOf(samples, 'malipo_queue_jobs')).to.equal(undefined);
    expect(sumOf(samples, 'malipo_database_up')).to.equal(1);
    expect(sumOf(samples, 'malipo_payments_open')).to.equal(0);
    await watching.close();
  });

  it('do without one reading when it fails', async () => {
    const service = createService(store.config, logger, store.database);
    const watching = watch(service);
    await rows(store.database, 'ALTER TABLE last_ledger_verification RENAME TO away');
    const samples = await watching.scrape();
    await rows(store.database, 'ALTER TABLE away RENAME TO last_ledger_verification');
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
      service = createService(store.config, logger, openDatabase(proxy.url, 2));
      watching = watch(service, { ...store.config, redisUrl: environment.redisUrl });
    });

    after(async () => {
      await watching?.close();
      await service?.database.destroy();
      await proxy?.close();
    });

    it('do without what is in it, and have it again when it is back', async () => {
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
