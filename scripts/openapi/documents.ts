import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { openApiDocument } from '../../src/api/documentation/openapi.ts';
import { type Endpoint, endpoints, takesKey } from '../../src/api/endpoints/endpoints.ts';

/** Stands for the address of an installation, so that the text is the same everywhere. */
const PUBLIC_URL = 'https://malipo.example';

const HEADER = '/** Made from openapi.json by `npm run openapi`. Do not edit it. */\n\n';

/** Returns the API's document as the code makes it now. */
export function documentText(): string {
  return `${JSON.stringify(openApiDocument(PUBLIC_URL), null, 2)}\n`;
}

/** Returns the types of the document, for TypeScript. */
export async function schemaText(document: string): Promise<string> {
  const types = await openapiTS(JSON.parse(document) as OpenAPI3, {
    // A request may leave out a field that has a default.
    defaultNonNullable: false,
    // A choice of formats says nothing more about a string.
    transform: ({ type, anyOf }) =>
      type === 'string' && anyOf
        ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
        : undefined,
  });
  return `${HEADER}${astToString(types)}`;
}

/** Returns what the client must know of operations beside their types. */
export function operationsText(document: string): string {
  const { paths } = JSON.parse(document) as OpenAPI3;
  const named = Object.entries(paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => `  ${operationId}: ['${method}', '${path}'],\n`,
    ),
  );
  const keyed = Object.values<Endpoint>(endpoints)
    .filter(takesKey)
    .map(({ method, path }) => `  '${method.toUpperCase()} ${path}',\n`);
  return `${HEADER}/** The operations that take an Idempotency-Key. */
export const KEYED_OPERATIONS: ReadonlySet<string> = new Set([
${keyed.join('')}]);

/** Method and path of each operation, by its id. */
export const OPERATIONS = {
${named.join('')}} as const;
`;
}
