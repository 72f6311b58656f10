import { type ChildProcess, spawn } from 'node:child_process';
import { isAbsolute, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedServiceError } from './embedded-service-error.ts';

const DEFAULT_GRACE_MS = 5_000;

/** Cleans up after a launcher that is killed and so cannot do it itself. */
export interface Reaper {
  /** Ends `pid` if this process disappears without saying so: `signal` first, SIGKILL after graceMs. */
  watch(pid: number, options?: { signal?: NodeJS.Signals; graceMs?: number }): void;
  unwatch(pid: number): void;
  /** Removes this folder (recursively) once everything watched has ended, if this process disappears. */
  removeFolder(path: string): void;
  /** The normal end: the reaper exits and ends nothing. */
  close(): Promise<void>;
}

/**
 * Starts the reaper's process and returns once it listens. It does not keep this
 * process alive: one that exits without close() counts as one that disappeared.
 */
export async function startReaper(): Promise<Reaper> {
  const child = await spawnReaper();
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const send = (order: Record<string, unknown>): void => {
    if (child.stdin?.writable) child.stdin.write(`${JSON.stringify(order)}\n`);
  };
  return {
    watch(pid, { signal = 'SIGTERM', graceMs = DEFAULT_GRACE_MS } = {}) {
      assertPid(pid);
      send({ watch: pid, signal, graceMs });
    },
    unwatch: (pid) => send({ unwatch: pid }),
    removeFolder(path) {
      assertRemovable(path);
      send({ removeFolder: path });
    },
    async close() {
      child.ref();
      send({ close: true });
      child.stdin?.end();
      if (child.exitCode === null && child.signalCode === null) await exited;
    },
  };
}

async function spawnReaper(): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./reaper-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], {
    // Its own session, so that Ctrl-C at the terminal does not reach it.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    cwd: parse(script).root,
    // NODE_OPTIONS and the like would load tsx or a debugger into it.
    env: { PATH: process.env.PATH },
  });
  child.stdin.on('error', () => {
    // Somebody killed the reaper: what runs goes on, only unwatched.
  });
  const failure = await new Promise<string | null>((resolve) => {
    child.stdout.once('data', () => resolve(null));
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `exit code ${code}`}`));
  });
  if (failure !== null) {
    throw new EmbeddedServiceError(
      `The process that cleans up after the sandbox did not start: ${failure}`,
    );
  }
  child.stdout.destroy();
  child.unref();
  // The types do not say that the pipe to a child is a socket.
  (child.stdin as unknown as { unref(): void }).unref();
  return child;
}

function assertPid(pid: number): void {
  if (!Number.isInteger(pid) || pid <= 1) throw new RangeError(`Not a pid to watch: ${pid}`);
}

function assertRemovable(path: string): void {
  if (!isAbsolute(path) || parse(path).root === path) {
    throw new RangeError(`Not a folder to remove: ${path}`);
  }
}
