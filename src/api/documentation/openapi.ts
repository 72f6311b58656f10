import type { ErrorCode } from '../../domain/errors.ts';
import { BASE_PATH } from '../base-path.ts';
import { type Endpoint, endpoints, TAGS } from '../endpoints.ts';
import { ANSWERS } from '../errors.ts';
import { REFUSAL } from '../schemas/fields.ts';
import { error } from '../schemas/records.ts';
import { exampleOf } from './example.ts';
import { published } from './published.ts';
import { webhooks } from './webhooks.ts';

type Refused = readonly [code: ErrorCode, subject?: string];

/** The OpenAPI 3.1 document, made from the same table and schemas that requests are checked with. */
export function openApiDocument(publicUrl: string) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Malipo API',
      version: '1',
      description:
        'Payments for merchants in Kenya. Amounts are strings with two decimals in KES, phones are in E.164 form, and every error is `{detail}`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${publicUrl}${BASE_PATH}` }],
    tags: TAGS.map((name) => ({ name })),
    paths: paths(),
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
      schemas: { Error: error },
    },
  };
}

function paths(): Record<string, Record<string, unknown>> {
  const result: Record<string, Record<string, unknown>> = {};
  for (const endpoint of Object.values(endpoints) as Endpoint[]) {
    result[endpoint.path] = { ...result[endpoint.path], [endpoint.method]: operation(endpoint) };
  }
  return result;
}

function operation(endpoint: Endpoint) {
  const { id, tag, summary, description, roles, body, deprecated } = endpoint;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    ...(deprecated ? { deprecated: true } : {}),
    security: roles ? [{ token: [] }] : [],
    parameters: parameters(endpoint),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: published(body), example: exampleOf(body) } },
          },
        }
      : {}),
    responses: { 200: success(endpoint), ...failures(endpoint) },
  };
}

function parameters({ path, query, roles, method }: Endpoint) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: published(schema),
  }));
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes it safe to send this again: the first answer is repeated, with Idempotent-Replayed: true, for 48 hours',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  };
  return [...inPath, ...inQuery, ...(roles && method === 'post' ? [key] : [])];
}

const header = (description: string) => ({ description, schema: { type: 'string' } });
const LIMIT_HEADERS = {
  'X-RateLimit-Limit': header('Requests per minute in the long run'),
  'X-RateLimit-Remaining': header('Requests that are left right now'),
  'X-RateLimit-Reset': header('When all of them will be there again, Unix seconds'),
};

function success({ answer, roles, method, deprecated }: Endpoint) {
  return {
    description: 'Done',
    headers: {
      'X-Request-Id': header('Names this request in our logs'),
      ...(roles ? LIMIT_HEADERS : {}),
      ...(roles && method === 'post'
        ? { 'Idempotent-Replayed': header('True when this is the first answer again') }
        : {}),
      ...(deprecated
        ? { Deprecation: header('Always true'), Link: header('What replaces this') }
        : {}),
    },
    content: { 'application/json': { schema: published(answer), example: exampleOf(answer) } },
  };
}

/** What a call is refused with, from what its access and its input imply and what it says itself. */
export function refusalsOf(endpoint: Endpoint): Refused[] {
  const { roles, approvedFor, product, body, query, method, refusals } = endpoint;
  return [
    ...(query ? Object.keys(query.properties).map((name): Refused => ['invalid_query', name]) : []),
    ...(body ? bodyRefusals(endpoint) : []),
    ...(roles ? TOKEN_REFUSALS : []),
    ...(roles && roles.length < 3 ? ([['role_insufficient']] as Refused[]) : []),
    ...(approvedFor ? ([['merchant_not_approved', approvedFor]] as Refused[]) : []),
    ...(product ? ([['product_missing', product]] as Refused[]) : []),
    ...(roles && method === 'post' ? KEY_REFUSALS : []),
    ...refusals,
    ['https_required'],
    ['unavailable'],
  ];
}

const TOKEN_REFUSALS: Refused[] = [
  ['credentials_missing'],
  ['token_format'],
  ['token_invalid'],
  ['token_revoked'],
  ['ip_not_allowed'],
  ['merchant_inactive'],
  ['app_inactive'],
  ['rate_limited'],
];

const KEY_REFUSALS: Refused[] = [
  ['invalid_field', 'Idempotency-Key'],
  ['idempotency_key_running'],
  ['idempotency_key_reused'],
];

function bodyRefusals({ body }: Endpoint): Refused[] {
  const missing = (body?.required ?? []).map((name): Refused => ['field_required', name]);
  const wrong = Object.entries(body?.properties ?? {}).map(([name, schema]): Refused => {
    const code = schema[REFUSAL] as ErrorCode | undefined;
    return code ? [code] : ['invalid_field', name];
  });
  return [
    ['body_not_json'],
    ['invalid_request'],
    ...missing,
    ...wrong,
    ['body_too_large'],
    ['media_type_unsupported'],
  ];
}

function failures(endpoint: Endpoint) {
  const byStatus = new Map<number, Map<string, { value: { detail: string } }>>();
  for (const [code, subject = ''] of refusalsOf(endpoint)) {
    const [status, detail] = ANSWERS[code];
    const examples = byStatus.get(status) ?? new Map();
    examples.set(subject ? `${code}_${subject}` : code, { value: { detail: detail(subject) } });
    byStatus.set(status, examples);
  }
  byStatus.set(500, new Map([['unexpected', { value: { detail: 'Internal server error' } }]]));
  return Object.fromEntries(
    [...byStatus].map(([status, examples]) => [
      status,
      failure(status, Object.fromEntries(examples)),
    ]),
  );
}

function failure(status: number, examples: object) {
  const waits = status === 429 || status === 503;
  return {
    description:
      status === 502 ? 'Recorded; the outcome is not known yet' : 'Refused; nothing was changed',
    ...(waits ? { headers: { 'Retry-After': header('Seconds to wait') } } : {}),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
  };
}
