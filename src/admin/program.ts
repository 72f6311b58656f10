import { Command, type CommanderError } from 'commander';
import { UsageError } from '../operations/field.ts';
import { COMMON_OPTIONS, type Given, orderOf } from './order.ts';
import { ACTOR_VARIABLE, type Nouns, type Order, TOKEN_VARIABLE, type Verb } from './verb.ts';

const NAME = 'malipo';
const HELP_WIDTH = 100;
const FOOTER = `
Exit status: 0 done, 1 refused or failed, 2 the command line is wrong.
It needs the address of the console (MALIPO_CONSOLE_URL), or else the environment of the service:
DATABASE_URL and the others. A verb that changes something needs --reason, and the audit log keeps
it with your name. Your name comes from your staff account (${TOKEN_VARIABLE}), or from --actor or ${ACTOR_VARIABLE} while there are no accounts.
Times are in Nairobi's time; with --utc they are UTC.`;

/**
 * Reads the arguments after the name of the program. `nouns` has at least the one that they name.
 * @returns the text of --help, or an order.
 * @throws UsageError with one line that says what is wrong and what there is.
 */
export function readCommandLine(
  args: string[],
  environment: NodeJS.ProcessEnv,
  nouns: Nouns,
): string | Order {
  let help = '';
  let order: Order | null = null;
  const program = createProgram((text) => {
    help += text;
  });
  for (const [name, { summary, verbs, defaultVerb }] of Object.entries(nouns)) {
    const noun = strict(program.command(name).description(summary).usage('VERB [options]'));
    for (const [verbName, verb] of Object.entries(verbs)) {
      const command = noun.command(verbName, { isDefault: verbName === defaultVerb });
      addVerb(strict(command).helpGroup(`${name}: ${summary}`), verb, (given) => {
        order = orderOf(`${name}.${verbName}`, verb, given, environment);
      });
    }
  }
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!help) throw error;
  }
  return order ?? help.trimEnd();
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
    .addHelpText('after', FOOTER);
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
    const [argument] = command.registeredArguments;
    const taken = argument ? `one ${argument.name()} and options` : 'options only';
    const excess = command.args[command.registeredArguments.length];
    return `${verb} takes ${taken}, not ${JSON.stringify(excess)}: ${flags}`;
  }
  const [, flag] = /^"(--[^=]+)=/.exec(given) ?? [];
  if (command.options.some(({ long }) => long === flag)) return `${flag} takes no value`;
  return `Unknown option ${given}: ${verb} takes ${flags}`;
}

function addVerb(command: Command, verb: Verb, receive: (given: Given) => void): void {
  const { summary, notes, twoPeople, argument, options } = verb;
  const given = new Map<string, string>();
  const take = (flag: string, text: string | null = '') => {
    if (given.has(flag)) throw new UsageError(`--${flag} is given twice`);
    if (text === null) {
      throw new UsageError(`--${flag} needs a value; one with a dash in front is --${flag}=-…`);
    }
    given.set(flag, text);
  };
  const role = verb.role === 'anyone' ? '' : `Role: ${verb.role}.`;
  const people = twoPeople && `A second person must agree: ${twoPeople}.`;
  const description = [`${summary}.`, notes, role, people].filter(Boolean).join('\n\n');
  command.summary(summary).description(description);
  for (const { flag, placeholder, ...field } of [...Object.values(options), ...COMMON_OPTIONS]) {
    const help = field.isRequired ? `${field.help} (required)` : field.help;
    // In brackets: the next argument is its value, unless that looks like an option.
    command.option(placeholder ? `--${flag} [${placeholder}]` : `--${flag}`, help);
    command.on(`option:${flag}`, (text) => take(flag, text));
  }
  const named = argument && options[argument];
  if (named) {
    const { placeholder, isRequired } = named;
    const term = isRequired ? placeholder : `[${placeholder}]`;
    // In brackets, because its flag may stand in its place.
    command.usage(`${term} [options]`).argument(`[${placeholder}]`);
  }
  command.action((value?: unknown) => {
    if (named && typeof value === 'string') take(named.flag, value);
    receive(given);
  });
}
