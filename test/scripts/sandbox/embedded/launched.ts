import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LauncherPlan, LauncherReport } from './launcher.ts';

const POLL_MS = 25;
const EVENTUALLY_MS = 40_000;

export interface Launched {
  launcher: ChildProcess;
  report: LauncherReport;
}

/** Starts the launcher script with `plan` and returns once it has reported. */
export async function launch(plan: LauncherPlan): Promise<Launched> {
  const launcher = startLauncher(plan);
  const report = await new Promise<LauncherReport>((resolve, reject) => {
    createInterface({ input: launcher.stdout! }).once('line', (line) => resolve(JSON.parse(line)));
    launcher.once('exit', (code, signal) => reject(new Error(`launcher: ${signal ?? code}`)));
  });
  return { launcher, report };
}

/** The same without the wait. It has a process group of its own, as at a terminal. */
export function startLauncher(plan: LauncherPlan): ChildProcess {
  const script = fileURLToPath(new URL('./launcher.ts', import.meta.url));
  return spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(plan)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** A zombie has ended: it only waits for its parent to look. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^\s*[^\sZ]/.test(stdout);
}

/** For ends of tests: whatever is left of these processes is ended. */
export function killAll(pids: (number | undefined)[]): void {
  for (const pid of pids) {
    if (pid !== undefined && isRunning(pid)) process.kill(pid, 'SIGKILL');
  }
}

/** Polls until `isTrue` holds; fails with `what` when it never does. */
export async function eventually(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + EVENTUALLY_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`It never came true that ${what}`);
    await delay(POLL_MS);
  }
}

/** A folder for one test, and what removes it. */
export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'malipo-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
