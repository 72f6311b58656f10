import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../src/config.ts';
import { firstRow, rows } from '../../src/database.ts';
import { findFreePort } from '../../src/sandbox/embedded/port.ts';
import type { ServiceProcess } from '../../src/sandbox/service-process.ts';
import { startProcess } from '../../src/sandbox/stack.ts';
import { collectionBody, request } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const ROUNDS = 3;

describe('A web process that is killed between the commit and its answer', () => {
  let testDatabase: TestDatabase;
  let merchant: TestMerchant;
  let env: NodeJS.ProcessEnv;
  let logFolder: string;
  let web: ServiceProcess | undefined;

  before(async () => {
    testDatabase = await createTestDatabase();
    const port = await findFreePort();
    env = {
      PATH: process.env.PATH,
      DATABASE_URL: testDatabase.url,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
    };
    const config = loadConfig(env);
    merchant = await createTestMerchant({ database: testDatabase.database, config });
    logFolder = mkdtempSync(join(tmpdir(), 'malipo-killed-'));
  });

  after(async () => {
    await web?.stop();
    rmSync(logFolder, { recursive: true, force: true });
    await testDatabase.drop();
  });

  const start = () => startProcess('web', { env, logFolder, reaper: environment.reaper });

  const initiate = (key: string, body: Record<string, unknown>) =>
    request('POST', `${env.PUBLIC_URL}/api/v1/collections/checkouts/initiate`, {
      access: merchant.access,
      body,
      headers: { 'idempotency-key': key },
    });

  it('leaves a key that repeats the answer, and one record', async () => {
    web = await start();
    for (let round = 1; round <= ROUNDS; round++) {
      const body = collectionBody({ ref_no: `killed-${round}` });
      const lost = initiate(`key-${round}`, body).catch(() => null);
      const { id } = await eventually('the commit', () =>
        firstRow<{ id: string }>(
          testDatabase.database,
          'SELECT id FROM collections WHERE merchant_id = :merchant_id AND ref_no = :ref_no',
          { merchant_id: merchant.merchantId, ref_no: body.ref_no },
        ),
      );
      await web.kill();
      await lost;
      web = await start();
      const again = await initiate(`key-${round}`, body);
      expect(again.status).to.equal(200);
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      expect(again.body.id).to.equal(id);
    }
    const jobs = await rows(testDatabase.database, 'SELECT row_id FROM outbox');
    expect(jobs).to.have.length(ROUNDS);
  });
});
