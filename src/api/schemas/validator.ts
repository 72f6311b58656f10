import { Ajv, type ValidateFunction } from 'ajv';
import { isCallbackUrl, isEndpoint } from '../../domain/callback-url.ts';
import { type ErrorCode, Refusal } from '../../domain/errors.ts';
import { isDay, spanOf } from '../../domain/period.ts';
import { isKenyanMobile, isPlainText } from '../../domain/text.ts';
import { CHECK, IMPLIED, OWN_KEYWORDS, REFUSALS, type Schema, UUID } from './fields.ts';

/** Schema of a body or a query. Its fields are in the order of the documentation. */
export interface InputSchema extends Schema {
  type: 'object';
  properties: Record<string, Schema>;
  required?: readonly string[];
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
 * documented order. A required field that is null or empty is missing. A missing field that the
 * schema lets be implied is taken from `known`.
 */
export function bodyParser(schema: InputSchema): (body: unknown, known?: Fields) => Fields {
  const validate = ajv.compile(schema);
  const { properties, required = [], [IMPLIED]: implied = [] } = schema;
  const needed = Object.keys(properties).filter((name) => [...required, ...implied].includes(name));
  return (body, known = {}) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new Refusal('invalid_request');
    }
    const fields = givenFields(body as Fields, Object.keys(properties), needed);
    for (const name of implied) fields[name] ??= known[name];
    for (const name of needed) {
      if (fields[name] === undefined) throw new Refusal('field_required', name);
    }
    const wrong = wrongFields(validate, fields);
    for (const [name, property] of Object.entries(properties)) {
      const problem = Object.hasOwn(fields, name) ? property[CHECK]?.(fields) : null;
      const code = problem ?? (wrong.has(name) ? usualRefusal(property) : null);
      if (code) throw new Refusal(code, name);
    }
    return fields;
  };
}

/** Returns the fields of these names that have a value. A needed field that is empty has none. */
function givenFields(body: Fields, names: string[], needed: string[]): Fields {
  const isGiven = (name: string) =>
    Object.hasOwn(body, name) &&
    body[name] != null &&
    (body[name] !== '' || !needed.includes(name));
  return Object.fromEntries(names.filter(isGiven).map((name) => [name, body[name]]));
}

function usualRefusal({ [REFUSALS]: refusals = [] }: Schema): ErrorCode {
  return refusals[0] ?? 'invalid_field';
}

/**
 * Compiles the schema of a query. Sets defaults and ignores unknown parameters. Refuses a wrong or
 * repeated parameter by its name.
 */
export function queryParser(schema: InputSchema): (query: object) => Record<string, unknown> {
  const validate = ajv.compile(schema);
  return (query) => {
    const given = new Map<string, unknown>(Object.entries(query));
    const values: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(schema.properties)) {
      const text = given.get(name);
      values[name] = text === undefined ? property.default : numberIn(text, property);
      if (values[name] === undefined) delete values[name];
    }
    const wrong = wrongFields(validate, values);
    const first = Object.keys(schema.properties).find((name) => wrong.has(name));
    if (first !== undefined) throw new Refusal('invalid_query', first);
    return values;
  };
}

/** The largest number of a parameter, unless its schema has a larger one. */
const MAX_NUMBER = 999_999_999;

/** Returns the number that the schema wants, or the text as it is, for the schema to refuse. */
function numberIn(text: unknown, { type, maximum }: Schema): unknown {
  const wantsNumber = [type].flat().includes('integer');
  const isNumber = wantsNumber && typeof text === 'string' && /^\d{1,15}$/.test(text);
  const isInRange = Number(text) <= Math.max(MAX_NUMBER, Number(maximum ?? 0));
  return isNumber && isInRange ? Number(text) : text;
}

/** Returns the names of the fields that the schema refuses. */
function wrongFields(
  validate: ValidateFunction,
  values: Record<string, unknown>,
): ReadonlySet<string | undefined> {
  if (validate(values)) return new Set();
  return new Set((validate.errors ?? []).map(({ instancePath }) => instancePath.split('/')[1]));
}
