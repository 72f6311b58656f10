import { readdirSync, statSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT_FOLDER } from '../sandbox/service-process.ts';

const BYTES_PER_GIB = 1_024 ** 3;
const BUILT_PROGRAM = 'dist/src/api/main.js';
const SOURCE_PROGRAM = 'src/api/main.ts';
/** Parts of the source that are never built. */
const NOT_BUILT = /^(sandbox|bench|gateways\/simulator\/server)\b/;

/** What the figures were measured on: without it they say little. */
export interface Machine {
  cores: number;
  cpu: string;
  memoryGib: number;
  /** Mean number of busy processes in the minute before: neighbours, at the first scenario. */
  loadBefore: number;
  node: string;
  postgres: string;
  queueBackend: string;
  /** Whether the web process ran from `dist` or from `src`. */
  web: 'built' | 'source';
  databasePoolMax: number;
  logLevel: string;
}

/** This machine; what the service says of itself is given. */
export function describeMachine(
  service: Pick<Machine, 'postgres' | 'queueBackend' | 'web' | 'databasePoolMax' | 'logLevel'>,
): Machine {
  const processors = cpus();
  return {
    cores: processors.length,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    memoryGib: Math.round(totalmem() / BYTES_PER_GIB),
    loadBefore: loadavg()[0] ?? 0,
    node: process.versions.node,
    ...service,
  };
}

/** The program of the web process: the build when it is newer than all source, else the source. */
export function webProgram(): { program: string; web: Machine['web'] } {
  const builtAt = statSync(join(ROOT_FOLDER, BUILT_PROGRAM), { throwIfNoEntry: false })?.mtimeMs;
  const isFresh = builtAt !== undefined && builtAt > newestSourceMs();
  return isFresh
    ? { program: BUILT_PROGRAM, web: 'built' }
    : { program: SOURCE_PROGRAM, web: 'source' };
}

function newestSourceMs(): number {
  const folder = join(ROOT_FOLDER, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const times = files
    .filter((file) => file.endsWith('.ts') && !NOT_BUILT.test(file))
    .map((file) => statSync(join(folder, file)).mtimeMs);
  return Math.max(...times);
}
