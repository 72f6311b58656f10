import { PROCESS_TYPES } from '../../src/workers/start-workers.ts';
import type { Reaper } from './processes/reaper.ts';
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
  /** The service runs from `src` by default, or from `dist`. */
  from?: ProgramsFrom;
}

export type ProgramsFrom = 'source' | 'built';

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
  // The simulators are never part of the build.
  if (type === 'simulator') return { program: 'scripts/simulator/main.ts' };
  if (type === 'daraja') return { program: 'scripts/daraja-simulator/main.ts' };
  const own = { web: 'src/main/web', console: 'src/main/console' };
  const program = type in own ? own[type as keyof typeof own] : 'src/main/workers';
  return {
    program: from === 'built' ? `dist/${program}.js` : `${program}.ts`,
    args: type in own ? [] : [type],
  };
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
