import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { loadAdmin } from './admin-modules.ts';

/** What a run of the command line left behind. */
export interface AdminRun {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface AdminOptions {
  /** Comes on standard input. */
  input?: string;
  env?: NodeJS.ProcessEnv;
  /** Starts a program of its own, as operators do. */
  asProgram?: boolean;
}

/** Runs the operator's command line with this environment, and nothing else of ours. */
export async function runAdmin(
  args: string[],
  { input = '', env = {}, asProgram = false }: AdminOptions,
): Promise<AdminRun> {
  if (asProgram) return runProgram(args, { PATH: process.env.PATH, ...env }, input);
  const outputs = { stdout: '', stderr: '' };
  const outputTo = (name: keyof typeof outputs) =>
    new Writable({
      write: (chunk, _encoding, done) => {
        outputs[name] += chunk;
        done();
      },
    });
  const { runAdmin: runInProcess, bootService } = await loadAdmin();
  const status = await runInProcess(args, bootService, {
    env,
    stdin: Readable.from([Buffer.from(input)]),
    stdout: outputTo('stdout'),
    stderr: outputTo('stderr'),
  });
  return { status, ...outputs };
}

async function runProgram(
  args: string[],
  env: NodeJS.ProcessEnv,
  input: string,
): Promise<AdminRun> {
  const command = ['--import', 'tsx', 'src/main/command-line.ts', ...args];
  const child = spawn(process.execPath, command, { env, stdio: 'pipe' });
  // A program that does not read its input may be gone before all of it is written.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const outputs = [text(child.stdout), text(child.stderr), ended] as const;
  const [stdout, stderr, status] = await Promise.all(outputs);
  return { status, stdout, stderr };
}
