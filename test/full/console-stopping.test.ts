import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { startProcess } from '../../scripts/sandbox/stack.ts';
import { type Simulator, startSimulator } from '../../scripts/simulator/server.ts';
import { formatAmount } from '../../src/domain/money.ts';
import type { StatementLine } from '../../src/domain/reconciliation/statement.ts';
import { DAY_MS } from '../../src/time.ts';
import {
  freshOtp,
  logIn,
  newMember,
  startTestConsole,
  type TestConsole,
} from '../support/console.ts';
import { consoleClient } from '../support/console-client.ts';
import { rewrite } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { type HoldingGateway, startHoldingGateway } from '../support/holding-gateway.ts';
import { expectSoundLedger } from '../support/ledger-check.ts';
import { makeFolder } from '../support/make-folder.ts';
import { newPayout } from '../support/payment-kinds.ts';
import { PROGRAMS_FROM } from '../support/programs.ts';
import { linesAround } from '../support/statements.ts';
import { createTestMerchant } from '../support/test-merchant.ts';

/** Longer than a console takes to stop, and shorter than it lets comparisons go on. */
const HELD_MS = 3_000;
const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);

function csvOf(lines: StatementLine[]): string {
  const rowsOf = lines.map(({ reference, transId, account, amountCents, completedAt }) =>
    [reference, transId, account, formatAmount(amountCents), completedAt.toISOString()].join(','),
  );
  return ['reference,trans_id,account,amount,completed_at', ...rowsOf].join('\n');
}

describe('A console process that is told to stop', () => {
  let simulator: Simulator;
  let gateway: HoldingGateway;
  let settings: NodeJS.ProcessEnv;
  let other: TestConsole;

  before(async () => {
    simulator = await startSimulator({ port: 0, delayMs: 1, log: () => {} });
    gateway = await startHoldingGateway(simulator);
    settings = {
      ...{ CHANNELS: '63902=simulator', SIMULATOR_URL: gateway.url },
      SIMULATOR_SETTLING_WINDOW_MS: '1',
    };
    other = await startTestConsole(undefined, settings);
  });

  after(async () => {
    await expectSoundLedger(other.service.database);
    await other.close();
    gateway.close();
    await simulator.close();
  });

  it('lets the comparison under way come to its end, and exits with 0', async () => {
    const { database } = other.service;
    const merchant = await createTestMerchant(other.service);
    const { id } = await newPayout(database, merchant);
    // Lines of known payouts from before and after prove that the file lists what happens.
    const known = (await linesAround(database, merchant)).filter(({ kind }) => kind === 'payout');
    await rewrite(
      database,
      `UPDATE payouts SET deadline_at = now() - interval '1 hour', next_step = 'poll'
       WHERE id = :id`,
      { id },
    );
    const CONSOLE_PORT = String(await findFreePort());
    const CONSOLE_URL = `http://127.0.0.1:${CONSOLE_PORT}`;
    const DATABASE_URL = other.testDatabase.url;
    const env = { PATH: process.env.PATH, DATABASE_URL, CONSOLE_PORT, CONSOLE_URL, ...settings };
    const console = await startProcess('console', {
      ...{ env, logFolder: makeFolder('console-stopping') },
      ...{ reaper: environment.reaper, from: PROGRAMS_FROM },
    });
    const client = () => consoleClient(CONSOLE_URL);
    const support = await logIn({ ...other, client }, await newMember(other, 'support'));
    await support.get('/reconciliation/new');
    const fields = { channel: '63902', from: '2000-01-01', to: day(1), utc_offset: '+03:00' };
    const complete_until = new Date().toISOString();
    const form = { ...fields, kind: 'payout', complete_until, reason: 'Daily' };
    const file = new File([csvOf(known)], 'payouts.csv');
    const { location } = await support.postFile('/reconciliation/new', { ...form, file });
    const colleague = await logIn({ ...other, client }, await newMember(other, 'support'));
    await colleague.get(location!);
    const letGo = gateway.hold();
    const otp = await freshOtp(other, colleague);
    await colleague.post(`${location}/run`, { reason: 'Daily', otp });
    await eventually('the question', async () => gateway.asked() === 1);

    process.kill(console.pid, 'SIGTERM');
    // A process that waits for nothing has ended by then.
    await Promise.race([console.exited, sleep(HELD_MS, null, { ref: false })]);
    letGo();
    expect(await console.exited).to.equal('exit status 0');
    const viewer = await logIn(other, await newMember(other, 'viewer'));
    expect((await viewer.get(location!)).text).to.include('Payments that failed by it');
  });
});
