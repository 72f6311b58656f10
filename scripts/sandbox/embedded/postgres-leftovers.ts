import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedServiceError } from './embedded-service-error.ts';
import { HOME_PREFIX, NOTE_NAME, RUN_PREFIX, type RunNote, removeTree } from './postgres-run.ts';
import { processIdentity } from './process-identity.mjs';

const STALE_GRACE_MS = 5_000;
const POLL_MS = 25;

/**
 * Ends the servers and removes the data of earlier runs in `folder` whose launcher
 * is gone. Runs whose launcher lives are left alone: they share nothing with a new one.
 */
export async function clearLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(RUN_PREFIX))) {
    const run = join(folder, name);
    const note = await readNote(run);
    if (note !== null && isOwnerAlive(note)) continue;
    const dataDir = note?.dataDir ?? join(run, 'data');
    await endStaleServers(dataDir, note);
    // A note is only text: nothing but a folder that a run could have made is removed for it.
    if (note && basename(note.home).startsWith(HOME_PREFIX)) await removeTree(note.home);
    await removeTree(run);
  }
}

async function readNote(run: string): Promise<RunNote | null> {
  try {
    const note: RunNote = JSON.parse(await readFile(join(run, NOTE_NAME), 'utf8'));
    return typeof note.home === 'string' && typeof note.dataDir === 'string' ? note : null;
  } catch {
    return null;
  }
}

function isOwnerAlive({ ownerPid, ownerIdentity }: RunNote): boolean {
  return ownerIdentity !== null && processIdentity(ownerPid) === ownerIdentity;
}

/** The server notes its own pid with its data; the launcher's note covers the moment before. */
async function endStaleServers(dataDir: string, note: RunNote | null): Promise<void> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const pids = new Set([Number.parseInt(text, 10), note?.serverPid ?? 0]);
  for (const pid of pids) {
    if (pid > 1 && isServerOf(pid, dataDir)) await endStaleServer(pid, dataDir);
  }
}

async function endStaleServer(pid: number, dataDir: string): Promise<void> {
  const identity = processIdentity(pid);
  const isRunning = () => identity !== null && processIdentity(pid) === identity;
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    if (isRunning()) send(pid, signal, dataDir);
    const deadline = performance.now() + STALE_GRACE_MS;
    while (isRunning() && performance.now() < deadline) await delay(POLL_MS);
  }
  if (isRunning()) throw stillRuns(pid, dataDir);
}

function send(pid: number, signal: NodeJS.Signals, dataDir: string): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw stillRuns(pid, dataDir);
  }
}

function stillRuns(pid: number, dataDir: string): EmbeddedServiceError {
  return new EmbeddedServiceError(
    `A PostgreSQL server of an earlier run (pid ${pid}, data in ${dataDir}) could not be ended: end it and start again`,
  );
}

/** The pid may have gone to another program since: only a server of this very data counts. */
function isServerOf(pid: number, dataDir: string): boolean {
  try {
    if (process.platform === 'linux') {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return basename(args[0] ?? '') === 'postgres' && args[args.indexOf('-D') + 1] === dataDir;
    }
    const options = { encoding: 'utf8' } as const;
    const command = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], options);
    return command.includes(`postgres -D ${dataDir} `);
  } catch {
    return false;
  }
}
