import { expect } from 'chai';
import {
  type ApiDocument,
  compareDocuments,
} from '../../../../scripts/openapi/compare-documents.ts';
import { openApiDocument } from '../../../../src/api/documentation/openapi.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document whose parts the tests change at will.
type Any = any;

const DOCUMENT = JSON.stringify(openApiDocument('https://malipo.example'));
const INITIATE = '/payouts/initiate';
const LIST = '/collections/checkouts';
const JSON_TYPE = 'application/json';

const ROLE: string = JSON.parse(DOCUMENT).paths[INITIATE].post['x-roles'][0];

/** Puts a copy of a named schema in the place of its name, so that a change of it is found once. */
function own(document: Any, parent: Any, key = 'schema'): Any {
  const name = parent[key].$ref?.split('/').at(-1);
  if (name) parent[key] = structuredClone(document.components.schemas[name]);
  return parent[key];
}

const bodyOf = (document: Any) =>
  own(document, document.paths[INITIATE].post.requestBody.content[JSON_TYPE]);
const answerOf = (document: Any) =>
  own(document, document.paths[INITIATE].post.responses[200].content[JSON_TYPE]);
const itemOf = (document: Any) => {
  const page = own(document, document.paths[LIST].get.responses[200].content[JSON_TYPE]);
  return own(document, page.properties.results, 'items');
};
const eventOf = (document: Any) =>
  own(document, document.webhooks.payoutEnded.post.requestBody.content[JSON_TYPE]);
const queryOf = (document: Any, name: string) =>
  document.paths[LIST].get.parameters.find((parameter: Any) => parameter.name === name);

/** Returns what is found when the document changes like this after its release. */
function afterChange(change: (document: Any) => void): string[] {
  const released: ApiDocument = JSON.parse(DOCUMENT);
  const current = JSON.parse(DOCUMENT);
  change(current);
  return compareDocuments(released, current);
}

/** Changes that break callers, each with what must be found, once. */
const BREAKING: [what: string, change: (document: Any) => void, finding: string][] = [
  [
    'a path is gone',
    (document) => delete document.paths[INITIATE],
    'POST /payouts/initiate: is gone',
  ],
  [
    'a method is gone',
    (document) => delete document.paths['/auth/sessions/{id}'].delete,
    'DELETE /auth/sessions/{id}: is gone',
  ],
  [
    'an operation has another id',
    (document) => {
      document.paths[INITIATE].post.operationId = 'pay';
    },
    'POST /payouts/initiate: the operation id initiatePayout is gone',
  ],
  [
    'an operation needs a token',
    (document) => {
      document.paths['/auth/refresh'].post.security = [{ token: [] }];
    },
    'POST /auth/refresh: a token is required now',
  ],
  [
    'a role may not call it',
    (document) => document.paths[INITIATE].post['x-roles'].splice(0, 1, 'Other'),
    `POST /payouts/initiate: role ${ROLE} may not call it any more`,
  ],
  [
    'an app needs another product',
    (document) => {
      document.paths[LIST].get['x-product'] = 'other';
    },
    'GET /collections/checkouts: x-product other is required now',
  ],
  [
    'a merchant must be approved',
    (document) => {
      document.paths[LIST].get['x-approved-for'] = 'lists';
    },
    'GET /collections/checkouts: x-approved-for lists is required now',
  ],
  [
    'the base path is another one',
    (document) => {
      document.servers[0].url = 'https://malipo.example/api/v2';
    },
    'the base path /api/v1 is gone',
  ],
  ...(
    [
      ['exclusiveMinimum', 1],
      ['exclusiveMaximum', 50],
      ['multipleOf', 5],
      ['uniqueItems', true],
    ] as const
  ).map(([keyword, value]): [string, (document: Any) => void, string] => [
    `a parameter has ${keyword}`,
    (document) => {
      queryOf(document, 'page_size').schema[keyword] = value;
    },
    `GET /collections/checkouts: parameter page_size is narrower (${keyword})`,
  ]),
  [
    'a parameter is gone',
    (document) => {
      document.paths[LIST].get.parameters = document.paths[LIST].get.parameters.slice(1);
    },
    'GET /collections/checkouts: parameter page is gone',
  ],
  [
    'a parameter is required',
    (document) => {
      queryOf(document, 'ref_no').required = true;
    },
    'GET /collections/checkouts: parameter ref_no is required now',
  ],
  [
    'a new parameter is required',
    (document) => {
      const schema = { type: 'string' };
      document.paths[LIST].get.parameters.push({ name: 'by', in: 'query', required: true, schema });
    },
    'GET /collections/checkouts: parameter by is required now',
  ],
  [
    'a parameter takes fewer values',
    (document) => queryOf(document, 'status').schema.enum.pop(),
    'GET /collections/checkouts: parameter status is narrower (enum)',
  ],
  [
    'a parameter has a lower limit',
    (document) => {
      queryOf(document, 'page_size').schema.maximum = 50;
    },
    'GET /collections/checkouts: parameter page_size is narrower (maximum)',
  ],
  [
    'a parameter has another default',
    (document) => {
      queryOf(document, 'page_size').schema.default = 50;
    },
    'GET /collections/checkouts: parameter page_size has another default',
  ],
  [
    'a field of a request is gone',
    (document) => delete bodyOf(document).properties.narration,
    'POST /payouts/initiate: request.narration is gone',
  ],
  [
    'a field of a request is required',
    (document) => bodyOf(document).required.push('category'),
    'POST /payouts/initiate: request.category is required now',
  ],
  [
    'a new field of a request is required',
    (document) => {
      bodyOf(document).properties.purpose = { type: 'string' };
      bodyOf(document).required.push('purpose');
    },
    'POST /payouts/initiate: request.purpose is required now',
  ],
  [
    'a field of a request has another type',
    (document) => {
      bodyOf(document).properties.channel.type = 'string';
    },
    'POST /payouts/initiate: request.channel is narrower (type)',
  ],
  [
    'a field of a request takes fewer values',
    (document) => bodyOf(document).properties.category.enum.shift(),
    'POST /payouts/initiate: request.category is narrower (enum)',
  ],
  [
    'a field of a request has another pattern',
    (document) => {
      bodyOf(document).properties.ref_no.pattern = '^[a-z]+$';
    },
    'POST /payouts/initiate: request.ref_no is narrower (pattern)',
  ],
  [
    'a request has a body',
    (document) => {
      document.paths['/auth/logout'].post.requestBody = structuredClone(
        document.paths[INITIATE].post.requestBody,
      );
    },
    'POST /auth/logout: request is required now',
  ],
  [
    'a field of an answer is gone',
    (document) => {
      delete answerOf(document).properties.id;
      answerOf(document).required.shift();
    },
    'POST /payouts/initiate: answer 200.id is gone',
  ],
  [
    'a field of an answer may be missing',
    (document) => answerOf(document).required.shift(),
    'POST /payouts/initiate: answer 200.id may be missing now',
  ],
  [
    'a field of an answer may be null',
    (document) => {
      answerOf(document).properties.amount.type = ['string', 'null'];
    },
    'POST /payouts/initiate: answer 200.amount is wider (type)',
  ],
  [
    'a field of an answer has more values',
    (document) => answerOf(document).properties.status.enum.push('lost'),
    'POST /payouts/initiate: answer 200.status is wider (enum)',
  ],
  [
    'a field of an answer is of no format any more',
    (document) => delete answerOf(document).properties.id.format,
    'POST /payouts/initiate: answer 200.id is wider (format)',
  ],
  [
    'a field of a list’s records is gone',
    (document) => delete itemOf(document).properties.trans_id,
    'GET /collections/checkouts: answer 200.results[].trans_id is gone',
  ],
  [
    'a status is gone',
    (document) => delete document.paths[INITIATE].post.responses[409],
    'POST /payouts/initiate: answer 409 is gone',
  ],
  [
    'a header of an answer is gone',
    (document) => delete document.paths[INITIATE].post.responses[200].headers['X-RateLimit-Reset'],
    'POST /payouts/initiate: answer 200: header X-RateLimit-Reset is gone',
  ],
  [
    'an error code of an operation is gone',
    (document) =>
      delete document.paths[INITIATE].post.responses[409].content[JSON_TYPE].examples
        .duplicate_ref_no,
    'POST /payouts/initiate: answer 409: error code duplicate_ref_no is gone',
  ],
  [
    'an error code is gone altogether',
    (document) =>
      delete document.components.schemas.Error.properties.code['x-enumDescriptions'].path_not_found,
    'error code path_not_found is gone',
  ],
  [
    'a webhook is gone',
    (document) => delete document.webhooks.payoutEnded,
    'webhook payoutEnded: is gone',
  ],
  [
    'a header of a webhook is gone',
    (document) => document.webhooks.payoutEnded.post.parameters.shift(),
    'webhook payoutEnded: parameter X-Service-Timestamp is gone',
  ],
  [
    'a field of a webhook is gone',
    (document) => delete eventOf(document).properties.data.properties.trans_id,
    'webhook payoutEnded: request.data.trans_id is gone',
  ],
  [
    'a webhook has more events',
    (document) =>
      eventOf(document).properties.notification.properties.event.enum.push('transaction.created'),
    'webhook payoutEnded: request.notification.event is wider (enum)',
  ],
];

