import type { Schema } from '../../src/records/schema.ts';

/**
 * Returns a schema of an answer that rules out what it does not name. The published one does not,
 * so that a field or a code that is added breaks nobody. Our own tests notice it.
 */
export function strict(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    const described = value?.['x-enumDescriptions'];
    if (described) return { ...value, enum: Object.keys(described) };
    const isObject = value?.type === 'object' && value.properties;
    return isObject ? { ...value, additionalProperties: false } : value;
  });
}
