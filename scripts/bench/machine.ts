import { readdirSync, statSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../src/process/config.ts';
import { ROOT_FOLDER } from '../sandbox/service-process.ts';
import type { ProgramsFrom } from '../sandbox/stack.ts';
import type { Stores } from './service-setup.ts';

const BYTES_PER_GIB = 1_024 ** 3;
const BUILT_PROGRAM = 'dist/src/api/main.js';
/** Parts of the source that are never built. */
const NOT_BUILT = /^(sandbox|bench|gateways\/simulator\/server)\b/;

/** What the figures were measured on: without it they say little. */
export interface Machine extends Stores {
  cores: number;
  cpu: string;
  memoryGib: number;
  /** Mean number of busy processes in the minute before: neighbours, at the first scenario. */
  loadBefore: number;
  node: string;
  /** Whether the service ran from `dist` or from `src`. */
  programs: ProgramsFrom;
  /** Null: each process has the default of its type. */
  databasePoolMax: number | null;
  logLevel: string;
}

/** This machine, and what of the service decides about figures. */
export function describeMachine(stores: Stores, config: Config, programs: ProgramsFrom): Machine {
  const processors = cpus();
  return {
    cores: processors.length,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    memoryGib: Math.round(totalmem() / BYTES_PER_GIB),
    loadBefore: loadavg()[0] ?? 0,
    node: process.versions.node,
    ...stores,
    programs,
    databasePoolMax: config.databasePoolMax ?? null,
    logLevel: config.logLevel,
  };
}

/** What the service is run from: the build when it is newer than all source, else the source. */
export function programsFrom(): ProgramsFrom {
  const builtAt = statSync(join(ROOT_FOLDER, BUILT_PROGRAM), { throwIfNoEntry: false })?.mtimeMs;
  return builtAt !== undefined && builtAt > newestSourceMs() ? 'built' : 'source';
}

function newestSourceMs(): number {
  const folder = join(ROOT_FOLDER, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const times = files
    .filter((file) => file.endsWith('.ts') && !NOT_BUILT.test(file))
    .map((file) => statSync(join(folder, file)).mtimeMs);
  return Math.max(...times);
}
