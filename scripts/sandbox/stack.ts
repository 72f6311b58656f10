import { join } from 'node:path';
import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import type { Reaper } from './processes/reaper.ts';
import { PROGRAMS } from './programs.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

/** Every process type that does one kind of work, and the simulators of gateways. */
export const STACK_TYPES = ['simulator', 'daraja', 'web', ...PROCESS_TYPES] as const;
/** No payment needs the console. */
export type StackType = (typeof STACK_TYPES)[number] | 'console';

export interface StackOptions {
  /** The environment of the service's processes. */
  env: NodeJS.ProcessEnv;
  logFolder: string;
  reaper: Reaper;
  /** Starts a process again whenever its source changes, and shows the logs as they come. */
  reload?: boolean;
  /** The service runs from `src` by default, from `dist`, or from the folder of its bundles. */
  from?: ProgramsFrom;
}

export type ProgramsFrom = 'source' | 'built' | { bundledIn: string };

/** Starts one process of a type, or of all worker types. `name` tells several of one type apart. */
export function startProcess(
  type: StackType | 'all',
  options: StackOptions,
  name: string = type,
): Promise<ServiceProcess> {
  return startServiceProcess({ name, ...programOf(type, options.from), ...options });
}

function programOf(
  type: StackType | 'all',
  from: ProgramsFrom = 'source',
): { program: string; args?: string[] } {
  const own = (PROGRAMS as Partial<Record<typeof type, string>>)[type];
  const program = own ?? PROGRAMS.worker;
  const args = own ? [] : [type];
  if (typeof from === 'object') return { program: join(from.bundledIn, `${program}.js`), args };
  // The simulators are never part of the build.
  const isBuilt = from === 'built' && program.startsWith('src/');
  return { program: isBuilt ? `dist/${program}.js` : `${program}.ts`, args };
}

/** The default processes of a stack. M-PESA then goes to the general simulator. */
export const USUAL_TYPES = STACK_TYPES.filter((type) => type !== 'daraja');

/** Starts one process of every type, all at once. */
export async function startStack(
  options: StackOptions,
  types: readonly StackType[] = USUAL_TYPES,
): Promise<Map<StackType, ServiceProcess>> {
  const started = await Promise.allSettled(types.map((type) => startProcess(type, options)));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    const running = started.filter((result) => result.status === 'fulfilled');
    await Promise.all(running.map(({ value }) => value.kill()));
    throw failed.reason;
  }
  const processes = started as PromiseFulfilledResult<ServiceProcess>[];
  return new Map(types.map((type, index) => [type, processes[index]!.value]));
}
