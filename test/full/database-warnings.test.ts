import { expect } from 'chai';
import { Redis } from 'ioredis';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../scripts/sandbox/embedded/postgres.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import {
  connectionsWarning,
  databaseWarnings,
  durabilityWarnings,
} from '../../src/connections/database-warnings.ts';
import { createRedisProbe, redisCondition } from '../../src/connections/redis.ts';
import { environment } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/make-folder.ts';
import { describeWith } from '../support/programs.ts';

describe('What boot warns of in PostgreSQL', () => {
  let postgres: EmbeddedPostgres;
  let database: Database;

  before(async () => {
    const folder = makeFolder('warnings');
    postgres = await startEmbeddedPostgres({
      ...{ folder, reaper: environment.reaper },
      // Enough for a standby that copies nothing.
      settings: { max_connections: '20', fsync: 'on', wal_level: 'replica', max_wal_senders: '2' },
    });
    database = openDatabase(postgres.url, 2);
  });

  after(async () => {
    await database.destroy();
    await postgres.stop();
  });

  it('is nothing while there is room', async () => {
    expect(await connectionsWarning(database, 10)).to.equal(null);
  });

  it('is too little room, with the numbers', async () => {
    const warning = await connectionsWarning(database, 18);
    expect(warning).to.match(/may open 18 connections/);
    expect(warning).to.match(
      /room for 17 \(max_connections without those reserved: 17, in use: 1\)/,
    );
    const others = openDatabase(postgres.url, 9);
    try {
      await Promise.all(Array.from({ length: 9 }, () => rows(others, 'SELECT pg_sleep(0.2)')));
      expect(await connectionsWarning(database, 10)).to.match(/room for 8 .*in use: 10\)/);
    } finally {
      await others.destroy();
    }
  });

  it('is the limit of the role or the database where that is lower', async () => {
    await rows(database, "CREATE ROLE small LOGIN PASSWORD 'small' CONNECTION LIMIT 4");
    const url = new URL(postgres.url);
    url.username = 'small';
    url.password = 'small';
    const limited = openDatabase(url.href, 1);
    try {
      expect(await connectionsWarning(limited, 5)).to.match(/limit of the role: 4, in use: 1/);
      await rows(database, 'ALTER DATABASE postgres CONNECTION LIMIT 3');
      expect(await connectionsWarning(limited, 5)).to.match(/limit of the database: 3, in use: 2/);
      expect(await durabilityWarnings(limited)).to.deep.equal([]);
    } finally {
      await limited.destroy();
      await rows(database, 'ALTER DATABASE postgres CONNECTION LIMIT -1');
    }
  });

  it('is a commit that does not wait for the disk', async () => {
    expect(await durabilityWarnings(database)).to.deep.equal([]);
    await rows(database, 'SET synchronous_commit = off');
    const [warning, ...others] = await durabilityWarnings(database);
    await rows(database, 'RESET synchronous_commit');
    expect(warning).to.match(/synchronous_commit=off\): a crash loses accepted payments/);
    expect(others).to.deep.equal([]);
  });
});

