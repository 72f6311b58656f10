import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { refusalsOf } from '../../src/api/documentation/refusals.ts';
import { type Endpoint, endpoints } from '../../src/api/endpoints/endpoints.ts';
import { ERROR_ANSWERS } from '../../src/api/error-answers.ts';
import { createAjv } from '../../src/api/schemas/validator.ts';
import { resolved } from '../support/named-schema.ts';
import { request, useService } from '../support/world.ts';

const all = Object.values(endpoints) as Endpoint[];

// biome-ignore lint/suspicious/noExplicitAny: a document of the web, which the tests look into.
type Any = any;

describe('The OpenAPI document', () => {
  const service = useService({ merchant: 'none' });
  let document: Any;

  before(async () => {
    document = (await request('GET', `${service.origin}/openapi.json`)).body;
  });

  const operations = (): [path: string, method: string, operation: Any][] =>
    Object.entries(document.paths as Record<string, Record<string, Any>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]): [string, string, Any] => [
          path,
          method,
          operation,
        ]),
    );

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors ?? []).to.deep.equal([]);
    expect([valid, validator.version]).to.deep.equal([true, '3.1']);
  });

  it('names every endpoint, and where the API is', () => {
    expect(document.servers).to.deep.equal([{ url: service.baseUrl }]);
    const byId = new Map<string, Endpoint>(Object.entries(endpoints));
    const named = operations().map(([path, method, { operationId }]) => [
      operationId,
      method,
      path,
    ]);
    expect(named).to.have.deep.members(
      [...byId].map(([id, { method, path }]) => [id, method, path]),
    );
    for (const [, , { operationId, security }] of operations()) {
      const needsToken = byId.get(operationId)?.roles !== undefined;
      expect(security, operationId).to.deep.equal(needsToken ? [{ token: [] }] : []);
    }
  });

  it('shows examples that their own schemas take', () => {
    const ajv = createAjv();
    const schemas = document.components.schemas;
    let count = 0;
    const check = (schema: Any, example: unknown, what: string) => {
      count += 1;
      const isValid = ajv.validate(resolved(schema, schemas), example);
      expect(isValid, `${what}: ${ajv.errorsText()} in ${JSON.stringify(example)}`).to.equal(true);
    };
    const checkEach = (where: Any, what: string) => {
      if (Array.isArray(where)) {
        for (const item of where) checkEach(item, what);
      } else if (typeof where === 'object' && where !== null) {
        if (where.schema && 'example' in where) check(where.schema, where.example, what);
        if (where.schema && where.examples) {
          for (const { value } of Object.values<Any>(where.examples)) {
            check(where.schema, value, what);
          }
        }
        if (where.type && Array.isArray(where.examples)) {
          const { examples, ...schema } = where;
          for (const example of examples)
            check(schema, example, `${what} ${JSON.stringify(schema)}`);
        }
        for (const [name, child] of Object.entries(where)) {
          if (name !== 'example') checkEach(child, `${what}/${name}`);
        }
      }
    };
    checkEach(document.paths, 'paths');
    checkEach(document.webhooks, 'webhooks');
    expect(count).to.be.above(100);
  });

  it('shows examples that agree with themselves', () => {
    const exampleOf = (path: string) =>
      document.paths[path].get.responses['200'].content['application/json'].example;
    const collection = exampleOf('/collections/checkouts/{checkout_id}');
    expect(collection).to.include({ status: 'pending', amount: '250.00', commission: '3.75' });
    expect(collection).to.include({ net_amount: '246.25', payment_completed_at: null });
    expect(exampleOf('/payouts/{payout_id}').payment_completed_at).to.equal(null);
    const { requestBody } = document.paths['/payouts/initiate'].post;
    const { example } = requestBody.content['application/json'];
    expect(example).to.include({ app_code: 5001 }).and.not.have.property('currency');
  });

  it('rules out no further field of an answer or a webhook, which may be added', () => {
    for (const schema of [document, all.map(({ answer }) => answer)]) {
      expect(JSON.stringify(schema)).to.not.match(/additionalProperties|unevaluatedProperties/);
    }
  });

  it('calls records and bodies of requests by their names, and each name by one schema', () => {
    const { schemas } = document.components;
    const text = JSON.stringify(document);
    const used = new Set(
      [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, to]) => to),
    );
    expect([...used].sort()).to.deep.equal(Object.keys(schemas).sort());
    const lists = operations().flatMap(([, , { responses }]) => {
      const { schema } = responses[200].content['application/json'];
      const page = schemas[schema.$ref?.split('/').at(-1)];
      return page?.properties?.results ? [page.properties.results.items] : [];
    });
    expect(lists).to.have.length.above(5);
    for (const items of lists) expect(items).to.have.all.keys('$ref');
    expect(schemas.InitiatedPayout.required).to.include('payto');
  });

  it('keeps to itself how requests are checked', () => {
    expect(JSON.stringify(document)).to.not.match(
      /"x-(?!enumDescriptions|codeSamples|roles|product|approved-for)/,
    );
  });

  it('says which fields of a payout may be left out, and what follows a 502', () => {
    const { requestBody } = document.paths['/payouts/initiate'].post;
    const { schema } = requestBody.content['application/json'];
    expect(schema).to.deep.equal({ $ref: '#/components/schemas/InitiatePayout' });
    const { required } = document.components.schemas.InitiatePayout;
    expect(required).to.deep.equal(['payto', 'amount', 'ref_no', 'callback_url', 'app_code']);
    const { description, responses } = document.paths['/reversals/initiate'].post;
    for (const text of [description, responses['502'].description]) {
      expect(text).to.include('with the same Idempotency-Key');
    }
  });

  it('says of every failure whether something may have been recorded', () => {
    for (const [path, method, { responses, security, parameters }] of operations()) {
      const takesKey =
        method === 'post' &&
        security.length > 0 &&
        !path.startsWith('/auth/') &&
        path !== '/webhooks/test';
      const isPayment = takesKey && !path.startsWith('/webhooks/');
      const changes = isPayment
        ? /may have been recorded.*same `ref_no`.*never.*409/
        : /may have been done/i;
      const saying = method === 'get' ? /; nothing was changed$/ : changes;
      for (const status of [500, 503]) {
        expect(responses[status].description, path).to.match(saying);
      }
      const key = parameters.find(({ name }: Any) => name === 'Idempotency-Key');
      expect(key !== undefined, path).to.equal(takesKey);
      if (key) expect(key.description).to.match(/500 or 503.*502/);
    }
    const { responses } = document.paths['/payouts/initiate'].post;
    expect(responses[503].description).to.include('`channel_paused`: nothing was recorded');
  });

  it('names every refusal of the API for some endpoint', () => {
    const named = new Set(all.flatMap((endpoint) => refusalsOf(endpoint).map(([code]) => code)));
    // What is no endpoint is of none, and each can fail.
    const ofNone = [
      ...['path_not_found', 'method_not_allowed', 'internal_error'],
      ...['request_timeout', 'headers_too_large'],
    ];
    const expected = Object.keys(ERROR_ANSWERS).filter((code) => !ofNone.includes(code));
    expect([...named]).to.have.members(expected);
  });
});
