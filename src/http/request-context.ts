import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { LogFields, Logger } from '../process/logger.ts';

/** A caller's own id is used if it is short and plain, so that it cannot forge log lines. */
const PLAIN_ID = /^[\w.-]{1,64}$/;

/**
 * Gives every request an id. It is in the header `X-Request-Id` and in all log lines of the
 * request. Writes one line when the request is answered.
 */
export function requestContext(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const given = req.get('x-request-id') ?? '';
    const requestId = PLAIN_ID.test(given) ? given : randomUUID();
    const startedAt = performance.now();
    res.set('X-Request-Id', requestId);
    res.locals.logFields = { request_id: requestId } satisfies LogFields;
    res.once('close', () =>
      logger.info('request', {
        ...logFieldsOf(res),
        method: req.method,
        path: req.originalUrl.split('?')[0],
        status: res.statusCode,
        // The caller was gone before the answer was sent.
        ...(res.writableFinished ? {} : { aborted: true }),
        duration_ms: Math.round(performance.now() - startedAt),
      }),
    );
    next();
  };
}

/** Returns the fields of every log line of a request. Whoever learns more adds to them. */
export function logFieldsOf(res: Response): LogFields {
  return res.locals.logFields;
}
