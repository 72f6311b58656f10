import { Ajv, type ValidateFunction } from 'ajv';
import { isCallbackUrl, isStorableText } from '../../domain/callback-url.ts';
import { type ErrorCode, Refusal } from '../../domain/errors.ts';
import { parseAmount } from '../../domain/money.ts';
import { isKenyanMobile } from '../../domain/phone.ts';
import { CHECK, REFUSAL, type Schema } from './fields.ts';

/** A request's body or query: fields by name, in the order in which they are documented. */
export interface InputSchema extends Schema {
  type: 'object';
  properties: Record<string, Schema>;
  required?: readonly string[];
}

/** What is wrong with one field among all; its own schema has taken it, not yet the others'. */
export type FieldCheck = (fields: Record<string, unknown>) => ErrorCode | null;

/** The one ajv, with the formats that our schemas use. */
export function createAjv(): Ajv {
  const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false });
  ajv.addKeyword({ keyword: REFUSAL });
  ajv.addKeyword({ keyword: CHECK });
  // A keyword of OpenAPI that only describes.
  ajv.addKeyword({ keyword: 'example' });
  ajv.addFormat('amount', (value) => parseAmount(value) !== null);
  ajv.addFormat('kenyan-mobile', isKenyanMobile);
  ajv.addFormat('callback-url', isCallbackUrl);
  ajv.addFormat('plain-text', isStorableText);
  ajv.addFormat('date', isDate);
  ajv.addFormat('date-time', (value) => !Number.isNaN(Date.parse(value)));
  ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
  return ajv;
}

function isDate(value: string): boolean {
  // Postgres knows no year 0.
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value) || value < '0001') return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

const ajv = createAjv();

/**
 * Compiles a body's schema. Missing fields are refused first, then wrong ones, each in the
 * documented order; null and empty count as missing where a field is required.
 */
export function bodyParser(schema: InputSchema): (body: unknown) => Record<string, unknown> {
  const validate = ajv.compile(schema);
  const required = schema.required ?? [];
  return (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new Refusal('invalid_request');
    }
    const fields = withoutEmpty(body as Record<string, unknown>, schema);
    for (const name of required) {
      if (!Object.hasOwn(fields, name)) throw new Refusal('field_required', name);
    }
    const wrong = wrongFields(validate, fields);
    for (const [name, property] of Object.entries(schema.properties)) {
      const code = wrong.has(name) ? codeOf(property) : checked(property, name, fields);
      if (code) throw new Refusal(code, code === 'invalid_field' ? name : '');
    }
    return fields;
  };
}

function codeOf(property: Schema): ErrorCode {
  return (property[REFUSAL] as ErrorCode | undefined) ?? 'invalid_field';
}

function checked(
  property: Schema,
  name: string,
  fields: Record<string, unknown>,
): ErrorCode | null {
  const check = property[CHECK] as FieldCheck | undefined;
  return check && Object.hasOwn(fields, name) ? check(fields) : null;
}

/** The known fields that have a value. What a caller sends besides is ignored. */
function withoutEmpty(
  body: Record<string, unknown>,
  { properties, required = [] }: InputSchema,
): Record<string, unknown> {
  const fields = Object.keys(properties)
    .filter((name) => Object.hasOwn(body, name))
    .map((name): [string, unknown] => [name, body[name]])
    .filter(([name, value]) => {
      const isEmpty = value === null || value === undefined || value === '';
      return !(isEmpty && (required.includes(name) || value !== ''));
    });
  return Object.fromEntries(fields);
}

/**
 * Compiles a query's schema. Unknown parameters are ignored; a wrong or repeated one is
 * refused by its name; defaults are filled in.
 */
export function queryParser(schema: InputSchema): (query: object) => Record<string, unknown> {
  const validate = ajv.compile(schema);
  return (query) => {
    const values: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(schema.properties)) {
      const text = Object.hasOwn(query, name)
        ? (query as Record<string, unknown>)[name]
        : undefined;
      values[name] = text === undefined ? property.default : numberIn(text, property);
      if (values[name] === undefined) delete values[name];
    }
    const wrong = wrongFields(validate, values);
    const first = Object.keys(schema.properties).find((name) => wrong.has(name));
    if (first !== undefined) throw new Refusal('invalid_query', first);
    return values;
  };
}

/** The number that a text is, where the schema wants one; else the text, for the schema to refuse. */
function numberIn(text: unknown, { type }: Schema): unknown {
  const isNumber = type === 'integer' && typeof text === 'string' && /^\d{1,9}$/.test(text);
  return isNumber ? Number(text) : text;
}

/** The names of the fields whose values the schema does not take. */
function wrongFields(
  validate: ValidateFunction,
  values: Record<string, unknown>,
): ReadonlySet<string | undefined> {
  if (validate(values)) return new Set();
  return new Set((validate.errors ?? []).map(({ instancePath }) => instancePath.split('/')[1]));
}
