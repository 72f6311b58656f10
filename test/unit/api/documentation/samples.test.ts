import { expect } from 'chai';
import { codeSamples, literal } from '../../../../src/api/documentation/samples.ts';
import { type Endpoint, endpoints, takesKey } from '../../../../src/api/endpoints/endpoints.ts';

const all = Object.entries<Endpoint>(endpoints);
const sourcesOf = (id: string, endpoint: Endpoint) =>
  codeSamples(id, endpoint, 'https://pay.example').map(({ label, source }) => ({
    source,
    what: `${label} of ${id}`,
  }));

describe('The samples of the documentation', () => {
  it('are in five languages for every endpoint', () => {
    for (const [id, endpoint] of all) {
      const labels = codeSamples(id, endpoint, 'https://pay.example').map(({ label }) => label);
      expect(labels).to.deep.equal(['curl', 'Node', 'Python', 'PHP', 'Java']);
    }
  });

  it('have the address, the token and all fields that the endpoint takes, and a key with a `ref_no`', () => {
    for (const [id, endpoint] of all) {
      for (const { source, what } of sourcesOf(id, endpoint)) {
        const fixed = endpoint.path.split('{')[0]!;
        expect(source, what).to.include(`https://pay.example/api/v1${fixed}`);
        expect(source, what).to.not.match(/undefined|\{\w+\}['"]/);
        expect(source.includes('Bearer'), what).to.equal(endpoint.roles !== undefined);
        const hasReference = endpoint.body?.required?.includes('ref_no') === true;
        const hasKey = takesKey(endpoint) && hasReference;
        expect(source.includes('Idempotency-Key'), what).to.equal(hasKey);
        for (const name of endpoint.body?.required ?? []) expect(source, what).to.include(name);
      }
    }
  });

  it('wait half a minute, and not for ever', () => {
    for (const [id, endpoint] of all) {
      for (const { source, what } of sourcesOf(id, endpoint)) {
        expect(source, what).to.match(
          /--max-time 30 |timeout\(30_000\)|timeout=30\)|'timeout' => 30,|ofSeconds\(30\)/,
        );
      }
    }
  });

  it('write any value as the language does', () => {
    const dialect = {
      object: ['[', ']'],
      array: ['(', ')'],
      pair: (name: string, value: string) => `${name} => ${value}`,
      words: { true: 'True', null: 'None' },
    } as const;
    const value = { a: "it's \\", b: [1, true, null], c: {} };
    expect(literal(value, dialect, 0)).to.equal(
      "[\n    a => 'it\\'s \\\\',\n    b => (\n        1,\n        True,\n        None,\n    ),\n    c => [\n    ],\n]",
    );
  });

  it('keep quotes of an example out of the shell and of text blocks', () => {
    const narration = `it's "three" """ and \\n`;
    const body = {
      type: 'object' as const,
      properties: { narration: { type: 'string', examples: [narration] } },
    };
    const endpoint = { ...endpoints.initiatePayout, body } as Endpoint;
    const [curl, , , , java] = codeSamples('x', endpoint, 'https://pay.example');
    expect(curl?.source).to.include(`it'\\''s`);
    const block = java!.source.split('"""\n')[1]!;
    expect(block).to.not.match(/(?<!\\)"""(?!;)/);
  });
});
