import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from '../../support/gateway-fixtures.ts';
import { type Caller, PATHS, phoneOf, resultOf, startCaller } from './daraja-caller.ts';

const MAIN = 'scripts/daraja-simulator/main.ts';

describe('Daraja simulator: server', () => {
  let caller: Caller;
  before(async () => {
    caller = await startCaller();
  });
  after(() => caller.close());

  it('states every movement once, with the reference by which its caller knows it', async () => {
    const phone = phoneOf('000');
    const push = await caller.post(PATHS.stkPush, caller.bodies.stkPush(phone, 'in'));
    const [collected] = await eventually(async () => {
      const lines = await caller.statement();
      return lines.length === 1 ? lines : undefined;
    });
    const payout = caller.bodies.b2c(phone, 'out', { Amount: '40' });
    await caller.post(PATHS.b2c, payout);
    await caller.callbacks('out');
    const reversal = await caller.post(
      PATHS.reversal,
      caller.bodies.reversal(collected!.trans_id, 'back'),
    );
    expect(String(resultOf((await caller.callbacks('back'))[0]!).ResultCode)).to.equal('0');
    const lines = await caller.statement();
    const account = `+${phone}`;
    expect(lines.map(({ trans_id: _, completed_at: __, ...line }) => line)).to.deep.equal([
      {
        ...{ reference: push.body.CheckoutRequestID, kind: 'collection', account },
        ...{ amount: '100.00', account_reference: 'Shop INV-1' },
      },
      { reference: payout.OriginatorConversationID, kind: 'payout', account, amount: '40.00' },
      {
        ...{ reference: reversal.body.OriginatorConversationID, kind: 'reversal', account },
        amount: '100.00',
      },
    ]);
    expect(new Set(lines.map(({ trans_id }) => trans_id)).size).to.equal(3);
    const [, second, third] = lines;
    const only = `?reference=${encodeURIComponent(second!.reference)}`;
    expect(await caller.statement(only)).to.deep.equal([second]);
    expect(await caller.statement(`?from=${third!.completed_at}`)).to.deep.include(third);
    expect(await caller.statement(`?to=${collected!.completed_at}`)).to.deep.equal([]);
    expect((await caller.call('GET', '/statement?from=a&from=b')).status).to.equal(400);
  });

  it('counts the requests of each path', async () => {
    const before = (await caller.call('GET', '/counts')).body as Record<string, number>;
    await caller.renewToken();
    await caller.post(PATHS.b2c, {});
    const after = (await caller.call('GET', '/counts')).body as Record<string, number>;
    expect(after['/oauth/v1/generate']! - before['/oauth/v1/generate']!).to.equal(1);
    expect(after[PATHS.b2c]! - before[PATHS.b2c]!).to.equal(1);
    expect(after).to.have.all.keys('/oauth/v1/generate', ...Object.values(PATHS));
  });

  it('says that it is well', async () => {
    expect((await caller.call('GET', '/health')).body).to.deep.equal({ status: 'ok' });
  });

  it('runs as a process of its own and exits cleanly', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', MAIN], {
      env: { ...process.env, DARAJA_SIMULATOR_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line))![0];
    expect((await fetch(`${url}/health`)).status).to.equal(200);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).to.equal(0);
  });
});
