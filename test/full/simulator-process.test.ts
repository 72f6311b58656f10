import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { startSimulator } from '../../scripts/simulator/server.ts';
import { bodyOf } from '../support/gateway-fixtures.ts';

const MAIN = 'scripts/simulator/main.ts';
const PAYMENT = {
  reference: 'ref-1',
  account: '+254700000000',
  amount: '100.00',
  callback_url: 'http://127.0.0.1:9/token',
};

describe('simulator process', () => {
  const start = (environment: Record<string, string>): ChildProcess =>
    spawn(process.execPath, ['--import', 'tsx', MAIN], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`says where it listens and exits cleanly on ${signal}, with payments open`, async () => {
      const child = start({ SIMULATOR_PORT: '0', SIMULATOR_DELAY_MS: '60000' });
      const [line] = await once(child.stdout!, 'data');
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line))![0];
      const body = JSON.stringify(PAYMENT);
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/collections`, { method: 'POST', headers, body });
      expect(answer.status).to.equal(202);
      child.kill(signal);
      expect((await once(child, 'exit'))[0]).to.equal(0);
    });
  }

  it('says in one line that its port is taken, or that a setting is wrong', async () => {
    const taken = await startSimulator({ port: 0 });
    for (const [environment, message] of [
      [{ SIMULATOR_PORT: String(taken.port) }, `Port ${taken.port} is already in use`],
      [{ SIMULATOR_PORT: '65536' }, 'SIMULATOR_PORT must be an integer from 0 to 65535'],
      [
        { SIMULATOR_PORT: '0', SIMULATOR_DELAY_MS: 'soon' },
        'SIMULATOR_DELAY_MS must be an integer',
      ],
    ] as const) {
      const child = start(environment);
      const [text, [code]] = await Promise.all([bodyOf(child.stderr!), once(child, 'exit')]);
      expect(code).to.equal(1);
      expect(text)
        .to.match(/^Gateway simulator cannot start: [^\n]+\n$/)
        .and.contain(message);
    }
    await taken.close();
  });
});
