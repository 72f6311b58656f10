import type { ValidateFunction } from 'ajv';
import { BASE_PATH } from '../../src/api/base-path.ts';
import { refusalsOf } from '../../src/api/documentation/refusals.ts';
import { type Endpoint, endpoints } from '../../src/api/endpoints/endpoints.ts';
import { ANSWERS } from '../../src/api/errors.ts';
import { error } from '../../src/api/schemas/records.ts';
import { createAjv } from '../../src/api/schemas/validator.ts';
import { strict } from './strict-schema.ts';

const ajv = createAjv();

interface Documented {
  endpoint: Endpoint;
  path: RegExp;
  isAnswer: ValidateFunction;
  statuses: ReadonlySet<number>;
}

const isError = ajv.compile(strict(error));

/** Those without parameters first: a path that is one's own is no other's parameter. */
const documented: Documented[] = (Object.values(endpoints) as Endpoint[])
  .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  .map((endpoint) => ({
    endpoint,
    path: new RegExp(`^${BASE_PATH}${endpoint.path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
    isAnswer: ajv.compile(strict(endpoint.answer)),
    statuses: new Set([500, ...refusalsOf(endpoint).map(([code]) => ANSWERS[code][0])]),
  }));

/** Fails unless an answer of an endpoint is one that its documentation promises. */
export function checkAnswer(
  method: string,
  url: string,
  { status, body }: { status: number; body: unknown },
): void {
  const { pathname } = new URL(url);
  const found = documented.find(
    ({ endpoint, path }) => endpoint.method === method.toLowerCase() && path.test(pathname),
  );
  if (!found) return;
  const what = `${method} ${found.endpoint.path} answered ${status} ${JSON.stringify(body)}`;
  if (status !== 200 && !found.statuses.has(status)) {
    throw new Error(`${what}: the status is not documented`);
  }
  check(status === 200 ? found.isAnswer : isError, body, what);
}

function check(isValid: ValidateFunction, body: unknown, what: string): void {
  if (!isValid(body)) throw new Error(`${what}: ${ajv.errorsText(isValid.errors)}`);
}
