import { parseArgs } from 'node:util';
import { type Options, UsageError } from './command.ts';

/**
 * The given options by name; those without value with an empty text.
 * @param what is the noun and the verb, for messages.
 * @throws UsageError for an argument that is none of these options, or not whole.
 */
export function readOptions(
  options: Options,
  what: string,
  args: string[],
): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const token of tokensOf(options, args)) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      const argument = JSON.stringify(token.value);
      throw new UsageError(`${what} takes options only, not ${argument}: ${listOf(options)}`);
    }
    const { name } = token;
    if (!Object.hasOwn(options, name) && !isCommon(name)) {
      const option = JSON.stringify(token.rawName);
      throw new UsageError(`Unknown option ${option}: ${what} takes ${listOf(options)}`);
    }
    if (given.has(name)) throw new UsageError(`--${name} is given twice`);
    const hasNoValue = isFlag(options, name);
    if (hasNoValue && token.value !== undefined) throw new UsageError(`--${name} takes no value`);
    if (!hasNoValue) requireValue(name, token.value, token.inlineValue === true);
    given.set(name, token.value ?? '');
  }
  return given;
}

function tokensOf(options: Options, args: string[]) {
  const types = Object.keys(options).map((name) => {
    const type = isFlag(options, name) ? ('boolean' as const) : ('string' as const);
    return [name, { type }] as const;
  });
  return parseArgs({
    args,
    options: {
      ...Object.fromEntries(types),
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
    // Every mistake is named above, in our own words.
    strict: false,
    tokens: true,
  }).tokens;
}

function isFlag(options: Options, name: string): boolean {
  return isCommon(name) || options[name]?.presence === 'flag';
}

function isCommon(name: string): boolean {
  return name === 'json' || name === 'help';
}

function listOf(options: Options): string {
  return [...Object.keys(options), 'json', 'help'].map((name) => `--${name}`).join(', ');
}

/** A dash begins an option, unless a digit follows it: that is a negative amount. */
function requireValue(name: string, value: string | undefined, isInline: boolean): void {
  if (value === undefined) throw new UsageError(`--${name} needs a value`);
  if (isInline || !/^-\D/.test(value)) return;
  throw new UsageError(`--${name} needs a value; one with a dash in front is --${name}=-…`);
}
