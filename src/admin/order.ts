import { DEFAULT_ZONE, type Zone } from '../domain/period.ts';
import { type Fields, flag, UsageError } from '../operations/field.ts';
import { readOwnSecret } from '../process/secrets.ts';
import {
  ACTOR,
  ACTOR_VARIABLE,
  type Identity,
  type Order,
  TOKEN_VARIABLE,
  type Verb,
} from './verb.ts';

const JSON_FLAG = flag('json', 'Print one JSON document and nothing else');
const UTC_FLAG = flag('utc', 'Read days and show times in UTC, not in the time of Nairobi (EAT)');

/** The options that every verb has. */
export const COMMON_OPTIONS = [UTC_FLAG, JSON_FLAG];

/** The texts of the options by flag. It is empty for an option without a value. */
export type Given = ReadonlyMap<string, string>;

/**
 * Reads the values of a verb's options. `action` is its name for the audit log.
 * @throws UsageError with one line that says what is wrong.
 */
export function orderOf(
  action: string,
  verb: Verb,
  given: Given,
  environment: NodeJS.ProcessEnv,
): Order {
  const zone = given.has(UTC_FLAG.flag) ? 'UTC' : DEFAULT_ZONE;
  const { actor, reason, ...values } = valuesOf(verb.options, given, zone);
  verb.check?.(values);
  const identity = identityOf(verb, actor as string | undefined, environment);
  const isJson = given.has(JSON_FLAG.flag);
  return { action, verb, values, isJson, zone, identity, reason: (reason as string) ?? null };
}

function valuesOf(options: Fields, given: Given, zone: Zone): Record<string, unknown> {
  const missing = Object.values(options)
    .filter(({ isRequired, flag }) => isRequired && !given.has(flag))
    .map(({ flag }) => `--${flag}`);
  if (missing.length > 0) {
    throw new UsageError(`${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} required`);
  }
  const values = Object.entries(options).map(([name, { flag, read }]) => {
    return [name, named(`--${flag}`, () => read(given.get(flag), zone))];
  });
  return Object.fromEntries(values);
}

function identityOf(
  { changes, role }: Verb,
  actor: string | undefined,
  environment: NodeJS.ProcessEnv,
): Identity {
  // Nobody asks who reads what everybody may.
  if (!changes && role === 'anyone') return {};
  const name = environment[ACTOR_VARIABLE];
  const usual = name ? named(ACTOR_VARIABLE, () => ACTOR.read(name, DEFAULT_ZONE)) : undefined;
  const { text: token, problem } = readOwnSecret(TOKEN_VARIABLE, environment);
  if (problem) throw new UsageError(problem);
  if (changes && !actor && !usual && !token) {
    throw new UsageError(`Say who you are: ${TOKEN_VARIABLE}, --actor or ${ACTOR_VARIABLE}`);
  }
  return { named: actor, usual, token };
}

/** Puts the name of a value before what is wrong with it. */
function named<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name} ${error.message}`) : error;
  }
}
