import { hostname, userInfo } from 'node:os';
import type { Writable } from 'node:stream';
import { type Origin, withOrigin } from '../domain/audit/origin.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { tokenPrefixOf } from '../domain/staff/staff.ts';
import { type GivenFiles, withFiles } from '../operations/given-files.ts';
import type { Service } from '../service/service.ts';
import { FAILED, failureOf } from './failure.ts';
import { loadNouns } from './nouns.ts';
import type { Input } from './options/new-password.ts';
import { columnsOf, type Output, showAs } from './output/display.ts';
import { jsonText } from './output/document.ts';
import { print, printAll } from './output/print.ts';
import { perform } from './perform.ts';
import { readCommandLine } from './program.ts';
import type { Order } from './verb.ts';

/** The surroundings of the command line besides the database. `process` is one. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdin: Input;
  stdout: Output;
  stderr: Writable;
  /** Somebody on another machine, for whom a process does it that goes on afterwards. */
  caller?: { address: string | null; files: GivenFiles };
}

/** Connects to the database. Help and a wrong command line do without it. */
export type BootService = (environment: NodeJS.ProcessEnv) => Promise<Service>;

/**
 * Does what the arguments say. Prints the answer on standard output, or one line on standard
 * error. @returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
 */
export async function runAdmin(
  args: string[],
  bootService: BootService,
  terminal: Terminal = process,
): Promise<number> {
  let changes = false;
  try {
    const order = readCommandLine(args, terminal.env, await loadNouns(args));
    if (typeof order !== 'string') changes = order.verb.changes;
    const { output, status, warning } = await respond(order, bootService, terminal);
    if (warning) await print(terminal.stderr, `${warning}\n`);
    if (output !== null) await print(terminal.stdout, `${output}\n`);
    return status;
  } catch (error) {
    const { status, line } = failureOf(error, changes);
    await print(terminal.stderr, `${line}\n`);
    return status;
  }
}

/** Does what was ordered. @returns what to print, or null when it is printed already. */
async function respond(
  order: string | Order,
  bootService: BootService,
  { env, stdin, stdout, caller }: Terminal,
) {
  if (typeof order === 'string') return { output: order, status: 0, warning: null };
  if (caller && isBreakGlass(order)) throw new OperatorRefusal(BESIDE_SERVICE);
  const service = order.verb.isLocal ? null : await bootService(env);
  try {
    const display = { zone: order.zone, columns: columnsOf(stdout, env) };
    const work = () => showAs(display, () => perform(service, order, stdin));
    const answer = await withOrigin(originOf(order, caller), () =>
      caller ? withFiles(caller.files, work) : work(),
    );
    const status = answer.isFailure ? FAILED : 0;
    const { stream, warning } = answer;
    if (stream) {
      await printAll(stdout, stream);
      return { output: null, status, warning };
    }
    const output = order.isJson ? jsonText(answer.data) : answer.lines.join('\n');
    return { output, status, warning };
  } finally {
    if (!caller) await service?.database.destroy();
  }
}

/**
 * Tells whether an order is for people beside the service alone: one that changes something and needs no token, for when
 * none is known, among them.
 */
function isBreakGlass({ verb }: Order): boolean {
  return verb.isBesideService === true || (verb.changes && verb.role === 'anyone');
}

const BESIDE_SERVICE =
  'This is done beside the service, with its settings and without MALIPO_CONSOLE_URL';

function originOf({ identity: { token } }: Order, caller: Terminal['caller']): Origin {
  return {
    door: 'command line',
    address: caller ? caller.address : `${accountName()}@${hostname()}`,
    session: token ? tokenPrefixOf(token) || null : null,
    request: null,
  };
}

/** In a container the account may have a number and no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
