import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import {
  type EmbeddedRedis,
  startEmbeddedRedis,
} from '../../../../scripts/sandbox/embedded/redis.ts';
import { type Reaper, startReaper } from '../../../../scripts/sandbox/processes/reaper.ts';
import { describeWith } from '../../../support/programs.ts';
import { eventually, isRunning, killAll, launch } from './launched.ts';

const LOOK_AGAIN_MS = 200;

describeWith(['redis-server'], 'the embedded Redis', () => {
  let reaper: Reaper;
  let server: EmbeddedRedis | null = null;
  let client: Redis | null = null;

  before(async () => {
    reaper = await startReaper();
  });

  after(() => reaper.close());

  afterEach(async () => {
    client?.disconnect();
    await server?.stop();
    client = null;
    server = null;
  });

  async function start(): Promise<{ redis: EmbeddedRedis; connection: Redis }> {
    const redis = await startEmbeddedRedis({ reaper });
    server = redis;
    const connection = new Redis(redis.url);
    connection.on('error', () => {});
    client = connection;
    return { redis, connection };
  }

  it('answers, and forgets everything over a restart on its port', async () => {
    const { redis, connection } = await start();
    const { pid, port } = redis;
    expect(await connection.set('key', 'value')).to.equal('OK');
    await redis.restart();
    expect(redis.port).to.equal(port);
    expect(redis.pid).not.to.equal(pid);
    expect(await connection.get('key')).to.equal(null);
  });

  it('never drops a job to make room', async () => {
    const { connection } = await start();
    const policy = await connection.config('GET', 'maxmemory-policy');
    expect(policy).to.deep.equal(['maxmemory-policy', 'noeviction']);
  });

  it('answers nothing while it is paused and everything afterwards', async () => {
    const { redis, connection } = await start();
    await connection.ping();
    redis.pause();
    let hasAnswered = false;
    const answer = connection.ping().finally(() => {
      hasAnswered = true;
    });
    await delay(LOOK_AGAIN_MS);
    expect(hasAnswered).to.equal(false);
    redis.resume();
    expect(await answer).to.equal('PONG');
  });

  it('can be stopped while it is paused', async () => {
    const { redis } = await start();
    redis.pause();
    await redis.stop();
    expect(isRunning(redis.pid)).to.equal(false);
  });

  it('ends when its launcher is killed', async () => {
    const { launcher, report } = await launch({ redis: true });
    try {
      launcher.kill('SIGKILL');
      await eventually('it has ended', () => !report.pids.some(isRunning));
    } finally {
      killAll([launcher.pid, ...report.pids]);
    }
  });
});
