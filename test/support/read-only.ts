import { openDatabase, rows } from '../../src/connections/database.ts';
import { environment } from './environment.ts';

/** As a provider does when the disk is full: ends every session; those to come can only read. */
export async function makeReadOnly(databaseUrl: string): Promise<void> {
  await setReadOnly(databaseUrl, 'on');
}

/** The same back. Sessions that can only read are ended, too. */
export async function makeWritable(databaseUrl: string): Promise<void> {
  await setReadOnly(databaseUrl, 'off');
}

async function setReadOnly(databaseUrl: string, value: 'on' | 'off'): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const server = openDatabase(environment.serverUrl, 1, 'malipo-test');
  try {
    await rows(server, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
    await rows(
      server,
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = :name',
      { name },
    );
  } finally {
    await server.destroy();
  }
}
