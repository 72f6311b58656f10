import type { Request, RequestHandler, Response } from 'express';
import type { HttpMeters } from '../../metrics/meters.ts';

/** The methods of our routes. Others are counted as one, because strangers may send any. */
const METHODS = ['GET', 'HEAD', 'POST'];
const OTHER = 'other';

/** Counts and times every request, by the pattern of its route and not by its path. */
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

/** Writes the route as the endpoints do: with braces, without the base path. */
function routeOf({ route }: Request): string {
  return route ? String(route.path).replace(/:(\w+)/g, '{$1}') : OTHER;
}

/** The caller may be gone before the answer is sent. */
function statusOf(res: Response): string {
  return res.writableFinished ? String(res.statusCode) : 'aborted';
}
