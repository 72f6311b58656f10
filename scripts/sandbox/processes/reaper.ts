import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isAbsolute, parse } from 'node:path';
import { explainError } from './embedded-service-error.ts';

const DEFAULT_GRACE_MS = 5_000;
const POLLS_PER_SECOND = 10;

/** Cleans up when this process ends without close(), even by SIGKILL. */
export interface Reaper {
  /** Ends `pid` then: by `signal`, and by SIGKILL when `graceMs` have passed. */
  watch(pid: number, options?: { signal?: NodeJS.Signals; graceMs?: number }): void;
  unwatch(pid: number): void;
  /** Removes this folder then, once everything watched has ended. */
  removeFolder(path: string): void;
  /** Ends the reaper, which then ends and removes nothing. */
  close(): Promise<void>;
}

/**
 * Keeps the last complete line that it reads, a command, and runs it when its input ends:
 * the system closes the pipe when the launcher disappears. SIGCONT lets a paused process
 * see the signal. The children of an ended server may still write for a moment.
 */
const SHELL_SCRIPT = `
trap '' HUP INT QUIT TERM
finish() {
  kill -s "$2" "$1" && kill -s CONT "$1" || return
  polls=$3
  while kill -0 "$1" && [ "$polls" -gt 0 ]; do sleep 0.1; polls=$((polls - 1)); done
  kill -s KILL "$1"
}
remove() {
  for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$@" && return; sleep 0.1; done
}
while IFS= read -r line; do command=$line; done
eval "$command"
`;

/** Starts the reaper. It does not keep this process alive. */
export async function startReaper(): Promise<Reaper> {
  const child = await spawnShell();
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const watched = new Map<number, string>();
  const folders: string[] = [];
  const send = () => {
    const command = [...watched.values(), 'wait', `; remove ${folders.map(quoted).join(' ')}`];
    if (child.stdin.writable) child.stdin.write(`${command.join(' ')}\n`);
  };
  return {
    watch(pid, { signal = 'SIGTERM', graceMs = DEFAULT_GRACE_MS } = {}) {
      if (!Number.isInteger(pid) || pid <= 1) throw new RangeError(`Not a pid to watch: ${pid}`);
      const polls = Math.ceil((graceMs / 1_000) * POLLS_PER_SECOND);
      watched.set(pid, `finish ${pid} ${signal.slice('SIG'.length)} ${polls} &`);
      send();
    },
    unwatch(pid) {
      if (watched.delete(pid)) send();
    },
    removeFolder(path) {
      if (!isAbsolute(path) || parse(path).root === path || path.includes('\n')) {
        throw new RangeError(`Not a folder to remove: ${path}`);
      }
      folders.push(path);
      send();
    },
    async close() {
      child.ref();
      child.stdin.end('true\n');
      if (child.exitCode === null && child.signalCode === null) await exited;
    },
  };
}

async function spawnShell() {
  const child = spawn('/bin/sh', ['-c', SHELL_SCRIPT], {
    // A session of its own, which Ctrl-C at the terminal does not reach.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: { PATH: process.env.PATH },
  });
  // Somebody may kill the reaper: everything goes on, unwatched.
  child.stdin.on('error', () => {});
  await once(child, 'spawn').catch((error) => {
    throw explainError(error, 'The process that cleans up could not be started', '/bin/sh');
  });
  child.unref();
  // The types do not say that the pipe to a child is a socket.
  (child.stdin as unknown as { unref(): void }).unref();
  return child;
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
