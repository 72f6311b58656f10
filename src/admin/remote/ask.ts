import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import got from 'got';
import { messageOf } from '../../connections/database-errors.ts';
import { OperatorRefusal } from '../../domain/errors.ts';
import { UsageError } from '../../operations/field.ts';
import { readOwnSecret } from '../../process/secrets.ts';
import { MINUTE_MS, SECOND_MS } from '../../time.ts';
import { failureOf } from '../failure.ts';
import { loadNouns } from '../nouns.ts';
import { readPassword } from '../options/new-password.ts';
import { columnsOf } from '../output/display.ts';
import { print } from '../output/print.ts';
import { readCommandLine } from '../program.ts';
import { runAdmin, type Terminal } from '../run.ts';
import { type Order, TOKEN_VARIABLE } from '../verb.ts';
import { COMMAND_PATH, type Command, type Frame } from './messages.ts';

/** The address of the console, to which a command line without the service's settings sends commands. */
const CONSOLE_VARIABLE = 'MALIPO_CONSOLE_URL';

const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;
/** Between two frames. The console's process sends one every 15 s. */
const SILENCE_TIMEOUT_MS = MINUTE_MS;
const UNKNOWN_END =
  'The console’s process did not say how it ended. Look whether it was done before you do it again';

/**
 * Lets the console's process do what the arguments say, and prints its answer. Help, and a wrong
 * command line, do without it. @returns the exit status, as `runAdmin` does
 */
export async function askConsole(
  args: string[],
  url: string,
  terminal: Terminal = process,
): Promise<number> {
  let changes = false;
  try {
    const order = readCommandLine(args, terminal.env, await loadNouns(args));
    if (typeof order === 'string' || order.verb.isLocal) return runAdmin(args, noService, terminal);
    changes = order.verb.changes;
    const command = await commandOf(args, order, terminal);
    const answer = await send(url, tokenIn(terminal.env), command);
    return await printAnswer(answer, terminal);
  } catch (error) {
    const { status, line } = failureOf(error, changes);
    await print(terminal.stderr, `${line}\n`);
    return status;
  }
}

async function noService(): Promise<never> {
  throw new Error('This needs no service');
}

/** @throws OperatorRefusal without a token. Even what needs none is done for members alone. */
function tokenIn(env: NodeJS.ProcessEnv): string {
  const { text: token, problem } = readOwnSecret(TOKEN_VARIABLE, env);
  if (token) return token;
  throw new OperatorRefusal(
    problem ?? `Set ${TOKEN_VARIABLE} or ${TOKEN_VARIABLE}_FILE to your staff token`,
  );
}

/** Takes along what the command needs of this machine: its files, and a password from a pipe. */
async function commandOf(
  args: string[],
  { verb: { options }, values }: Order,
  { env, stdin, stdout }: Terminal,
): Promise<Command> {
  const given = Object.entries(options).filter(([name]) => values[name] !== undefined);
  const paths = given
    .filter(([, { placeholder }]) => placeholder === 'PATH')
    .map(([name]) => pathOf(values[name]));
  const contents = await Promise.all(paths.map(async (path) => [path, await contentOf(path)]));
  const isPiped = given.some(([name, { input }]) => input === 'pipe' && values[name] !== false);
  return {
    args,
    input: isPiped ? `${await readPassword(stdin)}\n` : '',
    columns: columnsOf(stdout, env),
    files: Object.fromEntries(contents),
  };
}

function pathOf(value: unknown): string {
  return typeof value === 'string' ? value : (value as { label: string }).label;
}

function contentOf(path: string): Promise<string> {
  return readFile(path, 'base64').catch((error) => {
    throw new OperatorRefusal(`${path} cannot be read: ${messageOf(error)}`);
  });
}

/** @throws OperatorRefusal when the console's process does not take the command */
async function send(url: string, token: string, json: Command): Promise<Readable> {
  const address = addressOf(url);
  const stream = got.stream.post(new URL(COMMAND_PATH, address), {
    json,
    headers: { authorization: `Bearer ${token}` },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    timeout: { connect: CONNECT_TIMEOUT_MS, socket: SILENCE_TIMEOUT_MS },
  });
  const status = await new Promise<number>((resolve, reject) => {
    stream.once('response', ({ statusCode }) => resolve(statusCode));
    stream.once('error', (error) =>
      reject(
        new OperatorRefusal(`The console at ${address.origin} does not answer: ${error.message}`),
      ),
    );
  });
  if (status === 200) return stream;
  const said = await text(stream);
  throw new OperatorRefusal(
    errorIn(said) ?? `The console at ${address.origin} answered with ${status}`,
  );
}

/** A token goes through no network without TLS. @throws UsageError */
function addressOf(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : null;
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(address?.hostname ?? '');
  if (address && (address.protocol === 'https:' || (address.protocol === 'http:' && isLocal))) {
    return address;
  }
  throw new UsageError(
    `${CONSOLE_VARIABLE} must be an address such as https://console.example.com`,
  );
}

function errorIn(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body);
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

async function printAnswer(answer: Readable, { stdout, stderr }: Terminal): Promise<number> {
  try {
    for await (const line of createInterface({ input: answer })) {
      const frame = JSON.parse(line) as Frame;
      if ('status' in frame) return frame.status;
      if ('out' in frame) await print(stdout, frame.out);
      if ('err' in frame) await print(stderr, frame.err);
    }
  } catch {
    // The connection was cut.
  }
  throw new OperatorRefusal(UNKNOWN_END);
}
