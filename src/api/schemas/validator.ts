import { Ajv, type ValidateFunction } from 'ajv';
import { isCallbackUrl, isEndpoint } from '../../domain/address.ts';
import { type ErrorCode, Refusal } from '../../domain/errors.ts';
import { isDay, spanOf } from '../../domain/period.ts';
import { isKenyanMobile, isPlainText } from '../../domain/text.ts';
import {
  CHECK,
  OWN_KEYWORDS,
  REFUSALS,
  type Schema,
  UUID,
  type ValueOf,
} from '../../records/schema.ts';

declare const INPUT: unique symbol;

/**
 * Schema of a body or a query. Its fields are in the order of the documentation. `Input` is the
 * type of what it accepts: `bodyOf` and `queryOf` infer it from the fields.
 */
export interface InputSchema<Input = unknown> extends Schema {
  type: 'object';
  properties: Record<string, Schema>;
  required?: readonly string[];
  [INPUT]?: Input;
}

/** The type of what a schema accepts. */
export type InputOf<Accepting> = Accepting extends InputSchema<infer Input> ? Input : never;

/** The input of an endpoint that takes none. */
export const NO_INPUT: InputSchema<never> = { type: 'object', properties: {} };

type Properties = Readonly<Record<string, Schema>>;

/** The fields `Needed` with their values, and the others, which may be missing. */
type Given<Of extends Properties, Needed extends keyof Of> = {
  [Name in Needed]: ValueOf<Of[Name]>;
} & { [Name in Exclude<keyof Of, Needed>]?: ValueOf<Of[Name]> | undefined };

/** Makes the schema of a body. All fields are needed but the optional ones. */
export function bodyOf<const Of extends Properties, Optional extends keyof Of & string = never>(
  properties: Of,
  optional: readonly Optional[] = [],
): InputSchema<Given<Of, Exclude<keyof Of, Optional>>> {
  const others: readonly string[] = optional;
  const required = Object.keys(properties).filter((name) => !others.includes(name));
  return { type: 'object', properties, required };
}

/** The names of the fields with a default. */
type Preset<Of extends Properties> = {
  [Name in keyof Of]: Of[Name] extends { default: unknown } ? Name : never;
}[keyof Of];

/** Makes the schema of a query. A field is missing unless it is given or has a default. */
export function queryOf<const Of extends Properties>(
  properties: Of,
): InputSchema<Given<Of, Preset<Of>>> {
  return { type: 'object', properties };
}

/** Creates the validator, with the formats of our schemas. */
export function createAjv(): Ajv {
  const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false });
  // They check nothing by themselves. The last two are for readers of the documentation.
  ajv.addVocabulary([...OWN_KEYWORDS, 'example', 'x-enumDescriptions']);
  ajv.addFormat('kenyan-mobile', isKenyanMobile);
  ajv.addFormat('callback-url', isCallbackUrl);
  ajv.addFormat('endpoint', isEndpoint);
  ajv.addFormat('plain-text', isPlainText);
  ajv.addFormat('date', isDay);
  ajv.addFormat('date-time', (value) => !isDay(value) && spanOf(value) !== null);
  ajv.addFormat('uuid', UUID);
  return ajv;
}

const ajv = createAjv();

type Fields = Record<string, unknown>;

/**
 * Compiles the schema of a body. Missing fields are refused first, then wrong ones, each in the
 * documented order. A required field that is null or empty is missing.
 */
export function bodyParser<Input>(schema: InputSchema<Input>): (body: unknown) => Input {
  const validate = ajv.compile<Input>(schema);
  const { properties, required = [] } = schema;
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new Refusal('invalid_request');
    }
    const fields = givenFields(body, Object.keys(properties), required);
    for (const name of required) {
      if (fields[name] === undefined) throw new Refusal('field_required', name);
    }
    const isValid = validate(fields);
    const wrong = isValid ? NONE : wrongFields(validate);
    for (const [name, property] of Object.entries(properties)) {
      const problem = Object.hasOwn(fields, name) ? property[CHECK]?.(fields) : null;
      const code = problem ?? (wrong.has(name) ? usualRefusal(property) : null);
      if (code) throw new Refusal(code, name);
    }
    if (!isValid) throw new Refusal('invalid_request');
    return fields;
  };
}

/** Returns the fields of these names that have a value. A needed field that is empty has none. */
function givenFields(body: object, names: string[], needed: readonly string[]): Fields {
  const given = new Map<string, unknown>(Object.entries(body));
  const isGiven = (name: string) => {
    const value = given.get(name) ?? null;
    return value !== null && (value !== '' || !needed.includes(name));
  };
  return Object.fromEntries(names.filter(isGiven).map((name) => [name, given.get(name)]));
}

function usualRefusal({ [REFUSALS]: refusals = [] }: Schema): ErrorCode {
  return refusals[0] ?? 'invalid_field';
}

/**
 * Compiles the schema of a query. Sets defaults. Refuses a wrong, repeated or unknown parameter by its
 * name.
 */
export function queryParser<Input>(schema: InputSchema<Input>): (query: object) => Input {
  const validate = ajv.compile<Input>(schema);
  return (query) => {
    const given = new Map<string, unknown>(Object.entries(query));
    const values: Fields = {};
    for (const [name, property] of Object.entries(schema.properties)) {
      const text = given.get(name);
      const value = text === undefined ? property.default : numberIn(text, property);
      if (value !== undefined) values[name] = value;
    }
    const wrong = validate(values) ? NONE : wrongFields(validate);
    const known = Object.keys(schema.properties);
    const refused =
      known.find((name) => wrong.has(name)) ??
      [...given.keys()].find((name) => !known.includes(name));
    if (refused !== undefined) throw new Refusal('invalid_query', refused);
    return values as Input;
  };
}

/** The largest number of a parameter, unless its schema has a larger one. */
const MAX_NUMBER = 999_999_999;

/** Returns the number that the schema wants, or the text as it is, for the schema to refuse. */
function numberIn(text: unknown, { type, maximum }: Schema): unknown {
  const wantsNumber = [type].flat().includes('integer');
  if (!wantsNumber || typeof text !== 'string' || !/^\d{1,15}$/.test(text)) return text;
  const number = Number(text);
  const most = typeof maximum === 'number' ? Math.max(MAX_NUMBER, maximum) : MAX_NUMBER;
  return number <= most ? number : text;
}

const NONE: ReadonlySet<string | undefined> = new Set();

/** Returns the names of the fields that the schema has just refused. */
function wrongFields({ errors }: ValidateFunction): ReadonlySet<string | undefined> {
  return new Set((errors ?? []).map(({ instancePath }) => instancePath.split('/')[1]));
}
