import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../scripts/sandbox/embedded/postgres.ts';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { databaseWarnings } from '../../src/connections/database-warnings.ts';
import { databaseProblem } from '../../src/connections/readiness.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { environment } from '../support/environment.ts';
import { makeFolder } from '../support/make-folder.ts';
import { type ProcessStack, startProcessStack } from '../support/process-stack.ts';
import { describeWith } from '../support/programs.ts';

const run = promisify(execFile);

describeWith(['openssl'], 'PostgreSQL over TLS', () => {
  let certificates: Certificates;
  let postgres: EmbeddedPostgres;
  /** With the host name that the certificate is for. */
  let url: string;

  before(async () => {
    certificates = await makeCertificates('DNS:localhost');
    const folder = makeFolder('tls');
    postgres = await startEmbeddedPostgres({
      folder,
      reaper: environment.reaper,
      settings: { ssl: 'on', ssl_cert_file: certificates.cert, ssl_key_file: certificates.key },
    });
    url = postgres.url.replace('127.0.0.1', 'localhost');
  });

  after(() => postgres.stop());

  /** What boot says, and whether the connection was encrypted. */
  async function attempt(env: Record<string, string>) {
    const config = loadConfig({ DATABASE_URL: url, ...env });
    const database = openDatabase(config, 2);
    try {
      const problem = await databaseProblem(database);
      if (problem) return { problem };
      const [row] = await rows<{ ssl: boolean }>(
        database,
        'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      );
      return { ssl: row!.ssl, warnings: await databaseWarnings(database, config, 'web') };
    } finally {
      await database.destroy();
    }
  }

  it('is proven with the CA, given as a file or as text', async () => {
    const text = readFileSync(certificates.ca, 'utf8');
    for (const ca of [certificates.ca, text, text.trim().replaceAll('\n', '\\n')]) {
      expect(await attempt({ DATABASE_CA: ca })).to.deep.equal({ ssl: true, warnings: [] });
    }
    const env = { DATABASE_CA: certificates.ca, DATABASE_SSL: 'verify' };
    expect(await attempt(env)).to.deep.equal({ ssl: true, warnings: [] });
  });

  it('is proven whatever weaker word stands in the address', async () => {
    for (const words of ['sslmode=disable', 'sslmode=no-verify', 'sslmode=require&ssl=0']) {
      const env = { DATABASE_URL: `${url}?${words}`, DATABASE_CA: certificates.strangeCa };
      expect((await attempt(env)).problem, words).to.match(/signed by nobody who is trusted/);
      env.DATABASE_CA = certificates.ca;
      expect(await attempt(env), words).to.deep.equal({ ssl: true, warnings: [] });
    }
  });

  it('is refused with a line that says what to do', async () => {
    const trusted = { DATABASE_CA: certificates.ca };
    const REFUSED: [string, Record<string, string>, RegExp][] = [
      ['another CA', { DATABASE_CA: certificates.strangeCa }, /give its CA in DATABASE_CA$/],
      ['no CA', { DATABASE_SSL: 'verify' }, /give its CA in DATABASE_CA$/],
      ['sslmode=require alone', { DATABASE_URL: `${url}?sslmode=require` }, /in DATABASE_CA$/],
      ['another host', { ...trusted, DATABASE_URL: postgres.url }, /for another host/],
      [
        'no TLS there',
        { ...trusted, DATABASE_URL: environment.serverUrl },
        /does not speak TLS: switch that on there, or remove/,
      ],
    ];
    for (const [what, env, expected] of REFUSED) {
      const { problem } = await attempt(env);
      expect(problem, what).to.match(/^DATABASE_URL cannot be used: /);
      expect(problem, what).to.match(expected);
      const queues = await createQueueBackend({
        ...loadConfig({ DATABASE_URL: url, ...env }),
        redisUrl: undefined,
      }).problem();
      expect(queues, `${what}, for the queues`).to.match(expected);
    }
  });

  it('is encrypted without proof only when that is asked for, and then warned of', async () => {
    const unverified = { DATABASE_SSL: 'no-verify', DATABASE_URL: postgres.url };
    const asked = [unverified, { DATABASE_URL: `${url}?sslmode=no-verify` }];
    for (const env of asked) {
      const { ssl, warnings } = await attempt(env);
      expect(ssl).to.equal(true);
      expect(warnings).to.have.length(1);
      expect(warnings![0]).to.match(/nothing proves who/);
    }
    expect(await attempt({})).to.deep.equal({ ssl: false, warnings: [] });
  });

  it('stops the release step with one line', async () => {
    const env = { PATH: process.env.PATH, DATABASE_URL: url, DATABASE_CA: certificates.strangeCa };
    const failed = await migrate(env).catch((error) => error);
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.match(/^DATABASE_URL cannot be used: its certificate is.*\n$/);
  });

  describe('with the queues in it', () => {
    let database: Database;
    let stack: ProcessStack;

    before(async () => {
      const env = { DATABASE_URL: url, DATABASE_CA: certificates.ca };
      await migrate({ PATH: process.env.PATH, ...env });
      database = openDatabase(loadConfig(env), 2);
      stack = await startProcessStack({ database, env, shape: 'web and worker' });
    });

    after(async () => {
      await stack?.stop();
      await database?.destroy();
    });

    it('carries every connection of a web and a worker process, 16 at most', async () => {
      const counts: number[] = [];
      const plain: unknown[] = [];
      await stack.play(30, async () => {
        const found = await rows<{ ssl: boolean; state: string }>(
          database,
          `SELECT application_name, state, ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
           WHERE backend_type = 'client backend' AND application_name <> 'malipo'`,
        );
        counts.push(found.length);
        plain.push(...found.filter(({ ssl, state }) => !ssl && state !== 'starting'));
      });
      expect(plain).to.deep.equal([]);
      expect(Math.max(...counts)).to.be.within(3, 16);
      expect(stack.complaints()).to.deep.equal([]);
    });
  });
});

function migrate(env: NodeJS.ProcessEnv) {
  return run(process.execPath, ['--import', 'tsx', 'scripts/migrate.ts'], { env });
}
