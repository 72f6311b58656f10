import type { RequestHandler } from 'express';
import type { HttpMeters } from '../../metrics/meters.ts';

/** The methods of our routes. Others are counted as one, because strangers may send any. */
const METHODS = ['GET', 'HEAD', 'POST', 'DELETE'];
const OTHER = 'other';

/** Counts and times every request, by the pattern of its route and not by its path. */
export function measureRequests({ requests }: Pick<HttpMeters, 'requests'>): RequestHandler {
  return (req, res, next) => {
    const stop = requests.startTimer();
    res.once('close', () =>
      stop({
        method: METHODS.includes(req.method) ? req.method : OTHER,
        // As the endpoints write it: with braces, without the base path.
        route: req.route ? String(req.route.path).replace(/:(\w+)/g, '{$1}') : OTHER,
        // The caller may be gone before the answer is sent.
        status: res.writableFinished ? String(res.statusCode) : 'aborted',
      }),
    );
    next();
  };
}
