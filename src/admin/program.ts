import { Command, type CommanderError } from 'commander';
import { NOUNS } from './nouns.ts';
import { flag, type Options, UsageError } from './options/option.ts';
import { ACTOR, ACTOR_VARIABLE, type Order, type Verb } from './verb.ts';

const NAME = 'npm run -s admin --';
const HELP_WIDTH = 100;
const FOOTER = `
Exit status: 0 done, 1 refused or failed, 2 the command line is wrong.
The environment is that of the service: DATABASE_URL and the others. A verb that changes something
needs --reason and an actor (--actor or ${ACTOR_VARIABLE}), and the audit log keeps both.`;
const BUILT = '\nIn the built service, node dist/scripts/admin.js stands for npm run -s admin --.';

const JSON_FLAG = flag('json', 'Print one JSON document and nothing else');

/**
 * Reads the arguments after the name of the program. @returns the text of --help, or an order.
 * @throws UsageError with one line that says what is wrong and what there is.
 */
export function readCommandLine(args: string[], environment: NodeJS.ProcessEnv): string | Order {
  let help = '';
  let order: Order | null = null;
  const program = createProgram((text) => {
    help += text;
  });
  for (const [name, { summary, verbs, defaultVerb }] of Object.entries(NOUNS)) {
    const noun = strict(program.command(name).description(summary).usage('VERB [options]'));
    for (const [verbName, verb] of Object.entries(verbs)) {
      const command = noun.command(verbName, { isDefault: verbName === defaultVerb });
      addVerb(strict(command).helpGroup(`${name}: ${summary}`), verb, (given) => {
        order = orderOf(`${name}.${verbName}`, verb, given, environment);
      });
    }
  }
  try {
    program.parse(withFlag(args), { from: 'user' });
  } catch (error) {
    if (!help) throw error;
  }
  return order ?? help.trimEnd();
}

/** Gives a value that stands right after the verb the flag that may be left out. */
function withFlag(args: string[]): string[] {
  const [noun = '', name = '', value, ...rest] = args;
  const verb = NOUNS[noun]?.verbs?.[name];
  const option = verb?.argument && verb.options[verb.argument];
  if (!option || value === undefined || value.startsWith('-')) return args;
  return [noun, name, `--${option.flag}=${value}`, ...rest];
}

function createProgram(writeOut: (text: string) => void): Command {
  const program = new Command(NAME)
    .description("Malipo's command line for its operator.")
    .usage('NOUN VERB [options]')
    .helpCommand(false)
    .helpOption('-h, --help', 'Show this')
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut, writeErr: () => {} })
    .configureHelp({
      helpWidth: HELP_WIDTH,
      optionTerm: ({ flags }) => flags.replace(/[[\]]/g, ''),
      subcommandTerm: (command) => command.name(),
      // The overview shows the verbs of every noun.
      visibleCommands: ({ parent, commands }) =>
        parent ? [...commands] : commands.flatMap((noun) => noun.commands),
    })
    .addHelpText('after', FOOTER)
    .addHelpText('afterAll', BUILT);
  return strict(program);
}

/** Makes a command throw its usage problems. */
function strict(command: Command): Command {
  return command.exitOverride((error) => {
    throw error.exitCode === 0 ? error : new UsageError(problemOf(command, error));
  });
}

function problemOf(command: Command, { code, message }: CommanderError): string {
  const given = JSON.stringify(/'(.*)'/s.exec(message)?.[1] ?? '');
  const name = command.name();
  const there = command.commands.map((each) => each.name()).join(', ');
  const isIncomplete = code === 'commander.help';
  if (!command.parent) {
    if (isIncomplete) return `Say what to do: NOUN VERB. Nouns are ${there}; see --help`;
    const isOption = code === 'commander.unknownOption';
    const problem = isOption ? 'Noun and verb come before the options' : 'Unknown noun';
    return `${problem}: ${given}. Nouns are ${there}`;
  }
  if (there) {
    if (isIncomplete) return `${name} needs a verb: ${there}`;
    return `${name} has no verb ${given}: it has ${there}`;
  }
  const verb = `${command.parent.name()} ${name}`;
  const flags = [...command.options.map(({ long }) => long), '--help'].join(', ');
  if (code === 'commander.excessArguments') {
    return `${verb} takes options only, not ${JSON.stringify(command.args[0])}: ${flags}`;
  }
  const [, flag] = /^"(--[^=]+)=/.exec(given) ?? [];
  if (command.options.some(({ long }) => long === flag)) return `${flag} takes no value`;
  return `Unknown option ${given}: ${verb} takes ${flags}`;
}

/** The texts of the options by flag. It is empty for an option without a value. */
type Given = ReadonlyMap<string, string>;

function addVerb(command: Command, verb: Verb, receive: (given: Given) => void): void {
  const { summary, notes, argument, options } = verb;
  const given = new Map<string, string>();
  const take = (flag: string, text: string | null = '') => {
    if (given.has(flag)) throw new UsageError(`--${flag} is given twice`);
    if (text === null) {
      throw new UsageError(`--${flag} needs a value; one with a dash in front is --${flag}=-…`);
    }
    given.set(flag, text);
  };
  command.summary(summary).description(notes ? `${summary}.\n\n${notes}` : `${summary}.`);
  for (const { flag, placeholder, help } of [...Object.values(options), JSON_FLAG]) {
    // In brackets: the next argument is its value, unless that looks like an option.
    command.option(placeholder ? `--${flag} [${placeholder}]` : `--${flag}`, help);
    command.on(`option:${flag}`, (text) => take(flag, text));
  }
  if (argument) command.usage(`[${options[argument]?.placeholder}] [options]`);
  command.action(() => receive(given));
}

function orderOf(action: string, verb: Verb, given: Given, environment: NodeJS.ProcessEnv): Order {
  const { actor, reason, ...values } = valuesOf(verb.options, given);
  verb.check?.(values);
  const operator = verb.changes
    ? { actor: (actor as string | undefined) ?? actorOf(environment), reason: reason as string }
    : null;
  return { action, verb, values, isJson: given.has('json'), operator };
}

function valuesOf(options: Options, given: Given): Record<string, unknown> {
  const missing = Object.values(options)
    .filter(({ isRequired, flag }) => isRequired && !given.has(flag))
    .map(({ flag }) => `--${flag}`);
  if (missing.length > 0) {
    throw new UsageError(`${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} required`);
  }
  const values = Object.entries(options).map(([name, { flag, read }]) => {
    return [name, named(`--${flag}`, () => read(given.get(flag)))];
  });
  return Object.fromEntries(values);
}

function actorOf(environment: NodeJS.ProcessEnv): string {
  const name = environment[ACTOR_VARIABLE];
  if (!name) throw new UsageError(`Say who you are: --actor or ${ACTOR_VARIABLE}`);
  return named(ACTOR_VARIABLE, () => ACTOR.read(name));
}

/** Puts the name of a value before what is wrong with it. */
function named<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name} ${error.message}`) : error;
  }
}
