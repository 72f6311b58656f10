import { type ChildProcess, spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { embeddedFailure } from './embedded-service-error.ts';
import type { Reaper } from './reaper.ts';

const KEPT_LINES_COUNT = 50;
const OUTPUT_DRAIN_MS = 5_000;
const REAPER_GRACE_MS = 5_000;

/** A program of an embedded service, watched by the reaper until it ends. */
export interface EmbeddedProcess {
  readonly pid: number;
  /** Its last lines of output, oldest first. */
  readonly lines: readonly string[];
  /** How it ended, e.g. `exit code 1`; null while it runs. */
  readonly ending: string | null;
  /** Resolves with `ending`, after its children too have let go of its output (in general). */
  readonly exited: Promise<string>;
}

export interface SpawnOptions {
  command: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The user to run as; absent: the same one. */
  uid?: number;
  gid?: number;
  reaper: Reaper;
  /** What ends this program in good order. */
  signal: NodeJS.Signals;
}

/**
 * Runs a program in a session of its own, so that Ctrl-C at the terminal reaches
 * only the launcher, which then stops everything in its order. Throws an
 * EmbeddedServiceError when the program cannot be run.
 */
export async function spawnEmbedded(options: SpawnOptions): Promise<EmbeddedProcess> {
  const { command, args, cwd, env, uid, gid } = options;
  try {
    const child = spawn(command, args, {
      cwd,
      env,
      uid,
      gid,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const running = follow(child, options);
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    return running;
  } catch (error) {
    const { message } = error as Error;
    throw embeddedFailure(`${basename(command)} could not be run`, message, dirname(command));
  }
}

/** Sends `signal`, then SIGKILL after `graceMs`; resolves when the process has ended. */
export async function endEmbedded(
  running: EmbeddedProcess,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<void> {
  if (running.ending === null) process.kill(running.pid, signal);
  const timer = setTimeout(() => {
    if (running.ending === null) process.kill(running.pid, 'SIGKILL');
  }, graceMs);
  await running.exited;
  clearTimeout(timer);
}

function follow(child: ChildProcess, { reaper, signal }: SpawnOptions): EmbeddedProcess {
  const pid = child.pid ?? 0;
  if (pid > 0) reaper.watch(pid, { signal, graceMs: REAPER_GRACE_MS });
  let ending: string | null = null;
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, endSignal) => {
      reaper.unwatch(pid);
      const text = endSignal === null ? `exit code ${code}` : `signal ${endSignal}`;
      ending = text;
      // A child that outlives its server for long must not hold up the launcher.
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, OUTPUT_DRAIN_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve(text);
      });
    });
  });
  const lines = collectLines(child);
  return {
    pid,
    lines,
    exited,
    get ending() {
      return ending;
    },
  };
}

function collectLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > KEPT_LINES_COUNT) lines.shift();
    });
  }
  return lines;
}
