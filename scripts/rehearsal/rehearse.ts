import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/connections/database.ts';
import { loadConfig } from '../../src/service/service.ts';
import { darajaSettings } from '../daraja-simulator/service-settings.ts';
import { makeDatabase } from '../sandbox/database.ts';
import { demonstrate } from '../sandbox/demonstration.ts';
import { startEmbeddedPostgres } from '../sandbox/embedded/postgres.ts';
import { startMerchantReceiver } from '../sandbox/merchant-receiver.ts';
import { findFreePort } from '../sandbox/processes/port.ts';
import { startReaper } from '../sandbox/processes/reaper.ts';
import { startTlsFront } from '../sandbox/processes/tls-front.ts';
import { ROOT_FOLDER } from '../sandbox/programs.ts';
import { seedMerchant } from '../sandbox/seed.ts';
import { seedTeam } from '../sandbox/seed-staff.ts';
import { startProcess } from '../sandbox/stack.ts';

/** The processes of production. The rehearsal starts each from the build. */
const TYPES = [
  'web',
  'console',
  'dispatcher',
  'submission',
  'settlement',
  'refunds',
  'webhooks',
] as const;

const [folder = '', ...words] = process.argv.slice(2);
const stops: (() => Promise<unknown>)[] = [];
const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => resolve());
});

try {
  const where = await rehearse();
  console.log(words.includes('--exit') ? '\nDone.' : where);
  if (!words.includes('--exit')) await stopped;
} catch (error) {
  console.error(`\n${(error as Error).stack}`);
  process.exitCode = 1;
} finally {
  for (const stop of stops.reverse()) await stop().catch(() => {});
  process.exit();
}

/**
 * Does what the handbook says of an installation, and then takes payments: a database of two roles, the release step,
 * every process from the build in production mode by HTTPS, and Daraja by HTTPS. Only the webhooks go to an address of
 * this machine, which production forbids.
 * @returns where everything is
 */
async function rehearse(): Promise<string> {
  const reaper = await startReaper();
  stops.push(() => reaper.close());
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), reaper });
  stops.push(() => postgres.stop());
  const [service, owner] = await makeDatabase(postgres.url);
  say('PostgreSQL', 'with two roles: the owner of the tables, and the service');
  const logFolder = join(folder, 'logs');
  mkdirSync(logFolder);
  const daraja = await startDaraja();
  const env = await environmentOf(service, daraja);
  execFileSync(process.execPath, ['dist/scripts/migrate.js'], {
    cwd: ROOT_FOLDER,
    env: { ...env, DATABASE_MIGRATION_URL: owner },
  });
  say('release step', 'the tables are there, and the service has its rights');
  const config = loadConfig(env);
  const database = openDatabase(config, 2, 'malipo-rehearsal');
  stops.push(() => database.destroy());
  const merchant = await seedMerchant(
    database,
    config.secretsKeys,
    'Duka la Mfano',
    '+254711000001',
  );
  const { staff } = await seedTeam(database, config.secretsKeys);
  const receiver = await startMerchantReceiver(merchant.app_secret);
  const hook = await startTlsFront(receiver.url, certificate());
  stops.push(() => hook.close());
  env.WEBHOOK_PORTS = new URL(hook.url).port;
  const start = (type: (typeof TYPES)[number]) =>
    startProcess(type, { env: { ...env, ...ownOf(type) }, logFolder, reaper, from: 'built' });
  const processes = await Promise.all(TYPES.map(start));
  stops.push(() => Promise.all(processes.map((each) => each.stop())));
  say('processes', `${TYPES.join(', ')}: in production mode, from dist/`);
  const file = join(folder, 'malipo.env');
  writeFileSync(file, textOf(env), { mode: 0o600 });
  const baseUrl = `${env.GATEWAY_CALLBACK_URL}/api/v1`;
  await demonstrate(
    { baseUrl, merchant, database, say: console.log },
    { ...receiver, url: hook.url },
  );
  return `
The rehearsal runs until Ctrl-C.

  settings     ${file}: as malipo.env of production
  command line set -a; . ${file}; ./bin/malipo daraja check
  API          curl --cacert ${env.NODE_EXTRA_CA_CERTS} ${baseUrl.replace('/api/v1', '/healthz')}
  console      ${env.CONSOLE_URL} (your browser does not know its certificate)
    e-mail     ${staff.email}
    password   ${staff.password}
    secret     ${staff.totp_secret} (of the one-time passwords, for an authenticator app)
  logs         ${logFolder}

The webhooks process alone is not in production mode: the merchant of this rehearsal is on this machine.`;

  /** @returns the address of a simulator of Daraja, by HTTPS */
  async function startDaraja(): Promise<string> {
    const port = String(await findFreePort());
    const { PATH, NODE_EXTRA_CA_CERTS } = process.env;
    const simulator = await startProcess('daraja', {
      env: { PATH, NODE_EXTRA_CA_CERTS, DARAJA_SIMULATOR_PORT: port },
      logFolder,
      reaper,
    });
    stops.push(() => simulator.stop());
    const front = await startTlsFront(`http://127.0.0.1:${port}`, certificate());
    stops.push(() => front.close());
    say('Daraja', `a simulator, by HTTPS on ${front.url}`);
    return front.url;
  }
}

async function environmentOf(databaseUrl: string, daraja: string): Promise<NodeJS.ProcessEnv> {
  const [port, consolePort] = [String(await findFreePort()), String(await findFreePort())];
  const key = () => `k1:${randomBytes(32).toString('base64')}`;
  const { cert, key: tlsKey } = certificate();
  const { PATH, NODE_EXTRA_CA_CERTS } = process.env;
  return {
    ...{ PATH, NODE_EXTRA_CA_CERTS },
    MALIPO_ENV: 'production',
    DATABASE_URL: databaseUrl,
    ...{ SECRETS_KEY: key(), JWT_KEYS: key(), CHANNELS: '63902=daraja', ...darajaSettings(daraja) },
    // Merchants know the service by this name. On this machine it has another one.
    PUBLIC_URL: 'https://pay.example.com',
    GATEWAY_CALLBACK_URL: `https://localhost:${port}`,
    ...{ HOST: '127.0.0.1', PORT: port, TLS_CERT: cert, TLS_KEY: tlsKey },
    ...{ CONSOLE_PORT: consolePort, CONSOLE_URL: `https://localhost:${consolePort}` },
  };
}

/** The settings of one process that differ: the merchant's receiver is on this machine. */
function ownOf(type: (typeof TYPES)[number]): NodeJS.ProcessEnv {
  return type === 'webhooks' ? { MALIPO_ENV: 'sandbox', WEBHOOK_ALLOW_PRIVATE: 'true' } : {};
}

function certificate(): { cert: string; key: string } {
  return { cert: join(folder, 'server.pem'), key: join(folder, 'server.key') };
}

/** Writes settings as a file that a shell reads. */
function textOf({ PATH: _, ...env }: NodeJS.ProcessEnv): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('');
}

function say(what: string, words: string): void {
  console.log(`  ${what.padEnd(13)}${words}`);
}
