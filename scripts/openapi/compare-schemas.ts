/** A JSON Schema, as OpenAPI 3.1 has it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  default?: unknown;
  [keyword: string]: unknown;
}

/** The side that makes a value: callers send requests, the service sends answers. */
export type Maker = 'caller' | 'service';

/** Keywords whose values cannot be compared: any change may rule out what was allowed. */
const OPAQUE = [
  'pattern',
  'format',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'additionalProperties',
  'multipleOf',
];
const UPPER_LIMITS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'];
const LOWER_LIMITS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];

/**
 * Lists what callers cannot rely on any more in a schema that has changed: fields that are gone,
 * requests that were taken and would be refused, and answers that could not have been before.
 * @param path where the schema stands, such as `answer 200.results[]`
 */
export function compareSchemas(
  released: Schema,
  current: Schema,
  maker: Maker,
  path: string,
): string[] {
  const [from, to] = maker === 'caller' ? [released, current] : [current, released];
  const change = maker === 'caller' ? 'is narrower' : 'is wider';
  const isOtherDefault = maker === 'caller' && released.default !== current.default;
  return [
    ...narrowed(from, to).map((keyword) => `${path} ${change} (${keyword})`),
    ...(isOtherDefault ? [`${path} has another default`] : []),
    ...compareRequired(from, to, maker, path),
    ...compareFields(released.properties, current.properties, maker, path),
    ...(released.items && current.items
      ? compareSchemas(released.items, current.items, maker, `${path}[]`)
      : []),
  ];
}

/** A field that is gone is another finding. */
function compareRequired(from: Schema, to: Schema, maker: Maker, path: string): string[] {
  const change = maker === 'caller' ? 'is required now' : 'may be missing now';
  return (to.required ?? [])
    .filter((name) => !from.required?.includes(name))
    .filter((name) => maker === 'caller' || from.properties?.[name])
    .map((name) => `${path}.${name} ${change}`);
}

function compareFields(
  released: Schema['properties'] = {},
  current: Schema['properties'] = {},
  maker: Maker,
  path: string,
): string[] {
  return Object.entries(released).flatMap(([name, before]) => {
    const now = current[name];
    return now
      ? compareSchemas(before, now, maker, `${path}.${name}`)
      : [`${path}.${name} is gone`];
  });
}

/** Lists the keywords by which `to` refuses something that `from` allows. */
function narrowed(from: Schema, to: Schema): string[] {
  const same = (keyword: string) => JSON.stringify(from[keyword]) === JSON.stringify(to[keyword]);
  const limit = (schema: Schema, keyword: string, none: number) => Number(schema[keyword] ?? none);
  return [
    ...(isWithin(typesOf(from), typesOf(to)) ? [] : ['type']),
    ...(isWithin(valuesOf(from), valuesOf(to)) ? [] : ['enum']),
    ...OPAQUE.filter((keyword) => keyword in to && !same(keyword)),
    ...(to.uniqueItems && !from.uniqueItems ? ['uniqueItems'] : []),
    ...UPPER_LIMITS.filter((k) => limit(to, k, Infinity) < limit(from, k, Infinity)),
    ...LOWER_LIMITS.filter((k) => limit(to, k, -Infinity) > limit(from, k, -Infinity)),
  ];
}

/** Null stands for anything. */
function isWithin(some: unknown[] | null, others: unknown[] | null): boolean {
  if (others === null) return true;
  return some?.every((each) => others.includes(each)) ?? false;
}

function typesOf(schema: Schema): string[] | null {
  const types = [schema.type ?? valuesOf(schema)?.map(typeOfValue) ?? []].flat();
  if (types.length === 0) return null;
  return types.includes('number') ? [...types, 'integer'] : types;
}

function valuesOf(schema: Schema): unknown[] | null {
  if ('const' in schema) return [schema.const];
  return schema.enum ?? null;
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
