import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** A process of its own that calls a provider. */
export interface TokenCaller {
  /** Makes one call and returns its answer. */
  call(): Promise<unknown>;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
}

const PROGRAM = new URL('token-caller.ts', import.meta.url).pathname;

export async function startTokenCaller(databaseUrl: string, url: string): Promise<TokenCaller> {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    ['--import', 'tsx', PROGRAM, databaseUrl, url],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  child.stdin.on('error', () => {});
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const nextLine = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The caller has ended');
    return JSON.parse(value) as unknown;
  };
  await nextLine();
  return {
    call: () => {
      child.stdin.write('call\n');
      return nextLine();
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
