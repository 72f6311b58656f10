import type { Request, RequestHandler, Response } from 'express';
import type { HttpMeters } from '../../metrics/meters.ts';

/** Methods that some path here takes; strangers try others. */
const METHODS = ['GET', 'HEAD', 'POST'];
const OTHER = 'other';

/** Counts and times every request by its route's pattern, never by the path that was asked for. */
export function measureRequests({ requests }: Pick<HttpMeters, 'requests'>): RequestHandler {
  return (req, res, next) => {
    const stop = requests.startTimer();
    res.once('close', () =>
      stop({ method: methodOf(req), route: routeOf(req), status: statusOf(res) }),
    );
    next();
  };
}

function methodOf({ method }: Request): string {
  return METHODS.includes(method) ? method : OTHER;
}

/** As the endpoints are written: with braces, without the base path. */
function routeOf({ route }: Request): string {
  return route ? String(route.path).replace(/:(\w+)/g, '{$1}') : OTHER;
}

/** Whoever asked may be gone before the answer is. */
function statusOf(res: Response): string {
  return res.writableFinished ? String(res.statusCode) : 'aborted';
}
