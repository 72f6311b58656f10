import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../scripts/sandbox/embedded/redis.ts';
import { findFreePort } from '../../scripts/sandbox/processes/port.ts';
import { openDatabase, rows } from '../../src/connections/database.ts';
import { roleDefaultsProblem } from '../../src/connections/migrations.ts';
import { databaseProblem } from '../../src/connections/readiness.ts';
import { createQueueBackend } from '../../src/jobs/backend.ts';
import { loadConfig } from '../../src/service/service.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { expectRightBooks } from '../support/ledger-check.ts';
import { type Pgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { type ProcessStack, startProcessStack } from '../support/process-stack.ts';
import { describeWith } from '../support/programs.ts';

const run = promisify(execFile);

/** Far fewer than the processes open to PgBouncer: sessions change hands all the time. */
const SERVER_CONNECTIONS = 4;
const PAYMENTS_OF_EACH_KIND = 15;
const PASSWORD = 'redis-password';

describeWith(
  ['pgbouncer', 'redis-server', 'openssl'],
  'The whole service behind PgBouncer by transaction',
  () => {
    let testDatabase: TestDatabase;
    let pgbouncer: Pgbouncer;
    let certificates: Certificates;
    let redis: EmbeddedRedis;
    let env: Record<string, string>;
    let stack: ProcessStack | undefined;

    before(async () => {
      testDatabase = await createTestDatabase();
      // As of a server that nobody has set up for us.
      await testDatabase.owner.raw(
        `ALTER DATABASE ${new URL(testDatabase.url).pathname.slice(1)} SET timezone = 'Africa/Nairobi'`,
      );
      pgbouncer = await startPgbouncer(testDatabase.url, SERVER_CONNECTIONS);
      certificates = await makeCertificates('DNS:localhost');
      const tlsPort = String(await findFreePort());
      redis = await startEmbeddedRedis({
        reaper: environment.reaper,
        args: [
          ...['--tls-port', tlsPort, '--tls-cert-file', certificates.cert],
          ...['--tls-key-file', certificates.key, '--tls-ca-cert-file', certificates.ca],
          ...['--tls-auth-clients', 'no', '--requirepass', PASSWORD],
        ],
      });
      env = {
        DATABASE_URL: pgbouncer.url,
        DATABASE_POOLING: 'transaction',
        REDIS_URL: `rediss://default:${PASSWORD}@localhost:${tlsPort}`,
        REDIS_CA: certificates.ca,
      };
    });

    after(async () => {
      await stack?.stop();
      await redis?.stop();
      await pgbouncer?.stop();
      await testDatabase?.drop();
    });

    async function problemWith(settings: Record<string, string>): Promise<string | null> {
      const database = openDatabase(loadConfig(settings), 1);
      try {
        return (await databaseProblem(database)) ?? (await roleDefaultsProblem(database));
      } finally {
        await database.destroy();
      }
    }

    it('refuses to start without the setting, and says which', async () => {
      expect(await problemWith({ ...env, DATABASE_POOLING: 'session' })).to.equal(
        'DATABASE_URL cannot be used: it is PgBouncer: set DATABASE_POOLING=transaction',
      );
    });

    it('refuses to start before the release step has set up the role', async () => {
      const problem = await problemWith(env);
      expect(problem).to.match(/^The sessions behind DATABASE_URL lack statement_timeout=15000, /);
      expect(problem).to.include('npm run migrate');
    });

    it('is set up by the release step, which may run again', async () => {
      const migrate = () =>
        run(process.execPath, ['--import', 'tsx', 'scripts/migrate.ts'], {
          env: { PATH: process.env.PATH, ...env, DATABASE_MIGRATION_URL: testDatabase.ownerUrl },
        });
      expect((await migrate()).stdout).to.match(/are defaults of the role now\n$/);
      expect((await migrate()).stdout).to.match(/are defaults of the role\n$/);
      expect(await problemWith(env)).to.equal(null);
    });

    it('takes payments to their webhooks without a warning, on four connections', async () => {
      stack = await startProcessStack({
        database: testDatabase.database,
        env,
        shape: 'every type',
      });
      const counts: number[] = [];
      const lent: unknown[] = [];
      await stack.play(PAYMENTS_OF_EACH_KIND, async () => {
        const found = await rows<{ application_name: string }>(
          testDatabase.database,
          `SELECT application_name FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend'
             AND application_name <> 'malipo-test'`,
        );
        counts.push(found.length);
        lent.push(...found.map(({ application_name }) => application_name));
      });
      expect(Math.max(...counts)).to.be.at.most(SERVER_CONNECTIONS);
      expect([...new Set(lent)]).to.include.members(['malipo-web', 'malipo-submission']);
      await expectRightBooks(testDatabase.database, stack.merchant.merchant_id);
      expect(stack.complaints()).to.deep.equal([]);
    });

    it('is refused a Redis that cannot be proven or that wants another password', async () => {
      const problem = (changed: Record<string, string>) =>
        createQueueBackend({
          ...loadConfig({ ...env, ...changed }),
          installationId: 'test',
        }).problem();
      expect(await problem({})).to.equal(null);
      expect(await problem({ REDIS_CA: readFileSync(certificates.ca, 'utf8') })).to.equal(null);
      expect(await problem({ REDIS_CA: '' })).to.match(/give its CA in REDIS_CA$/);
      expect(await problem({ REDIS_CA: certificates.strangeCa })).to.match(/CA in REDIS_CA$/);
      const at = (from: string, to: string) => ({ REDIS_URL: env.REDIS_URL!.replace(from, to) });
      expect(await problem(at('localhost', '127.0.0.1'))).to.match(/for another host/);
      expect(await problem(at(PASSWORD, 'wrong'))).to.match(/WRONGPASS/);
    });
  },
);
