import { expect } from 'chai';
import { rows } from '../src/database.ts';
import { recordVerification } from '../src/domain/ledger/last-verification.ts';
import { verifyLedger } from '../src/domain/ledger/verify-ledger.ts';
import { createLogger } from '../src/logger.ts';
import { startMetricsServer } from '../src/metrics-server.ts';
import { findFreePort } from '../src/sandbox/embedded/port.ts';
import { createTestStore, type TestStore } from './support/payments.ts';

describe('Metrics', () => {
  const logger = createLogger('error', 'test');
  let store: TestStore;
  let metricsPort: number;

  before(async () => {
    logger.silent = true;
    store = await createTestStore();
    metricsPort = await findFreePort();
  });

  after(() => store.drop());

  function start(port: number | undefined = metricsPort) {
    const config = { ...store.config, metricsPort: port };
    return startMetricsServer({ config, database: store.database, logger });
  }

  it('are served by nobody who was not told where', async () => {
    const config = { ...store.config, metricsPort: undefined };
    expect(await startMetricsServer({ ...store, config, logger })).to.equal(null);
  });

  it('are served by each process at a port of its own, and at no other path', async () => {
    const [first, second] = [await start(), await start()];
    try {
      expect(first!.port).to.equal(metricsPort);
      expect(second!.port).to.be.above(metricsPort);
      for (const { port } of [first!, second!]) {
        const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
        expect(answer.status).to.equal(200);
        expect(await answer.text()).to.include('malipo_ledger_verified_timestamp_seconds 0');
        expect((await fetch(`http://127.0.0.1:${port}/`)).status).to.equal(404);
      }
    } finally {
      await Promise.all([first!.close(), second!.close()]);
    }
  });

  it('tell of the last proof of the books', async () => {
    await recordVerification(store.database, await verifyLedger(store.database));
    const server = await start();
    try {
      const text = await (await fetch(`http://127.0.0.1:${server!.port}/metrics`)).text();
      expect(text).to.match(/^malipo_ledger_breaks\{kind="\w+"\} 0$/m);
      expect(text).to.match(/^malipo_ledger_verified_timestamp_seconds 1\d{9}/m);
    } finally {
      await server!.close();
    }
  });

  it('are not available while they cannot be read', async () => {
    await rows(store.database, 'ALTER TABLE last_ledger_verification RENAME TO away');
    const server = await start();
    try {
      expect((await fetch(`http://127.0.0.1:${server!.port}/metrics`)).status).to.equal(503);
    } finally {
      await server!.close();
      await rows(store.database, 'ALTER TABLE away RENAME TO last_ledger_verification');
    }
  });
});
