import { expect } from 'chai';
import { openApiDocument } from '../../../../src/api/documentation/openapi.ts';
import { resolved } from '../../../support/named-schema.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of the web, which the test looks into.
type Any = any;

describe('The descriptions of the documentation', () => {
  const document: Any = openApiDocument('https://pay.example');

  it('describe every field, parameter and header', () => {
    const found = [document.paths, document.webhooks, document.components].flatMap(fieldsIn);
    expect(found.length).to.be.above(500);
    const silent = found.filter(({ description }) => !description).map(({ where }) => where);
    expect(silent).to.deep.equal([]);
  });

  it('show an example of each webhook with all of its fields', () => {
    for (const [name, { post }] of Object.entries<Any>(document.webhooks)) {
      const { schema, example } = post.requestBody.content['application/json'];
      const { data } = resolved<Any>(schema).properties;
      expect(example.data, name).to.have.all.keys(Object.keys(data.properties));
    }
  });
});

interface Found {
  where: string;
  description: string | undefined;
}

/** Collects the fields of objects, the parameters and the headers, at any depth. */
function fieldsIn(part: Any, where: string | number = ''): Found[] {
  if (typeof part !== 'object' || part === null) return [];
  const named = [
    ...Object.entries<Any>(part.type ? (part.properties ?? {}) : {}),
    ...Object.entries<Any>(part.headers ?? {}),
    ...(part.parameters ?? []).map((parameter: Any) => [parameter.name, parameter]),
  ].map(([name, { description }]) => ({ where: `${where} ${name}`, description }));
  const children = Object.entries(part)
    .filter(([name]) => name !== 'example' && name !== 'examples')
    .flatMap(([name, child]) => fieldsIn(child, `${where}/${name}`));
  return [...named, ...children];
}
