import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { AdminOrder } from './admin-server.ts';

/** What a run of the command line left behind. */
export interface AdminRun {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface AdminOptions {
  /** What comes on standard input, which is empty otherwise. */
  input?: string;
  env?: NodeJS.ProcessEnv;
  /** As a program of its own, as operators start it. It is when there is input, too. */
  asProgram?: boolean;
}

const SERVER = fileURLToPath(new URL('admin-server.ts', import.meta.url));

/** A small machine has few cores, and each run wants one. */
const MAX_RUNS_AT_ONCE = 2;
let running = 0;
const waiting: (() => void)[] = [];
const idleServers: ChildProcess[] = [];

/** Runs the operator's command line with this environment, and nothing else of ours. */
export async function runAdmin(args: string[], options: AdminOptions): Promise<AdminRun> {
  if (running >= MAX_RUNS_AT_ONCE) {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
  }
  running += 1;
  const env = { PATH: process.env.PATH, ...options.env };
  try {
    if (options.asProgram || options.input !== undefined) {
      return await runProgram(args, env, options.input ?? '');
    }
    return await runInServer({ args, env });
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function runInServer(order: AdminOrder): Promise<AdminRun> {
  const server = idleServers.pop() ?? startServer();
  const ended = new AbortController();
  server.once('exit', () => ended.abort(new Error('The command line ended its process')));
  server.send(order);
  const [run] = (await once(server, 'message', { signal: ended.signal })) as [AdminRun];
  server.removeAllListeners('exit');
  idleServers.push(server);
  return run;
}

function startServer(): ChildProcess {
  const server = fork(SERVER, {
    execArgv: ['--import', 'tsx'],
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  // It ends with this process, and does not keep it.
  server.unref();
  server.channel!.unref();
  return server;
}

async function runProgram(
  args: string[],
  env: NodeJS.ProcessEnv,
  input: string,
): Promise<AdminRun> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/admin.ts', ...args], {
    env,
    stdio: 'pipe',
  });
  // A program that has no use for its input may be gone before it has been given.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  return { status, stdout, stderr };
}
