import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Reaper } from '../../sandbox/embedded/reaper.ts';
import { ROOT_FOLDER } from '../../sandbox/service-process.ts';
import { BenchError } from '../bench-error.ts';
import type { LoadOrder, LoadReply, LoadResult } from './order.ts';

const PROGRAM = fileURLToPath(new URL('./process.ts', import.meta.url));
const READY_TIMEOUT_MS = 60_000;
/** How much longer than its bounds an order may take: the last answers are waited for. */
const ORDER_GRACE_MS = 60_000;

/** The process that makes the load. */
export interface LoadGenerator {
  /** One order after the other. @throws BenchError when the process ends or hangs */
  run(order: LoadOrder): Promise<LoadResult>;
  stop(): Promise<void>;
}

/** Starts the load generator and waits until it takes orders. */
export async function startLoadGenerator(reaper: Reaper): Promise<LoadGenerator> {
  const child = fork(PROGRAM, [], {
    cwd: ROOT_FOLDER,
    execArgv: ['--import', 'tsx'],
    // Ctrl-C at the terminal is for the launcher alone.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      reaper.unwatch(child.pid ?? 0);
      resolve(signal ?? `exit status ${code}`);
    });
  });
  if (child.pid) reaper.watch(child.pid);
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await messageFrom(child, exited, READY_TIMEOUT_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  return { run: (order) => execute(child, exited, order), stop };
}

async function execute(
  child: ChildProcess,
  exited: Promise<string>,
  order: LoadOrder,
): Promise<LoadResult> {
  const timeoutMs = order.warmUp.durationMs + order.measured.durationMs + ORDER_GRACE_MS;
  const answer = messageFrom<LoadReply>(child, exited, timeoutMs);
  // The promise above says what became of a process that is gone.
  child.send(order, () => {});
  const reply = await answer;
  if ('problem' in reply) throw new BenchError(`The load generator failed: ${reply.problem}`);
  return reply.result;
}

async function messageFrom<Message>(
  child: ChildProcess,
  exited: Promise<string>,
  timeoutMs: number,
): Promise<Message> {
  let timer: NodeJS.Timeout | undefined;
  let listener: ((message: Message) => void) | undefined;
  try {
    return await Promise.race([
      new Promise<Message>((resolve) => {
        listener = resolve;
        child.once('message', listener);
      }),
      exited.then((how): never => {
        throw new BenchError(`The load generator ended (${how})`);
      }),
      new Promise<never>((_resolve, reject) => {
        const late = new BenchError(`The load generator said nothing for ${timeoutMs} ms`);
        timer = setTimeout(() => reject(late), timeoutMs);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    if (listener) child.off('message', listener);
  }
}
