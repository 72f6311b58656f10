import { expect } from 'chai';
import type { Order } from '../../src/admin/verb.ts';
import { type AdminModules, loadAdmin } from './admin-modules.ts';

let admin: AdminModules;

before(async () => {
  admin = await loadAdmin();
});

/** Reads a command line, as an order or as the text of --help. @throws UsageError */
export function readArguments(args: string[], actor = ACTOR): Order | string {
  return admin.readCommandLine(args, { MALIPO_ACTOR: actor }, admin.nouns);
}

/** A command line whose arguments are between spaces; a list where one contains some. */
export type CommandLine = string | string[];

/** Arguments, and what the one line on standard error must contain or match. */
export type BadCase = [command: CommandLine, line: string | RegExp];

export const ACTOR = 'tester';
export const REASON = 'because';

/** Fails unless each of these command lines is wrong by itself: status 2, with one line. */
export function expectWrong(cases: BadCase[], actor = ACTOR): void {
  for (const [command, line] of cases) {
    const problem = problemWith(withReason(command), actor);
    expect(problem.status, `${command}: ${problem.line}`).to.equal(2);
    expectLine(`${problem.line}\n`, line, command);
  }
}

function problemWith(args: string[], actor: string): { status: number; line: string } {
  try {
    readArguments(args, actor);
    return { status: 0, line: '' };
  } catch (error) {
    return admin.failureOf(error);
  }
}

/** Fails unless this is a single line that contains, or matches, what it should. */
export function expectLine(output: string, line: string | RegExp, command: CommandLine): void {
  const what = String(command);
  expect(output, what).to.match(/^[^\n]+\n$/);
  if (typeof line === 'string') expect(output, what).to.include(line);
  else expect(output, what).to.match(line);
}

export function argumentsOf(command: CommandLine): string[] {
  return typeof command === 'string' ? command.split(' ').filter((part) => part) : command;
}

/** Reads, and what brings its own reason, are left as they are. */
export function withReason(command: CommandLine): string[] {
  const args = argumentsOf(command);
  const isRead = ['list', 'show', 'status', 'check', 'endpoints'].includes(args[1] ?? '');
  const hasReason = args.some((argument) => argument.startsWith('--reason'));
  return isRead || hasReason || args.length < 2 ? args : [...args, '--reason', REASON];
}
