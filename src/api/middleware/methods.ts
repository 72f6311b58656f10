import type { RequestHandler, Router } from 'express';
import { Refusal } from '../../domain/errors.ts';
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
        // As the endpoints write it: with braces, without the base path.
        route: req.route ? String(req.route.path).replace(/:(\w+)/g, '{$1}') : OTHER,
        // The caller may be gone before the answer is sent.
        status: res.writableFinished ? String(res.statusCode) : 'aborted',
      }),
    );
    next();
  };
}
