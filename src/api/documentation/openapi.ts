import { BASE_PATH } from '../context.ts';
import {
  type Endpoint,
  pathParameters,
  SECTION_DESCRIPTIONS,
  SECTIONS,
  takesKey,
} from '../endpoints/endpoints.ts';
import { type AnswerCode, ERROR_ANSWERS, errorBody, errorSchema } from '../error-answers.ts';
import { namedSchemas, published } from './named-schemas.ts';
import { contentOf, refusalsOf } from './refusals.ts';
import { codeSamples } from './samples.ts';
import { webhooks } from './webhooks.ts';

/**
 * Makes the OpenAPI 3.1 document from the table of endpoints and the schemas that check requests.
 */
export function openApiDocument(publicUrl: string) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Malipo API',
      version: '1',
      description: introduction(publicUrl),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${publicUrl}${BASE_PATH}` }],
    tags: Object.entries(SECTION_DESCRIPTIONS).map(([name, description]) => ({
      name,
      description,
    })),
    paths: paths(publicUrl),
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        signature: WEBHOOK_SIGNATURE,
      },
      schemas: { ...namedSchemas(), Error: errorSchema },
    },
  };
}

/** The header by which a merchant knows that a webhook is ours. */
const WEBHOOK_SIGNATURE = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Service-Signature',
  description: 'Of webhooks: hex HMAC-SHA256 over the timestamp, a dot and the raw body',
};

function paths(publicUrl: string): Record<string, Record<string, unknown>> {
  const result: Record<string, Record<string, unknown>> = {};
  for (const [tag, endpoints] of Object.entries(SECTIONS)) {
    for (const [id, endpoint] of Object.entries<Endpoint>(endpoints)) {
      const { path, method } = endpoint;
      result[path] = { ...result[path], [method]: operation(id, tag, endpoint, publicUrl) };
    }
  }
  return result;
}

/** Describes an endpoint. Its undefined fields are missing in the JSON. */
function operation(operationId: string, tag: string, endpoint: Endpoint, publicUrl: string) {
  const { summary, description, roles, body, deprecated, product, approvedFor } = endpoint;
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    deprecated,
    security: roles ? [{ token: [] }] : [],
    'x-roles': roles,
    'x-product': product,
    'x-approved-for': approvedFor,
    parameters: parameters(endpoint),
    requestBody: body && { required: true, content: contentOf(body) },
    responses: { 200: success(endpoint), ...failures(endpoint) },
    'x-codeSamples': codeSamples(operationId, endpoint, publicUrl),
  };
}

function parameters(endpoint: Endpoint) {
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: pathParameters[name!]?.description,
    schema: pathParameters[name!] ?? { type: 'string' },
  }));
  const inQuery = Object.entries(endpoint.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    description: schema.description,
    schema: published(schema),
  }));
  return [...inPath, ...inQuery, ...(takesKey(endpoint) ? [IDEMPOTENCY_KEY] : [])];
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours. Errors are not kept: after one the request runs anew. Three are different: what got 500 or 503 `unavailable` may have been recorded, and the reversal of a 502 is. Then the answer that was kept comes',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const header = (description: string) => ({ description, schema: { type: 'string' } });
const LIMIT_HEADERS = {
  'X-RateLimit-Limit': header('Requests per minute in the long run'),
  'X-RateLimit-Remaining': header('Requests that are left right now'),
  'X-RateLimit-Reset': header('When all of them will be there again, Unix seconds'),
};

function success(endpoint: Endpoint) {
  return {
    description: 'Done',
    headers: {
      'X-Request-Id': header('Names this request in our logs'),
      ...(endpoint.roles && LIMIT_HEADERS),
      ...(takesKey(endpoint) && {
        'Idempotent-Replayed': header('True when this is the first answer again'),
      }),
      ...(endpoint.deprecated && {
        Deprecation: header('Always true'),
        Link: header('What replaces this'),
      }),
    },
    content: contentOf(endpoint.answer),
  };
}

/** Describes the refusals of an endpoint by their status, with an example of each. */
function failures(endpoint: Endpoint) {
  const byStatus = new Map<number, Record<string, { value: ReturnType<typeof errorBody> }>>();
  const all: (readonly [AnswerCode, string?])[] = [...refusalsOf(endpoint), ['internal_error']];
  for (const [code, subject] of all) {
    const { status } = ERROR_ANSWERS[code];
    const examples = byStatus.get(status) ?? {};
    examples[subject ? `${code}_${subject}` : code] = { value: errorBody(code, subject) };
    byStatus.set(status, examples);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, examples]) => [status, failure(endpoint, status, examples)]),
  );
}

function failure(endpoint: Endpoint, status: number, examples: object) {
  const waits = status === 429 || status === 503;
  return {
    description: consequence(endpoint, status),
    ...(waits && { headers: { 'Retry-After': header('Seconds to wait') } }),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
  };
}

/**
 * Says what a failure leaves behind. A commit's answer may be lost, so after 500 and 503 nobody
 * knows the outcome.
 */
function consequence(endpoint: Endpoint, status: number): string {
  const isUnsure = endpoint.method !== 'get' && (status === 500 || status === 503);
  if (status === 502) return RECORDED;
  if (!isUnsure) return `${status === 500 ? 'A fault of ours' : 'Refused'}; nothing was changed`;
  if (!takesKey(endpoint)) return endpoint.roles ? MAYBE_CHANGED : MAYBE_DONE;
  if (!endpoint.body?.properties.ref_no) return MAYBE_REPEATED;
  const pauses = endpoint.refusals?.some(([code]) => code === 'channel_paused');
  const paused = status === 503 && pauses ? '`channel_paused`: nothing was recorded. ' : '';
  return `${paused}${status === 500 ? '`internal_error`' : '`unavailable`'}: ${MAYBE_RECORDED}`;
}

const RECORDED =
  'Recorded; the outcome is not known yet. The same request with the same Idempotency-Key answers 200 with the reversal as it is then, however often; without a key it answers 409 `duplicate_ref_no`';
const MAYBE_RECORDED =
  'it may have been recorded. Send it again with the same `ref_no`, never with a new one. With the same Idempotency-Key the answer that was kept comes; without a key 409 `duplicate_ref_no` means that it is recorded';
const MAYBE_REPEATED =
  'It may have been done. Send it again: what is under way or due stays as it is. With the same Idempotency-Key the answer that was kept comes';
const MAYBE_CHANGED = 'It may have been done: look before you send it again';
const MAYBE_DONE =
  'It may have been done: a refresh token may be spent. If it is refused from now on, log in again';

/** The introduction of the OpenAPI document, in Markdown. */
function introduction(publicUrl: string): string {
  return `Payments for merchants in Kenya. New here? The [guides](${publicUrl}/docs/guides) lead you to a first payment.

- Amounts are strings with two decimals, in KES. Phones are in E.164 form. Times are UTC.
- Every error has \`detail\` in words, \`code\` for programs and, where one is to blame, the \`field\`. "Error" under "Models" lists all codes.
- Fields and codes may be added: ignore those that you do not know.

## Your first request

1. Get a token. An app sends its key and its secret to \`POST /auth/app/token\`. A person logs in with \`POST /auth/login\`. The sandbox writes the keys and secrets of its apps to \`.sandbox/sandbox.json\`.
2. Send the \`access\` of the answer with every other request, as the header \`Authorization: Bearer ACCESS\`. It is good for 15 minutes. Then get another one in the same way, or with \`POST /auth/refresh\`.

To try requests on this page, press "Test Request" at "Get tokens for an app", put in your key and secret, and send it. Then paste the \`access\` of the answer into "Bearer Token" under "Authentication". From now on every request that you send here has it. Requests on this page are real: those of payments move money.

The samples read the token from the environment variable \`ACCESS\`.`;
}
