import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { type Database, poolOf } from '../connections/database.ts';

/** Adds what a process is, and how it is: memory, event loop, and its database connections. */
export function addProcessMetrics(
  registry: Registry,
  types: readonly string[],
  database: Database,
): void {
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const info = new Gauge({
    name: 'malipo_build_info',
    help: 'Always 1: one for each type that this process is of',
    labelNames: ['version', 'type'] as const,
    registers,
  });
  for (const type of types) info.set({ version: version(), type }, 1);
  const pool = poolOf(database);
  new Gauge({
    name: 'malipo_database_pool_connections',
    help: 'Database connections of this process, those of a PostgreSQL queue backend not counted',
    labelNames: ['state'] as const,
    registers,
    collect() {
      this.set({ state: 'used' }, pool.numUsed());
      this.set({ state: 'free' }, pool.numFree());
    },
  });
  new Gauge({
    name: 'malipo_database_pool_limit',
    help: 'Database connections that this process may have',
    registers,
    collect() {
      this.set(pool.max);
    },
  });
  new Gauge({
    name: 'malipo_database_pool_waiting',
    help: 'Who waits now for a database connection',
    registers,
    collect() {
      this.set(pool.numPendingAcquires());
    },
  });
}

/** The package file is at the top of a checkout, and beside what was built. */
function version(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version;
    } catch {}
  }
  return 'unknown';
}