describe('A standby of PostgreSQL', () => {
  let postgres: EmbeddedPostgres;
  let database: Database;
  let standby: pg.Client;

  before(async () => {
    const folder = makeFolder('standby');
    const settings = { fsync: 'on' };
    postgres = await startEmbeddedPostgres({ folder, reaper: environment.reaper, settings });
    database = openDatabase(postgres.url, 2);
    // All that a primary sees of a standby is a client that asks for its log.
    const config = { connectionString: postgres.url, replication: 'true' };
    standby = new pg.Client(config as pg.ClientConfig);
    standby.on('error', () => {});
    await standby.connect();
    const { rows: found } = await standby.query('IDENTIFY_SYSTEM');
    standby.query(`START_REPLICATION PHYSICAL ${found[0].xlogpos}`).catch(() => {});
  });

  after(async () => {
    await database.destroy();
    (
      standby as unknown as { connection: { stream: { destroy(): void } } }
    ).connection.stream.destroy();
    await postgres.stop();
  });

  it('is warned of when commits do not wait for it', async () => {
    const [warning, ...others] = await eventually('the standby streams', async () => {
      const warnings = await durabilityWarnings(database);
      return warnings.length > 0 && warnings;
    });
    expect(warning).to.match(/standby that it does not wait for .*: a failover loses payments/);
    expect(others).to.deep.equal([]);
  });

  it('is warned of to a role that may not look at it', async () => {
    await rows(database, "CREATE ROLE service LOGIN PASSWORD 'service'");
    const service = openDatabase(postgres.url.replace(/\/\/[^@]+@/, '//service:service@'), 1);
    expect(await durabilityWarnings(service)).to.have.length(1);
    await service.destroy();
  });

  it('is no news when commits wait for it', async () => {
    await rows(database, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await rows(database, 'SELECT pg_reload_conf()');
    await eventually('no warning', async () => (await durabilityWarnings(database)).length === 0);
    await rows(database, 'SET synchronous_commit = local');
    expect((await durabilityWarnings(database))[0]).to.match(/synchronous_commit=local/);
  });
});

describe('A PostgreSQL that does not wait for its disk', () => {
  it('is warned of in production alone', async () => {
    const database = openDatabase(environment.serverUrl, 1);
    const [row] = await rows<{ fsync: string }>(database, 'SHOW fsync');
    const warnedIn = async (malipoEnv: 'development' | 'production') => {
      const base = { databaseUrl: environment.serverUrl, databasePoolMax: 2, redisUrl: undefined };
      const warnings = await databaseWarnings(database, { ...base, malipoEnv }, 'web');
      return warnings.filter((line) => line.includes('fsync=off')).length;
    };
    expect(await warnedIn('production')).to.equal(row!.fsync === 'off' ? 1 : 0);
    expect(await warnedIn('development')).to.equal(0);
    await database.destroy();
  });
});

describeWith(['redis-server'], 'What is told of a Redis that keeps the queues', () => {
  let redis: EmbeddedRedis;
  let owner: Redis;

  before(async () => {
    redis = await startEmbeddedRedis({ reaper: environment.reaper });
    owner = new Redis(redis.url);
    for (const [user, may] of Object.entries({ managed: '-config', silent: '-@dangerous' })) {
      await owner.acl('SETUSER', user, 'on', `>${user}`, '~*', '+@all', may);
    }
  });

  after(async () => {
    owner?.disconnect();
    await redis?.stop();
  });

  const as = (user: string) => ({ redisUrl: redis.url.replace('//', `//${user}:${user}@`) });
  const told = () => redisCondition({ redisUrl: redis.url });

  it('is nothing while it keeps them', async () => {
    expect(await told()).to.deep.equal({ problem: null, warnings: [] });
    const { problem, warnings } = await redisCondition(as('silent'));
    expect(problem).to.equal(null);
    expect(warnings.join()).to.match(/tells neither by CONFIG GET nor by INFO/);
  });

  it('is a policy that drops jobs, and a warning for one that drops only their locks', async () => {
    await owner.config('SET', 'maxmemory-policy', 'allkeys-lru');
    for (const address of [{ redisUrl: redis.url }, as('managed')]) {
      const { problem, warnings } = await redisCondition(address);
      expect(problem).to.match(/drops jobs .*maxmemory-policy allkeys-lru\): set it to noeviction/);
      expect(warnings).to.deep.equal([]);
    }
    await owner.config('SET', 'maxmemory-policy', 'volatile-ttl');
    const { problem, warnings } = await told();
    expect(problem).to.equal(null);
    expect(warnings.join()).to.match(/drops the locks of jobs .*maxmemory-policy volatile-ttl/);
    await owner.config('SET', 'maxmemory-policy', 'noeviction');
  });

  it('is that it is a replica, as long as it is one', async () => {
    await owner.replicaof('127.0.0.1', '1');
    expect((await told()).problem).to.match(/is a replica and takes no jobs/);
    await owner.replicaof('NO', 'ONE');
    expect((await told()).problem).to.equal(null);
  });

  it('is that it is away', async () => {
    const { problem } = await createRedisProbe({ redisUrl: 'redis://127.0.0.1:9' })();
    expect(problem).to.match(/^REDIS_URL cannot be used: .*ECONNREFUSED/);
  });
});
