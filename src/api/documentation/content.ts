import { IMPLIED, OWN_KEYWORDS, type Schema } from '../schemas/fields.ts';

/** Describes JSON of this schema, with an example. */
export function contentOf(schema: Schema) {
  return { 'application/json': { schema: published(schema), example: exampleOf(schema) } };
}

/** Returns a schema without our own keywords. */
export function published(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (OWN_KEYWORDS.includes(key) ? undefined : value)),
  );
}

/** Makes a value that a schema takes, from the examples of its parts, without what a token implies. */
export function exampleOf(schema: Schema): unknown {
  const examples = schema.examples as unknown[] | undefined;
  if (examples?.length) return examples[0];
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const types = [schema.type].flat();
  if (types.includes('object')) {
    const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    const shown = entries.filter(([name]) => !schema[IMPLIED]?.includes(name));
    return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]));
  }
  if (types.includes('array')) return [exampleOf(schema.items as Schema)];
  if (types.includes('null')) return null;
  return BY_TYPE[String(types[0])];
}

const BY_TYPE: Record<string, unknown> = { boolean: true, integer: 1, string: 'text' };
