import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { urlAs } from '../../scripts/sandbox/roles.ts';
import { type Database, openDatabase, rows } from '../../src/connections/database.ts';
import { roleWarning } from '../../src/connections/database-warnings.ts';
import { runRetention } from '../../src/domain/upkeep/run-retention.ts';
import { runAdmin } from '../support/admin-runs.ts';
import { asSuperuser } from '../support/database.ts';
import { environment } from '../support/environment.ts';
import { handbookSection } from '../support/handbook.ts';
import { describeWith } from '../support/programs.ts';

const run = promisify(execFile);
const ROLES_FILE = fileURLToPath(new URL('../../deploy/postgres/roles.sql', import.meta.url));
const PASSWORD = 'secret';

describeWith(['psql'], 'A database of two roles, on a server where nobody is a superuser', () => {
  const name = `two_roles_${randomBytes(6).toString('hex')}`;
  const roles = {
    admin: `${name}_admin`,
    owner: `${name}_owner`,
    service: `${name}_service`,
    people: `${name}_people`,
  };
  const urlOf = (role: string, database = name) =>
    urlAs(environment.serverUrl, role, PASSWORD, database);
  let service: Database;

  before(async () => {
    await asSuperuser(null, [
      `CREATE ROLE ${roles.admin} LOGIN CREATEROLE CREATEDB PASSWORD '${PASSWORD}'`,
    ]);
    service = openDatabase(urlOf(roles.service), 2);
  });

  after(async () => {
    await service.destroy();
    await asSuperuser(null, [
      `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
      ...Object.values(roles).map((role) => `DROP ROLE IF EXISTS ${role}`),
    ]);
  });

  const release = async (env: Record<string, string>) => {
    const child = run(process.execPath, ['--import', 'tsx', 'scripts/migrate.ts'], {
      env: { PATH: process.env.PATH, ...env },
    });
    return (await child).stdout;
  };

  it('is made by the file that operators run', async () => {
    const words = { database: name, owner: roles.owner, service: roles.service };
    const variables = Object.entries(words).flatMap((pair) => ['-v', pair.join('=')]);
    await run('psql', [urlOf(roles.admin, 'postgres'), ...variables, '-f', ROLES_FILE], {
      env: { PATH: process.env.PATH, MALIPO_OWNER_PASSWORD: PASSWORD, MALIPO_PASSWORD: PASSWORD },
    });
    const left = await rows(
      service,
      'SELECT rolname FROM pg_roles WHERE rolname = ANY(:names) AND (rolsuper OR rolcreaterole)',
      { names: [roles.owner, roles.service] },
    );
    expect(left).to.deep.equal([]);
  });

  it('is migrated as its owner, and gives the service its rights, again and again', async () => {
    const env = {
      DATABASE_URL: urlOf(roles.service),
      DATABASE_MIGRATION_URL: urlOf(roles.owner),
    };
    const last = `The role ${roles.service} has the rights that the service needs, and no others\n`;
    expect(await release(env)).to.match(new RegExp(`^Migrated: .*\n${last}$`));
    expect(await release(env)).to.equal(`The database is up to date\n${last}`);
    expect(await roleWarning(service)).to.equal(null);
    const removed = await runRetention(service, { actor: 'tester', reason: 'test' });
    expect(removed.filter(({ error }) => error !== null)).to.deep.equal([]);
    // The role's own defaults, for a pooler.
    const pooled = { ...env, DATABASE_POOLING: 'transaction', REDIS_URL: 'redis://127.0.0.1:1' };
    expect(await release(pooled)).to.match(/are defaults of the role now\n$/);
    const [found] = await rows<{ role: string }>(
      service,
      `SELECT CAST(setrole AS regrole) AS role FROM pg_db_role_setting
       WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect(found!.role).to.equal(roles.service);
  });

  it('knows people beside the service by a role of their own, which has the same rights', async () => {
    const [statement] = /^CREATE ROLE .* IN ROLE malipo;$/m.exec(handbookSection('The console'))!;
    const made = statement
      .replace('ROLE malipo;', `ROLE ${roles.service};`)
      .replace('malipo_break_glass', roles.people)
      .replace('…', PASSWORD);
    await asSuperuser(null, [made]);
    const pause = 'channel pause --channel 63902 --actor amina --reason drill';
    const env = { DATABASE_URL: urlOf(roles.people) };
    expect(await runAdmin(pause.split(' '), { env })).to.include({ status: 0, stderr: '' });
    const [line] = await rows(service, 'SELECT action, database_role FROM audit_log');
    expect(line).to.deep.equal({ action: 'channel.pause', database_role: roles.people });
  });

  it('cannot be migrated by the service’s role', async () => {
    await asSuperuser(name, ['DELETE FROM schema_migrations']);
    const failed = await release({ DATABASE_URL: urlOf(roles.service) }).catch((error) => error);
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.match(/^A migration failed; .*permission denied .*\n$/);
  });
});
