import { REFUSAL, type Schema } from '../schemas/fields.ts';
import { exampleOf } from './example.ts';

/** Describes JSON of this schema, with an example. */
export function contentOf(schema: Schema) {
  return { 'application/json': { schema: published(schema), example: exampleOf(schema) } };
}

/** Returns a schema without our own keywords. JSON has no functions, so checks are gone anyway. */
export function published(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === REFUSAL ? undefined : value)));
}
