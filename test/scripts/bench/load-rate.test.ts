import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { LoadOrder } from '../../../scripts/bench/load/order.ts';
import { runOrder } from '../../../scripts/bench/load/run-order.ts';

const PER_SECOND = 200;
const COUNT = 20;
const ONE_AN_HOUR = 1 / 3_600;
const A_MINUTE_MS = 60_000;

describe('The load generator', () => {
  let server: Server;
  let url: string;
  let answer: (end: () => void) => void;

  before(async () => {
    server = createServer((_request, response) => answer(() => response.end()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const order = (more: Partial<LoadOrder>): LoadOrder => ({
    work: { kind: 'get', url, token: null },
    concurrency: COUNT,
    warmUp: { count: 0, durationMs: 0 },
    measured: { count: COUNT, durationMs: 30_000 },
    ...more,
  });

  it('at a rate ends when no more will be due in its time', async () => {
    answer = (end) => end();
    const measured = { count: COUNT, durationMs: A_MINUTE_MS };
    const { latenciesMs, madeCount } = await runOrder(order({ perSecond: ONE_AN_HOUR, measured }));
    expect(latenciesMs).to.have.length(1);
    expect(madeCount).to.equal(1);
  });

  it('at a rate sends nothing before it is due', async () => {
    answer = (end) => end();
    const { latenciesMs } = await runOrder(order({ perSecond: PER_SECOND }));
    expect(latenciesMs).to.have.length(COUNT);
    // They count from when it was due.
    expect(latenciesMs.filter((latencyMs) => latencyMs < 0)).to.deep.equal([]);
  });

  it('at a rate waits for no answer before it goes on', async () => {
    const held: (() => void)[] = [];
    answer = (end) => {
      held.push(end);
      if (held.length === COUNT) for (const release of held) release();
    };
    const { latenciesMs } = await runOrder(order({ perSecond: PER_SECOND }));
    expect(latenciesMs).to.have.length(COUNT);
  });

  it('has no more under way than it may, and counts what had to wait from when it was due', async () => {
    let underWay = 0;
    let most = 0;
    answer = (end) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setTimeout(() => {
        underWay -= 1;
        end();
      }, 20);
    };
    const { latenciesMs } = await runOrder(order({ concurrency: 2, perSecond: 1_000 }));
    expect(most).to.equal(2);
    expect(latenciesMs.at(-1)).to.be.above(latenciesMs[0]!);
  });
});