const HARMLESS: [what: string, change: (document: Any) => void][] = [
  [
    'a path, an error code and a webhook are added',
    (document) => {
      document.paths['/added'] = document.paths[LIST];
      document.webhooks.other = document.webhooks.payoutEnded;
      document.components.schemas.Error.properties.code['x-enumDescriptions'].new_one = 'New';
    },
  ],
  [
    'a parameter that may be left out is added',
    (document) => document.paths[LIST].get.parameters.push({ name: 'by', in: 'query', schema: {} }),
  ],
  [
    'a field of a request that may be left out is added',
    (document) => {
      bodyOf(document).properties.purpose = { type: 'string' };
    },
  ],
  [
    'a request takes more',
    (document) => {
      const { properties, required } = bodyOf(document);
      properties.channel.type = ['integer', 'string'];
      properties.category.enum.push('rent');
      properties.narration.maxLength = 500;
      delete properties.ref_no.pattern;
      required.pop();
    },
  ],
  [
    'an answer has more fields, and says more about each',
    (document) => {
      const schema = answerOf(document);
      schema.properties.receipt = { type: 'string' };
      schema.required.push('receipt');
      schema.properties.channel.minimum = 1;
      schema.properties.status.enum.pop();
      schema.properties.category = { const: 'other' };
    },
  ],
  [
    'words change',
    (document) => {
      document.info.description = 'Other words';
      answerOf(document).properties.id.description = 'Other words';
      answerOf(document).properties.id.examples = [];
      document.paths[INITIATE].post.summary = 'Other words';
    },
  ],
];

describe('The comparison of a document with the released one', () => {
  it('finds nothing in the same document', () => {
    expect(afterChange(() => {})).to.deep.equal([]);
  });

  for (const [what, change, finding] of BREAKING) {
    it(`finds that ${what}`, () => {
      expect(afterChange(change)).to.deep.equal([finding]);
    });
  }

  for (const [what, change] of HARMLESS) {
    it(`lets it pass that ${what}`, () => {
      expect(afterChange(change)).to.deep.equal([]);
    });
  }
});
