import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from './processes/port.ts';
import { type Program, startProgram } from './processes/program.ts';
import type { Reaper } from './processes/reaper.ts';
import { ROOT_FOLDER } from './programs.ts';

/** No load balancer needs to be told that a process ends, unless a test is about that. */
const DRAIN_DELAY_MS = '0';

/** A process of the service, or the simulator. */
export interface ServiceProcess extends Program {
  readonly name: string;
  /** The address of its port for operators; null for a program without one. */
  readonly operatorUrl: string | null;
}

export interface ServiceProcessOptions {
  name: string;
  /** A main program below the checkout, and its arguments. */
  program: string;
  args?: string[];
  /** Another checkout than this one. */
  folder?: string;
  env: NodeJS.ProcessEnv;
  /** Its output goes to `NAME.log` here. */
  logFolder: string;
  reaper: Reaper;
  /** Starts it again whenever a file that it has loaded changes, and shows its log as it comes. */
  reload?: boolean;
}

/**
 * Starts a process and waits until it says that it is ready.
 * @throws EmbeddedServiceError with its last line when it ends before that.
 */
export async function startServiceProcess(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { name, program, args = [], folder = ROOT_FOLDER, env, reaper, reload } = options;
  const watch = reload ? ['--watch', '--watch-preserve-output'] : [];
  const loader = program.endsWith('.ts') ? ['--import', 'tsx'] : [];
  // After a reload its metrics are where they were.
  const METRICS_PORT = reload ? String(await findFreePort()) : '0';
  const log = createWriteStream(join(options.logFolder, `${name}.log`), {
    flags: 'a',
    mode: 0o600,
  });
  let operatorUrl: string | null = null;
  const running = await startProgram({
    name,
    cwd: folder,
    env: { METRICS_PORT, DRAIN_DELAY_MS, ...env },
    reaper,
    command: process.execPath,
    args: [...watch, ...loader, program, ...args],
    ready: /"message":"ready"|simulator listening/,
    onLine(line) {
      log.write(`${line}\n`);
      if (reload) console.log(`${name}: ${line}`);
      if (line.includes('"message":"operator server"')) {
        operatorUrl = `http://127.0.0.1:${JSON.parse(line).port}`;
      }
    },
  });
  return Object.assign(running, { name, operatorUrl });
}
