import { expect } from 'chai';
import { type Simulator, startSimulator } from '../../scripts/simulator/server.ts';
import { rows } from '../../src/connections/database.ts';
import type { Payout } from '../../src/domain/payments/kinds.ts';
import { DAY_MS } from '../../src/time.ts';
import { logIn, newMember, startTestConsole, type TestConsole } from '../support/console.ts';
import type { ConsoleClient } from '../support/console-client.ts';
import { rewrite } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type HoldingGateway, startHoldingGateway } from '../support/holding-gateway.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { reread } from '../support/payments.ts';
import { payAt } from '../support/statements.ts';
import { createTestMerchant, type TestMerchant } from '../support/test-merchant.ts';

const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
/** A question to the gateway may take so long that a stopping process has no time to go on. */
const NO_GRACE = { GATEWAY_TIMEOUT_MS: '20000', SHUTDOWN_TIMEOUT_MS: '25000' };

describe('A statement that the console fetches', () => {
  let simulator: Simulator;
  let front: HoldingGateway;
  let test: TestConsole;
  let database: TestConsole['service']['database'];
  let merchant: TestMerchant;
  let support: ConsoleClient;

  // A movement of one test would be unknown money to the books of another.
  beforeEach(async () => {
    simulator = await startSimulator({ port: 0, delayMs: 1, log: () => {} });
    front = await startHoldingGateway(simulator);
  });

  async function start(settings: NodeJS.ProcessEnv = {}): Promise<void> {
    test = await startTestConsole(undefined, {
      ...{ CHANNELS: '63902=simulator', SIMULATOR_URL: front.url },
      ...{ SIMULATOR_SETTLING_WINDOW_MS: '1', ...settings },
    });
    database = test.service.database;
    merchant = await createTestMerchant(test.service);
    support = await logIn(test, await newMember(test, 'support'));
  }

  afterEach(async () => {
    await expectSoundLedger(database);
    await test.close();
    front.close();
    await simulator.close();
  });

  async function newOverduePayout(): Promise<Payout> {
    const payout = await newPayout(database, merchant);
    await rewrite(
      database,
      `UPDATE payouts SET deadline_at = now() - interval '1 hour', next_step = 'poll'
       WHERE id = :id`,
      payout,
    );
    return payout;
  }

  /** The gateway has paid it, and lists it. Without such a line a statement rules nothing out. */
  async function newPaidPayout(): Promise<Payout> {
    const payout = await newOverduePayout();
    await payAt(simulator, payout);
    return payout;
  }

  /** Fetches the statement of these days, and stores it as a draft. */
  async function fetchStatement(fields = {}) {
    await support.get('/reconciliation/new');
    const days = { channel: '63902', from: day(-1), to: day(1), kind: 'payout' };
    const more = { utc_offset: '+03:00', reason: 'Daily', ...fields };
    return support.postFile('/reconciliation/new', { ...days, ...more });
  }

  const shows = (browser: ConsoleClient, path: string, words: string) =>
    eventually(words, async () => {
      const { text } = await browser.get(path);
      return text.includes(words) && text;
    });

  it('is compared with the books, and settles what the gateway knows', async () => {
    await start();
    const [paid, lost] = [await newPaidPayout(), await newOverduePayout()];
    const { status, location } = await fetchStatement();
    expect(status).to.equal(303);
    const draft = (await support.get(location!)).text.replace(/\s+/g, ' ');
    expect(draft).to.include('0 of 1 line repeat').and.include('1 name an open payment');
    expect(draft).to.include('1 overdue payments are not in it');
    expect((await reread(database, paid)).status).to.equal('pending');
    await support.post(`${location}/run`, { reason: 'Daily' });
    await shows(support, location!, 'Lines that match');
    expect((await reread(database, paid)).status).to.equal('completed');
    expect((await reread(database, lost)).status).to.equal('failed');
  });

  it('is refused with the gateway’s reason, and then nothing is stored', async () => {
    await start({ SIMULATOR_URL: 'http://127.0.0.1:9' });
    const { status, text } = await fetchStatement();
    expect([status, text.includes('The gateway gave no statement')]).to.deep.equal([422, true]);
    expect(await rows(database, 'SELECT 1 FROM statement_imports')).to.have.length(0);
  });

  it('is compared to its end before the process stops, and once at a time', async () => {
    await start();
    await newPaidPayout();
    const payout = await newOverduePayout();
    const letGo = front.hold();
    const { location } = await fetchStatement();
    await support.get(location!);
    await support.post(`${location}/run`, { reason: 'Daily' });
    await eventually('the question', async () => front.asked() === 1);
    const { text } = await support.get(location!);
    expect(text).to.include('The comparison goes on').and.not.include('Begin it again');
    expect((await support.post(`${location}/run`, { reason: 'Daily' })).status).to.equal(422);
    const stopped = test.stop();
    letGo();
    await stopped;
    expect((await support.get(location!)).text).to.include('Payments that failed by it');
    expect((await reread(database, payout)).status).to.equal('failed');
  });

  it('says when its comparison was cut off, and goes on when somebody begins it again', async () => {
    await start(NO_GRACE);
    await newPaidPayout();
    const payouts = [await newOverduePayout(), await newOverduePayout()];
    const statuses = async () =>
      Promise.all(payouts.map(async (payout) => (await reread(database, payout)).status));
    const letGo = front.hold();
    const { location } = await fetchStatement();
    await support.get(location!);
    await support.post(`${location}/run`, { reason: 'Daily' });
    await eventually('the question', async () => front.asked() === 1);
    const stopped = test.stop();
    // The signal to stop comes in a turn of its own.
    await support.get(location!);
    letGo();
    await stopped;
    expect(await statuses()).to.have.members(['failed', 'pending']);

    const viewer = await logIn(test, await newMember(test, 'viewer'));
    expect((await viewer.get(location!)).text)
      .to.include('stopped before its end')
      .and.not.include('Begin it again');
    const { owner } = test.testDatabase;
    const other = await startTestConsole({ ...test.service, owner });
    const again = await logIn(other, await newMember(other, 'support'));
    expect((await again.get(location!)).text).to.include('Begin it again');
    await again.post(`${location}/run`, { reason: 'It was cut off' });
    await shows(again, location!, 'Lines that match');
    expect(await statuses()).to.deep.equal(['failed', 'failed']);
    await other.close();
  });

  it('says that its comparison has stopped when the process was killed', async () => {
    await start();
    await newPaidPayout();
    const letGo = front.hold();
    await newOverduePayout();
    const { location } = await fetchStatement();
    await support.get(location!);
    await support.post(`${location}/run`, { reason: 'Daily' });
    await eventually('the question', async () => front.asked() === 1);
    await rows(database, `UPDATE leases SET held_until = now() - interval '1 second'`);
    expect((await support.get(location!)).text).to.include('stopped before its end');
    letGo();
  });
});
