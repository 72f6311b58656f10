import { namedSchemas } from '../../src/api/documentation/named-schemas.ts';
import type { Schema } from '../../src/records/schema.ts';

/** Returns a part of the API's document with every name of a schema replaced by the schema. */
export function resolved<Part extends object>(
  part: Part,
  schemas: Readonly<Record<string, Schema>> = namedSchemas(),
): Part {
  return JSON.parse(
    JSON.stringify(part, (_key, value) =>
      typeof value?.$ref === 'string' ? schemas[value.$ref.split('/').at(-1)] : value,
    ),
  );
}
