import type { ValidateFunction } from 'ajv';
import { BASE_PATH } from '../../src/api/context.ts';
import { refusalsOf } from '../../src/api/documentation/refusals.ts';
import { type Endpoint, endpoints } from '../../src/api/endpoints/endpoints.ts';
import { ERROR_ANSWERS, errorSchema } from '../../src/api/error-answers.ts';
import { createAjv } from '../../src/api/schemas/validator.ts';
import { strict } from './strict-schema.ts';

const ajv = createAjv();

interface Documented {
  endpoint: Endpoint;
  path: RegExp;
  isAnswer: ValidateFunction;
  /** The codes of its errors. */
  codes: ReadonlySet<string>;
}

const isError = ajv.compile(strict(errorSchema));

/** Those without parameters first: a path that is one's own is no other's parameter. */
const documented: Documented[] = (Object.values(endpoints) as Endpoint[])
  .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  .map((endpoint) => ({
    endpoint,
    path: new RegExp(`^${BASE_PATH}${endpoint.path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
    isAnswer: ajv.compile(strict(endpoint.answer)),
    // A path whose parameter cannot be decoded is none, and one of another endpoint has its methods.
    codes: new Set([
      'internal_error',
      'path_not_found',
      'method_not_allowed',
      ...refusalsOf(endpoint).map(([code]) => code),
    ]),
  }));

/** Fails unless an answer of an endpoint is one that its documentation promises. */
export function checkAnswer(
  method: string,
  url: string,
  { status, body }: { status: number; body: unknown },
): void {
  const { pathname } = new URL(url);
  if (!pathname.startsWith(BASE_PATH) || method === 'HEAD') return;
  if (status >= 400) checkError(status, body as ErrorBody, `${method} ${pathname}`);
  const found = documented.find(
    ({ endpoint, path }) => endpoint.method === method.toLowerCase() && path.test(pathname),
  );
  if (!found) return;
  const what = `${method} ${found.endpoint.path} answered ${status} ${JSON.stringify(body)}`;
  if (status === 200) check(found.isAnswer, body, what);
  else if (!found.codes.has((body as ErrorBody).code)) {
    throw new Error(`${what}: the code is not documented`);
  }
}

type ErrorBody = { code: keyof typeof ERROR_ANSWERS };

function checkError(status: number, body: ErrorBody, what: string): void {
  check(isError, body, `${what} answered ${status} ${JSON.stringify(body)}`);
  if (ERROR_ANSWERS[body.code].status !== status) {
    throw new Error(`${what} answered ${status} with the code ${body.code}`);
  }
}

function check(isValid: ValidateFunction, body: unknown, what: string): void {
  if (!isValid(body)) throw new Error(`${what}: ${ajv.errorsText(isValid.errors)}`);
}
