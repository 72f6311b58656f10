import { expect } from 'chai';
import { inTransaction } from '../../src/connections/database.ts';
import { pauseChannel } from '../../src/domain/channels/channel-store.ts';
import { recordVerification } from '../../src/domain/ledger/verification/checkpoints.ts';
import { verifyLedger } from '../../src/domain/ledger/verification/verify-ledger.ts';
import { readOutcomesLately } from '../../src/domain/settlement/lately.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { wordsOf } from '../support/console-text.ts';
import { rewrite } from '../support/database.ts';
import { makeOverdue } from '../support/discrepancies/scene.ts';
import { makeEndpoint, OPEN } from '../support/endpoints.ts';
import { newEvent } from '../support/events.ts';
import { failedPayout } from '../support/failed-jobs.ts';
import { closedPortUrl } from '../support/gateway-fixtures.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { failed, learn, newCollection, succeeded } from '../support/payments.ts';
import { plansOf } from '../support/plans.ts';
import { ACKNOWLEDGED, workOn } from '../support/submissions.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const M_PESA = 63902;

describe('The overview of the console', () => {
  let test: TestConsole;
  let viewer: ConsoleClient;
  let merchant: TestMerchant;
  let database: TestConsole['service']['database'];

  beforeEach(async () => {
    test = await startTestConsole();
    database = test.service.database;
    merchant = await createTestMerchant(test.service);
    viewer = await logIn(test, await newMember(test, 'viewer'));
  });

  afterEach(() => test.close());

  const part = async (name: string) => wordsOf(await viewer.get(`/overview/${name}`));

  it('shows that all is well, and that the ledger was never verified', async () => {
    const page = await viewer.get('/');
    expect(wordsOf(page)).to.include('It was never verified').and.include('Paused channels none');
    expect(page.text).to.include('hx-trigger="every 10s"');
    await recordVerification(database, await verifyLedger(database, {}));
    expect(await part('figures')).to.include('Breaks none');
  });

  it('counts what is open, overdue, failed, in doubt and paused', async () => {
    const late = await newPayout(database, merchant);
    await makeOverdue({ database, merchant }, late);
    await failedPayout(database, merchant);
    const { job } = await failedPayout(database, merchant);
    await rewrite(database, 'UPDATE failed_jobs SET error = :error WHERE id = :id', {
      ...{ id: job.id, error: '<b>bug</b> of 254712345678' },
    });
    await newEvent(database, merchant, 'https://held.example/hook');
    await makeEndpoint(database, merchant.merchant_id, 'https://held.example', OPEN);
    await inTransaction(database, (trx) => pauseChannel(trx, M_PESA, 'payouts'));
    const words = await part('figures');
    expect(words).to.match(/payout 3 0 \d+ s 1 2 /);
    expect(words).to.match(/Failed, waiting for a person 2 /);
    expect(words)
      .to.match(/1 in queue-of-payout : bug/)
      .and.include('&lt;b>bug&lt;/b> of …');
    expect(words).to.match(/M-PESA is paused payouts, since/);
    expect(words).to.match(/Events without a number 1, the oldest for/);
    const { text } = await viewer.get('/');
    expect(text).to.include('href="/channels"').and.include('href="/webhook-endpoints?state=held"');
  });

  it('says how many at least have ended well, and how fast, by channel', async () => {
    for (const outcome of [succeeded(), succeeded({ trans_id: 'R2' } as never), failed()]) {
      const collection = await newCollection(database, merchant);
      const work = workOn(database, collection);
      await work.answer(await work.claim(), ACKNOWLEDGED);
      await learn(database, collection, outcome);
    }
    const words = await part('outcomes');
    expect(words)
      .to.match(/M-PESA 3 2 1 67 % \d+ s/)
      .and.include('at least');
    const { text } = await viewer.get('/overview/outcomes');
    const chart = /<time-chart data-chart="([^"]+)"/.exec(text)![1]!.replaceAll('&quot;', '"');
    const { times, series } = JSON.parse(chart);
    expect(times).to.have.length(1);
    expect(series).to.deep.equal([{ label: 'M-PESA', values: [67] }]);
  });

  it('reads the outcomes by the age of attempts, however many there are', async () => {
    const [plan] = await plansOf(database, () => readOutcomesLately(database));
    expect(plan)
      .to.include('attempts_by_age')
      .and.not.match(/Seq Scan on (attempts|collections)/);
  });

  it('shows the queues by process type, and what waits there', async () => {
    await newPayout(database, merchant);
    const words = await part('queues');
    expect(words)
      .to.include('Queues in PostgreSQL')
      .and.match(/submission submission-simulator /);
    expect(words).to.include('No dispatcher is running');
  });

  it('works with Redis away, and says so', async () => {
    const redisUrl = (await closedPortUrl()).replace('http', 'redis');
    const service = { ...test.service, config: { ...test.service.config, redisUrl } };
    const away = await startTestConsole({ ...service, owner: test.testDatabase.owner });
    const browser = await logIn(away, await newMember(away, 'viewer'));
    const page = await browser.get('/');
    const { status, text } = await browser.get('/overview/queues');
    await away.close();
    expect(page.status).to.equal(200);
    expect([status, text.includes('Queues in Redis')]).to.deep.equal([200, true]);
    expect(text)
      .to.match(/Redis does not answer/)
      .and.include('not known');
  });

  it('draws its charts with scripts of ours and of our packages', async () => {
    const { text } = await viewer.get('/');
    const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(paths).to.have.length(7);
    for (const path of paths) expect((await viewer.get(path)).status, path).to.equal(200);
  });
});
