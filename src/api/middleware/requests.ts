import { type ParsedUrlQuery, parse } from 'node:querystring';
import { promisify } from 'node:util';
import type { RequestHandler, Router } from 'express';
import express, { type Request, type Response } from 'express';
import { Refusal } from '../../domain/errors.ts';
import { routeOf } from '../../http/caller.ts';
import type { HttpMeters } from '../../metrics/meters.ts';
import { type Endpoint, patternOf } from '../endpoints/endpoints.ts';

/**
 * Answers what asks for a known path with a method that it does not have: 405, or 204 to OPTIONS,
 * both with the header `Allow`. Comes after these endpoints, and before those whose pattern matches
 * their paths too and that must not get them. Express answers HEAD as GET.
 */
export function refuseOtherMethods(
  router: Router,
  endpoints: readonly Pick<Endpoint, 'method' | 'path'>[],
): void {
  for (const { method, path } of endpoints) {
    router.all(patternOf(path), (_req, res, next) => {
      // Several endpoints can have this path.
      res.locals.allowed = new Set([...(res.locals.allowed ?? []), ...METHODS[method]]);
      next();
    });
  }
  router.use((req, res, next) => {
    const { allowed } = res.locals;
    if (!allowed) return next();
    res.set('Allow', [...allowed, 'OPTIONS'].join(', '));
    if (req.method !== 'OPTIONS') throw new Refusal('method_not_allowed');
    res.status(NO_CONTENT).end();
  });
}

const NO_CONTENT = 204;

const METHODS = { get: ['GET', 'HEAD'], post: ['POST'], delete: ['DELETE'] } as const;

/** The methods of our routes. Others are counted as one, because strangers may send any. */
const MEASURED_METHODS = ['GET', 'HEAD', 'POST', 'DELETE'];
const OTHER = 'other';

/** Counts and times every request, by the pattern of its route and not by its path. */
export function measureRequests({ requests }: Pick<HttpMeters, 'requests'>): RequestHandler {
  return (req, res, next) => {
    const stop = requests.startTimer();
    res.once('close', () =>
      stop({
        method: MEASURED_METHODS.includes(req.method) ? req.method : OTHER,
        route: routeOf(req) ?? OTHER,
        // The caller may be gone before the answer is sent.
        status: res.writableFinished ? String(res.statusCode) : 'aborted',
      }),
    );
    next();
  };
}

const MAX_BODY_BYTES = 64 * 1_024;

const readBytes = promisify(express.raw({ limit: MAX_BODY_BYTES, type: () => true }));

/**
 * Reads the body as JSON in UTF-8. Runs after authentication, so that bodies of strangers are not
 * read.
 * @throws Refusal `media_type_unsupported`, `body_not_json`, `invalid_request` (no body)
 */
export async function readJson(req: Request, res: Response): Promise<unknown> {
  refuseOtherTypes(req);
  await readBytes(req, res);
  if (!Buffer.isBuffer(req.body) || req.body.length === 0) throw new Refusal('invalid_request');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(req.body);
    const body = JSON.parse(text);
    if (!hasNameTwice(text)) return body;
  } catch {}
  throw new Refusal('body_not_json');
}

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/**
 * Tells whether an object in a valid JSON text has a name twice. Parsers differ in which of two values
 * they take, so a proxy or a log may have seen another amount than we book.
 */
function hasNameTwice(json: string): boolean {
  const open: Set<unknown>[] = [];
  for (const [token, colon] of json.matchAll(JSON_TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length));
      if (open.at(-1)!.has(name)) return true;
      open.at(-1)!.add(name);
    }
  }
  return false;
}

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

function refuseOtherTypes(req: Request): void {
  const type = req.get('content-type');
  const length = Number(req.get('content-length') ?? 0);
  const hasBody = length > 0 || req.headers['transfer-encoding'] !== undefined;
  if (type === undefined ? hasBody : !JSON_TYPE.test(type)) {
    throw new Refusal('media_type_unsupported');
  }
}

const MAX_PARAMETERS = 1_000;
const NO_LIMIT = 0;

/**
 * Reads the query of an address. Node's own limit would silently drop a filter that comes after it.
 * @throws Refusal `invalid_request` for more parameters than we take
 */
export function parseQueryText(text: string | null): ParsedUrlQuery {
  if (text === null) return {};
  if (text.split('&').length > MAX_PARAMETERS) throw new Refusal('invalid_request');
  return parse(text, '&', '=', { maxKeys: NO_LIMIT });
}
