import { documentText, operationsText, schemaText } from './documents.ts';

const CLIENT = new URL('../../clients/typescript/', import.meta.url);

/** The file of the client that has the API's document as it is now. */
export const CURRENT = new URL('openapi.json', CLIENT);
/** The file of the client that has the document of the last release. */
export const RELEASED = new URL('released.json', CLIENT);

/** Makes every file of the client that is made from the document, with its text. */
export async function clientFiles(): Promise<[file: URL, text: string][]> {
  const document = documentText();
  return [
    [CURRENT, document],
    [new URL('src/generated/schema.ts', CLIENT), await schemaText(document)],
    [new URL('src/generated/operations.ts', CLIENT), operationsText(document)],
  ];
}
