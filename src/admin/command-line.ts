import {
  type Command,
  type Noun,
  type Option,
  type Options,
  optional,
  required,
  UsageError,
} from './command.ts';
import { COMMANDS } from './commands.ts';
import { readOptions } from './given-options.ts';
import { text } from './readers.ts';

const MAX_ACTOR_LENGTH = 100;
const MAX_REASON_LENGTH = 500;
const ACTOR = text('NAME', MAX_ACTOR_LENGTH);
export const ACTOR_VARIABLE = 'MALIPO_ACTOR';

/** What every verb that changes something takes besides its own. */
const CHANGE_OPTIONS = {
  actor: optional(ACTOR, `Who you are. Default: ${ACTOR_VARIABLE}`),
  reason: required(text('TEXT', MAX_REASON_LENGTH), 'Why; kept in the audit log'),
} satisfies Options;

/** Everything that a command takes, in the order of --help; --json and --help not counted. */
export function optionsOf(command: Command): Options {
  return command.changes ? { ...command.options, ...CHANGE_OPTIONS } : command.options;
}

export type Request =
  | { help: true; noun?: string; verb?: string }
  | {
      help: false;
      noun: string;
      verb: string;
      command: Command;
      values: Record<string, unknown>;
      json: boolean;
      operator: { actor: string; reason: string } | null;
    };

/**
 * Reads the arguments after the program's name.
 * @throws UsageError with one line that says what is wrong and what there is.
 */
export function readCommandLine(args: string[], environment: NodeJS.ProcessEnv): Request {
  const [nounName] = args;
  if (nounName === undefined) {
    throw new UsageError(`Say what to do: NOUN VERB. Nouns are ${names(COMMANDS)}; see --help`);
  }
  if (isHelp(nounName)) return { help: true };
  const noun = nounNamed(nounName);
  const [verbName, ...rest] = verbAndRest(noun, args.slice(1));
  if (verbName === undefined) {
    throw new UsageError(`${nounName} needs a verb: ${names(noun.verbs)}`);
  }
  if (isHelp(verbName)) return { help: true, noun: nounName };
  const command = verbNamed(noun, nounName, verbName);
  const options = optionsOf(command);
  const given = readOptions(options, `${nounName} ${verbName}`, named(command, rest));
  if (given.has('help')) return { help: true, noun: nounName, verb: verbName };
  const { actor, reason, ...values } = valuesOf(options, given);
  command.check(values);
  return {
    help: false,
    noun: nounName,
    verb: verbName,
    command,
    values,
    json: given.has('json'),
    operator: command.changes
      ? { actor: (actor as string | undefined) ?? actorOf(environment), reason: reason as string }
      : null,
  };
}

/** A word right after the verb is the value of the option that may be left out. */
function named({ argument }: Command, rest: string[]): string[] {
  const [first, ...others] = rest;
  const isValue = argument !== null && first !== undefined && !first.startsWith('-');
  return isValue ? [`--${argument}`, first, ...others] : rest;
}

/** A noun with a single verb needs no verb: options may follow it at once. */
function verbAndRest({ onlyVerb }: Noun, args: string[]): string[] {
  const [first] = args;
  const isVerb = first !== undefined && (!first.startsWith('-') || isHelp(first));
  return onlyVerb === undefined || isVerb ? args : [onlyVerb, ...args];
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h';
}

function nounNamed(name: string): Noun {
  const noun = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (noun) return noun;
  const misplaced = name.startsWith('-') ? 'Noun and verb come before the options' : 'Unknown noun';
  throw new UsageError(`${misplaced}: ${JSON.stringify(name)}. Nouns are ${names(COMMANDS)}`);
}

function verbNamed(noun: Noun, nounName: string, name: string): Command {
  const verb = Object.hasOwn(noun.verbs, name) ? noun.verbs[name] : undefined;
  if (verb) return verb;
  throw new UsageError(
    `${nounName} has no verb ${JSON.stringify(name)}: it has ${names(noun.verbs)}`,
  );
}

function names(table: Readonly<Record<string, unknown>>): string {
  return Object.keys(table).join(', ');
}

function valuesOf(options: Options, given: ReadonlyMap<string, string>): Record<string, unknown> {
  const missing = Object.keys(options).filter(
    (name) => options[name]!.presence === 'required' && !given.has(name),
  );
  if (missing.length > 0) {
    const list = missing.map((name) => `--${name}`).join(', ');
    throw new UsageError(`${list} ${missing.length > 1 ? 'are' : 'is'} required`);
  }
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, readValue(name, option, given)]),
  );
}

function readValue(
  name: string,
  option: Option<unknown>,
  given: ReadonlyMap<string, string>,
): unknown {
  try {
    return option.read(given.get(name));
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${name} ${error.message}`);
    throw error;
  }
}

function actorOf(environment: NodeJS.ProcessEnv): string {
  const name = environment[ACTOR_VARIABLE];
  if (!name) throw new UsageError(`Say who you are: --actor or ${ACTOR_VARIABLE}`);
  try {
    return ACTOR.read(name);
  } catch (error) {
    throw new UsageError(`${ACTOR_VARIABLE} ${(error as Error).message}`);
  }
}
