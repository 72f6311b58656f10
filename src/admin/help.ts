import type { Command, Noun } from './command.ts';
import { optionsOf } from './command-line.ts';
import { COMMANDS } from './commands.ts';
import { columns } from './output.ts';

/** The lines of --help for everything, a noun, or a verb. Both names are known ones. */
export function help(nounName?: string, verbName?: string): string[] {
  const noun = COMMANDS[nounName ?? ''];
  if (!noun || !nounName) return overview();
  const command = noun.verbs[verbName ?? ''];
  if (!command) return ofNoun(nounName, noun);
  return ofVerb(`${nounName} ${verbName}`, command);
}

function overview(): string[] {
  return [
    "Malipo's command line for its operator.",
    '',
    ...usage('NOUN VERB [options]'),
    '',
    ...Object.entries(COMMANDS).flatMap(([name, noun]) => [
      `${name}: ${noun.summary}`,
      ...verbLines(noun),
      '',
    ]),
    'NOUN --help and NOUN VERB --help tell more. --json prints one JSON document and nothing else.',
    'The environment is that of the service: DATABASE_URL and the rest. What changes something',
    'needs --reason and an actor (--actor or MALIPO_ACTOR), and is kept in the audit log.',
    'Exit status: 0 done, 1 refused or failed, 2 the command line is wrong.',
  ];
}

function ofNoun(name: string, noun: Noun): string[] {
  return [
    `${noun.summary}.`,
    '',
    ...usage(`${name} VERB [options]`),
    '',
    ...verbLines(noun),
    '',
    `${name} VERB --help lists the options of a verb.`,
  ];
}

function ofVerb(name: string, command: Command): string[] {
  const options = Object.entries(optionsOf(command));
  return [
    `${command.summary}.`,
    ...command.notes,
    '',
    ...usage(
      `${name} ${command.argument ? `[${command.options[command.argument]!.placeholder}] ` : ''}[options]`,
    ),
    '',
    ...columns([
      ...options.map(([option, spec]) => [
        `  --${option} ${spec.placeholder}`.trimEnd(),
        `${spec.help}${spec.presence === 'required' ? ' (required)' : ''}`,
      ]),
      ['  --json', 'Print one JSON document and nothing else'],
      ['  --help', 'Show this'],
    ]),
  ];
}

function usage(form: string): string[] {
  return [
    `Usage: npm run -s admin -- ${form}`,
    `       node dist/scripts/admin.js ${form}    (of the built service)`,
  ];
}

function verbLines(noun: Noun): string[] {
  return columns(Object.entries(noun.verbs).map(([verb, { summary }]) => [`  ${verb}`, summary]));
}
