import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import type { ServiceProcess } from '../../scripts/sandbox/service-process.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { firstRow, rows } from '../../src/connections/database.ts';
import { findReversal } from '../../src/domain/reversals/create-reversal.ts';
import { loadConfig } from '../../src/service/service.ts';
import { collectionBody, request, reversalBody } from '../support/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { newCompletedCollection } from '../support/payment-kinds.ts';
import { learn, succeeded } from '../support/payments.ts';
import { PROGRAMS_FROM } from '../support/programs.ts';
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
    logFolder = makeFolder('killed');
  });

  after(async () => {
    await web?.stop();
    await testDatabase.drop();
  });

  const start = () =>
    startProcess('web', { env, logFolder, reaper: environment.reaper, from: PROGRAMS_FROM });

  const initiate = (
    key: string,
    body: Record<string, unknown>,
    path = '/collections/checkouts/initiate',
  ) =>
    request('POST', `${env.PUBLIC_URL}/api/v1${path}`, {
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
          { merchant_id: merchant.merchant_id, ref_no: body.ref_no },
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

  it('leaves a key that repeats a reversal as it is when it waited for the gateway', async () => {
    const { database } = testDatabase;
    web ??= await start();
    const original = await newCompletedCollection(database, merchant);
    const body = reversalBody(original.ref_no, { ref_no: 'killed-1' });
    const lost = initiate('key', body, '/reversals/initiate').catch(() => null);
    const find = () =>
      findReversal(database, { merchant_id: merchant.merchant_id, ref_no: 'killed-1' });
    const reversal = await eventually('the commit', find);
    await web.kill();
    await lost;
    web = await start();
    const before = await initiate('key', body, '/reversals/initiate');
    expect([before.status, before.body.status]).to.deep.equal([200, 0]);
    expect(before.headers.get('idempotent-replayed')).to.equal('true');
    await learn(database, reversal, succeeded());
    const after = await initiate('key', body, '/reversals/initiate');
    expect([after.status, after.body.status]).to.deep.equal([200, 3]);
  });
});
