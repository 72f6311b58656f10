import type { Schema } from '../../src/api/schemas/fields.ts';

/**
 * Returns a schema of an answer that rules out what it does not name. The published one does not,
 * so that a field that is added breaks nobody. Our own tests notice such a field.
 */
export function strict(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === 'object' && value.properties
      ? { ...value, additionalProperties: false }
      : value,
  );
}
