import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { runRequests, runTasks } from '../../../../scripts/bench/load.ts';

const PER_SECOND = 200;
const COUNT = 20;
const ONE_AN_HOUR = 1 / 3_600;

describe('A load of tasks', () => {
  it('at a rate ends when no more will be due in its time', async () => {
    const load = { count: COUNT, durationMs: 60_000, concurrency: COUNT, perSecond: ONE_AN_HOUR };
    expect((await runTasks(async () => {}, load)).latenciesMs).to.have.length(1);
  });

  it('at a rate begins nothing before it is due', async () => {
    const begunMs: number[] = [];
    const startedAt = performance.now();
    const task = async () => begunMs.push(performance.now() - startedAt);
    await runTasks(task, { count: COUNT, concurrency: COUNT, perSecond: PER_SECOND });
    expect(begunMs).to.have.length(COUNT);
    for (const [index, ms] of begunMs.entries()) {
      expect(ms).to.be.at.least((index / PER_SECOND) * 1_000 - 1);
    }
  });

  it('at a rate waits for no end before it goes on', async () => {
    let begun = 0;
    let release: () => void;
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const task = async () => {
      begun += 1;
      if (begun === COUNT) release();
      await all;
    };
    const load = { count: COUNT, concurrency: COUNT, perSecond: PER_SECOND };
    expect((await runTasks(task, load)).latenciesMs).to.have.length(COUNT);
  });

  it('has no more under way than it may, and counts what had to wait from when it was due', async () => {
    let underWay = 0;
    let most = 0;
    const task = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await sleep(20);
      underWay -= 1;
    };
    const { latenciesMs } = await runTasks(task, {
      ...{ count: COUNT, concurrency: 2, perSecond: 1_000 },
    });
    expect(most).to.equal(2);
    expect(latenciesMs.at(-1)).to.be.above(latenciesMs[0]!);
  });

  it('counts tasks that fail, and goes on', async () => {
    const task = async (index: number) => {
      if (index % 2 === 1) throw new Error(`no ${index}`);
    };
    const round = await runTasks(task, { count: 4, concurrency: 1 });
    expect(round.errors).to.deep.equal(['no 1', 'no 3']);
    expect(round.latenciesMs).to.have.length(2);
  });
});

describe('A load of requests', () => {
  let server: Server;
  let url: string;
  const bodies: string[] = [];

  before(async () => {
    server = createServer(async (request, response) => {
      bodies.push((await request.toArray()).join(''));
      response.statusCode = request.headers['x-wrong'] ? 500 : 200;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends each request once', async () => {
    let next = 0;
    const request = () => ({ method: 'POST' as const, body: `${next++}` });
    const { latenciesMs, errors } = await runRequests(url, { concurrency: 3, count: 9 }, request);
    expect(latenciesMs).to.have.length(9);
    expect(errors).to.deep.equal([]);
    expect(bodies.toSorted()).to.deep.equal(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
  });

  it('counts every answer but a 200 as an error', async () => {
    const request = () => ({ headers: { 'x-wrong': 'yes' } });
    const round = await runRequests(url, { concurrency: 1, count: 3 }, request);
    expect(round.errors).to.deep.equal(Array(3).fill('HTTP status 500'));
    expect(round.latenciesMs).to.deep.equal([]);
  });
});
