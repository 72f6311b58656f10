import { type Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import type { Schema } from '../../src/records/schema.ts';

/** An operation of the OpenAPI document, as far as requests are made from it. */
export interface Operation {
  method: string;
  path: string;
  parameters: { name: string; in: string; schema: Schema }[];
  body: { schema: Schema; example: Record<string, unknown> } | null;
  statuses: ReadonlySet<number>;
}

/** A request as it goes over the wire; the body may be bytes that are no text. */
export interface FuzzedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

const DEEP = 20_000;
const HOSTILE_TEXT = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udfff\ud800', '\ufeff', '\u202e', 'é', '🎉'],
  ...['__proto__', 'constructor', 'toString', 'null', 'undefined', 'NaN', '-0', '1e400', '0x1'],
  ...["'; DROP TABLE collections; --", "' OR '1'='1", '\\', '%', '%00', '{{7*7}}', '../../etc'],
  ...['0000-01-01', '9999-12-31', '2026-02-30', '99999999999999999999', '2147483648', '-1'],
  ...['x'.repeat(51), 'x'.repeat(3_000), '1000000.00', '0.99', '999999.99', '+254712345678'],
];
const HOSTILE_VALUES: unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, [], [[]], {}, { length: 1e9 }, ['x']],
  ...[{ toString: 1 }, { valueOf: null }],
];

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXT),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const hostileValue = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(...HOSTILE_VALUES),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Percent-encoded bytes of a text; of half a character what no decoder takes. */
function encode(value: string): string {
  return value.isWellFormed() ? encodeURIComponent(value) : '%ED%A0%80';
}

const DATES = ['2026-11-20', '0000-01-01', '9999-12-31', '2026-11-20T09:30:00.5+03:00'];

function validTexts({ examples, enum: choices, minimum, maximum, ...rest }: Schema): string[] {
  const bounds = [minimum, maximum].filter((bound) => typeof bound === 'number');
  const dates = 'anyOf' in rest ? DATES : [];
  const known = [examples, choices, rest.default, ...bounds.flatMap((at) => [at - 1, at, at + 1])];
  return [...dates, ...known.flat().filter((value) => value !== undefined)].map(String);
}

const parameterText = (schema: Schema) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom('1', ...validTexts(schema)).map(encode) },
    { weight: 2, arbitrary: hostileText.map(encode) },
    { weight: 1, arbitrary: fc.constantFrom('%', '%E0%A4%A', '%FF', '+', '%0d%0a') },
  );

function queryOf({ parameters }: Operation): fc.Arbitrary<string> {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  // Mostly absent: what is refused first hides what comes after it.
  const known = inQuery.map(({ name, schema }) =>
    fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 3, arbitrary: parameterText(schema).map((value) => [`${name}=${value}`]) },
      { weight: 1, arbitrary: fc.constant([`${name}=1`, `${name}=1`]) },
    ),
  );
  const unknown = fc.oneof(
    { weight: 8, arbitrary: fc.constant<string[]>([]) },
    {
      weight: 1,
      arbitrary: fc.constant(['__proto__=x', '__proto__%5Bx%5D=1', 'page%5B%5D=1', '=', '&&']),
    },
    { weight: 1, arbitrary: fc.constant(Array.from({ length: 1_000 }, (_, at) => `p${at}=1`)) },
  );
  return fc.tuple(unknown, ...known).map((parts) => parts.flat().join('&'));
}

function pathOf({ path }: Operation): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.constantFrom('01a1f87d-6b4a-72cb-9fdc-3f9cc737ec4f', 'x', '%00', '%E0%A4%A', '..%2f', '%25'),
    hostileText.filter((part) => !/^\.{0,2}$/.test(part)).map(encode),
  );
  return value.map((part) => path.replace(/\{\w+\}/g, () => part));
}

function bodyOf({ body }: Operation): fc.Arbitrary<Buffer | null> {
  if (!body) return fc.constant(null);
  const fields = fc.record(
    Object.fromEntries(
      Object.entries(body.example).map(([name, example]) => [
        name,
        fc.oneof(
          { weight: 5, arbitrary: fc.constant(example) },
          { weight: 1, arbitrary: hostileValue },
        ),
      ]),
    ),
    { requiredKeys: [] },
  );
  const whole = fc.record(
    Object.fromEntries(
      Object.entries(body.example).map(([name, example]) => [
        name,
        fc.oneof(
          { weight: 9, arbitrary: fc.constant(example) },
          { weight: 1, arbitrary: hostileValue },
        ),
      ]),
    ),
  );
  const json = fc.oneof(whole, fields, hostileValue).map((value) => JSON.stringify(value));
  const name = Object.keys(body.example)[0]!;
  return fc.oneof(
    { weight: 12, arbitrary: json.map((written) => Buffer.from(written)) },
    { weight: 1, arbitrary: json.map((written) => Buffer.from(written.slice(0, -1))) },
    {
      weight: 1,
      arbitrary: json.map((written) => Buffer.from(written.replace('{', '{"__proto__":{"x":1},'))),
    },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ maxLength: 40 })
        .map((bytes) =>
          Buffer.concat([Buffer.from(`{"${name}":"`), Buffer.from(bytes), Buffer.from('"}')]),
        ),
    },
    { weight: 1, arbitrary: fc.constant(Buffer.from(`${'['.repeat(DEEP)}${']'.repeat(DEEP)}`)) },
    { weight: 1, arbitrary: fc.constant(Buffer.from(`{"${name}":${'{"a":'.repeat(9_000)}`)) },
    { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
  );
}

/** Requests to one operation: valid, nearly valid and hostile ones. */
export function requestsTo(operation: Operation, access: string): fc.Arbitrary<FuzzedRequest> {
  const authorization = fc.oneof(
    { weight: 12, arbitrary: fc.constant(`Bearer ${access}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', 'Bearer', 'Bearer a.b.c', 'Basic eDp5', `Bearer ${access}x`),
    },
  );
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', '', 'application/json; charset=x') },
  );
  const key = fc.option(fc.constantFrom('k', 'x'.repeat(255), 'x'.repeat(256), '\xe9', "' OR 1"), {
    freq: 3,
  });
  const forwarded = fc.option(fc.constantFrom('x', '203.0.113.7', '::1', ',,', 'x'.repeat(999)), {
    freq: 4,
  });
  return fc
    .tuple(
      pathOf(operation),
      queryOf(operation),
      bodyOf(operation),
      authorization,
      type,
      key,
      forwarded,
    )
    .map(([path, query, body, authorized, contentType, idempotencyKey, address]) => ({
      method: operation.method,
      path: query ? `${path}?${query}` : path,
      headers: {
        authorization: authorized,
        ...(body ? { 'content-type': contentType } : {}),
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
        ...(address === null ? {} : { 'x-forwarded-for': address }),
      },
      body,
    }));
}

/** Sends bytes as they are, which `fetch` would put in order first. */
export function sendRaw(
  origin: string,
  agent: Agent,
  { method, path, headers, body }: FuzzedRequest,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const length: Record<string, string> = body ? { 'content-length': String(body.length) } : {};
    const { hostname, port } = new URL(origin);
    const call = request(
      { hostname, port, path, method, agent, headers: { ...headers, ...length } },
      (answer) => {
        text(answer).then(
          (read) => resolve({ status: answer.statusCode ?? 0, text: read }),
          reject,
        );
      },
    );
    call.once('error', reject);
    call.end(body ?? undefined);
  });
}
