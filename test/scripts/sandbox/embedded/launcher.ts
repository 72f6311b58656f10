/**
 * A launcher to kill: it runs what its first argument (JSON) asks for, prints one
 * line of JSON when that is up, and lives on until it is ended.
 */
import { spawn } from 'node:child_process';
import { startEmbeddedPostgres } from '../../../../scripts/sandbox/embedded/postgres.ts';
import { startEmbeddedRedis } from '../../../../scripts/sandbox/embedded/redis.ts';
import { type Reaper, startReaper } from '../../../../scripts/sandbox/processes/reaper.ts';

export interface LauncherPlan {
  /** Starts a server with its data in this folder. */
  postgresFolder?: string;
  redis?: boolean;
  /** Programs for `node -e`; `watch` hands them to the reaper, `unwatch` takes them back. */
  children?: {
    script: string;
    watch?: { signal?: NodeJS.Signals; graceMs?: number };
    unwatch?: boolean;
    pause?: boolean;
  }[];
  removeFolders?: string[];
  /** The launcher's own reaper does nothing, as if it had been killed too. */
  withoutReaper?: boolean;
  /** What the launcher does in the end; absent: it waits to be killed. */
  end?: 'exit' | 'close and exit';
}

export interface LauncherReport {
  url: string | null;
  pids: number[];
}

const plan: LauncherPlan = JSON.parse(process.argv[2] ?? '{}');
const reaper = plan.withoutReaper ? idleReaper() : await startReaper();
for (const folder of plan.removeFolders ?? []) reaper.removeFolder(folder);
const report: LauncherReport = { url: null, pids: [] };
for (const child of plan.children ?? []) report.pids.push(await startChild(child));
if (plan.postgresFolder !== undefined) {
  const server = await startEmbeddedPostgres({ folder: plan.postgresFolder, reaper });
  report.url = server.url;
  report.pids.push(server.pid);
}
if (plan.redis) report.pids.push((await startEmbeddedRedis({ reaper })).pid);
console.log(JSON.stringify(report));
if (plan.end === 'close and exit') await reaper.close();
if (plan.end !== undefined) process.exit(0);
setInterval(() => {}, 60_000);

/** Returns once the child says that it is set up. */
async function startChild(child: NonNullable<LauncherPlan['children']>[number]): Promise<number> {
  const running = spawn(process.execPath, ['-e', `${child.script}; console.log('ready')`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => running.stdout.once('data', resolve));
  const pid = running.pid ?? 0;
  if (child.watch) reaper.watch(pid, child.watch);
  if (child.unwatch) reaper.unwatch(pid);
  if (child.pause) process.kill(pid, 'SIGSTOP');
  return pid;
}

function idleReaper(): Reaper {
  return { watch() {}, unwatch() {}, removeFolder() {}, async close() {} };
}
