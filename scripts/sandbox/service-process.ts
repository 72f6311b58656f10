import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { EmbeddedServiceError } from './embedded/embedded-service-error.ts';
import { findFreePort } from './embedded/port.ts';
import type { Reaper } from './embedded/reaper.ts';

/** The checkout: what is started is its source, or its build. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../', import.meta.url));

const READY_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 30_000;
/** Unless the test is about that, no load balancer needs to be told that a process ends. */
const DRAIN_DELAY_MS = '0';

/** A process of the service, or the simulator. */
export interface ServiceProcess {
  readonly name: string;
  readonly pid: number;
  /** Where it serves operators; null for a program that does not. */
  readonly operatorUrl: string | null;
  /** Resolves with the way in which it ended. */
  readonly exited: Promise<string>;
  /** SIGTERM, and SIGKILL when that does not end it. */
  stop(): Promise<void>;
  /** SIGKILL: as a crash. */
  kill(): Promise<void>;
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
  /** Starts it anew whenever a file that it has loaded changes, and shows its log as it comes. */
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
  // What is started anew is found again where it was.
  const METRICS_PORT = reload ? String(await findFreePort()) : '0';
  const child = spawn(process.execPath, [...watch, ...loader, program, ...args], {
    cwd: folder,
    env: { METRICS_PORT, DRAIN_DELAY_MS, ...env },
    // Its own process group: Ctrl-C at the terminal is for the launcher alone.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      reaper.unwatch(child.pid ?? 0);
      resolve(signal ?? `exit status ${code}`);
    });
  });
  if (child.pid) reaper.watch(child.pid);
  const operatorUrl = await ready(child, exited, options);
  return {
    name,
    pid: child.pid!,
    operatorUrl,
    exited,
    stop: () => end(child, exited, 'SIGTERM'),
    kill: () => end(child, exited, 'SIGKILL'),
  };
}

/** @returns where it serves operators, as it has said before it was ready. */
async function ready(
  child: ChildProcess,
  exited: Promise<string>,
  { name, logFolder, reload }: ServiceProcessOptions,
): Promise<string | null> {
  const log = createWriteStream(join(logFolder, `${name}.log`), { flags: 'a', mode: 0o600 });
  let lastLine = '';
  let operatorUrl: string | null = null;
  const isReady = new Promise<null>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream! }).on('line', (line) => {
        log.write(`${line}\n`);
        if (reload) console.log(`${name}: ${line}`);
        lastLine = line;
        if (line.includes('"message":"operator server"')) {
          operatorUrl = `http://127.0.0.1:${JSON.parse(line).port}`;
        }
        if (/"message":"ready"|simulator listening/.test(line)) resolve(null);
      });
    }
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('it did not become ready in time'), READY_TIMEOUT_MS);
  });
  const failure = await Promise.race([isReady, exited, late]);
  clearTimeout(timer);
  if (failure !== null) {
    child.kill('SIGKILL');
    throw new EmbeddedServiceError(`${name} did not start: ${lastLine || failure}`);
  }
  return operatorUrl;
}

async function end(
  child: ChildProcess,
  exited: Promise<string>,
  signal: NodeJS.Signals,
): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  child.kill(signal);
  await exited;
  clearTimeout(timer);
}
