import type { Writable } from 'node:stream';
import { boot } from '../process/boot.ts';
import { FAILED, failureOf } from './failure.ts';
import type { Input } from './options/new-password.ts';
import { print } from './output/print.ts';
import { readCommandLine } from './program.ts';
import { perform } from './verb.ts';

/** The surroundings of the command line besides the database. `process` is one. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdin: Input;
  stdout: Writable;
  stderr: Writable;
}

/**
 * Does what the arguments say. Prints the answer on standard output, or one line on standard
 * error. @returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
 */
export async function runAdmin(args: string[], terminal: Terminal = process): Promise<number> {
  try {
    const { output, status } = await respond(args, terminal);
    await print(terminal.stdout, `${output}\n`);
    return status;
  } catch (error) {
    const { status, line } = failureOf(error);
    await print(terminal.stderr, `${line}\n`);
    return status;
  }
}

async function respond(args: string[], { env, stdin }: Terminal) {
  const order = readCommandLine(args, env);
  if (typeof order === 'string') return { output: order, status: 0 };
  const service = await boot('admin', env);
  try {
    const { data, lines, isFailure } = await perform(service, order, stdin);
    const output = order.isJson ? JSON.stringify(data) : lines.join('\n');
    return { output, status: isFailure ? FAILED : 0 };
  } finally {
    await service.database.destroy();
  }
}
