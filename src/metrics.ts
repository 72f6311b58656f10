import { Gauge, Registry } from 'prom-client';
import type { Database } from './database.ts';
import { BREAK_KINDS } from './domain/ledger/breaks.ts';
import { lastVerification } from './domain/ledger/last-verification.ts';

/**
 * What is measured, in a registry of its own. Values are read from the database when they
 * are asked for, so every process can show them, whichever has found them out.
 */
export function createMetrics(database: Database): Registry {
  const registry = new Registry();
  new Gauge({
    name: 'malipo_ledger_breaks',
    help: 'Breaks that the last scheduled verification of the ledger has found, by kind',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      this.reset();
      const last = await lastVerification(database);
      if (!last) return;
      for (const kind of BREAK_KINDS) this.set({ kind }, last.counts[kind] ?? 0);
    },
  });
  new Gauge({
    name: 'malipo_ledger_verified_timestamp_seconds',
    help: 'When the ledger was last verified on schedule, in seconds since 1970; 0 is never',
    registers: [registry],
    async collect() {
      const last = await lastVerification(database);
      this.set(last ? last.verifiedAt.getTime() / 1_000 : 0);
    },
  });
  return registry;
}
