import { REFUSAL, type Schema } from '../schemas/fields.ts';

/** A schema as it is published: without our own keywords (functions are no JSON anyway). */
export function published(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === REFUSAL ? undefined : value)));
}
