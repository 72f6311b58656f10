import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { type Logger, withLogContext } from '../../process/logger.ts';

/** A caller's own id is taken when it is short and plain, so that it cannot forge log lines. */
const PLAIN_ID = /^[\w.-]{1,64}$/;

/**
 * Gives every request an id, which comes back as `X-Request-Id` and is on all of its log
 * lines, and writes one line when it is answered.
 */
export function requestContext(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const given = req.get('x-request-id') ?? '';
    const requestId = PLAIN_ID.test(given) ? given : randomUUID();
    const startedAt = performance.now();
    res.set('X-Request-Id', requestId);
    withLogContext({ request_id: requestId }, () => {
      const finish = () =>
        logger.info('request', {
          method: req.method,
          path: req.originalUrl.split('?')[0],
          status: res.statusCode,
          // Whoever asked was gone before the answer was.
          ...(res.writableFinished ? {} : { aborted: true }),
          duration_ms: Math.round(performance.now() - startedAt),
        });
      // The answer may end outside of this context, so the line's id is bound here.
      res.once('close', () => withLogContext({ request_id: requestId }, finish));
      next();
    });
  };
}
