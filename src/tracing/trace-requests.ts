import type { RequestHandler, Response } from 'express';
import { isProbe, logFieldsOf, routeOf } from '../http/caller.ts';
import { mask } from '../process/logger.ts';
import { recordRequest, type SpanIds } from './tracing.ts';

/** The header of W3C Trace Context: version, trace, span, flags. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const FIRST_ERROR_STATUS = 500;

/**
 * Records a span for each request that reached a route. One that changes a payment is in the payment's trace; a
 * merchant may read a payment a thousand times, so each reading has a trace of its own. A caller's own trace is linked.
 */
export function traceRequests(): RequestHandler {
  return (req, res, next) => {
    const startTime = Date.now();
    res.once('close', () => {
      const route = routeOf(req);
      if (route === null || isProbe(req)) return;
      const { payment_id, request_id } = logFieldsOf(res);
      recordRequest({
        name: `${req.method} ${route}`,
        startTime,
        attributes: {
          'http.request.method': req.method,
          'http.response.status_code': res.statusCode,
          // The caller may have made it of a phone.
          'malipo.request_id': request_id && mask(request_id),
          'malipo.payment_id': payment_id,
        },
        isError: res.statusCode >= FIRST_ERROR_STATUS || !res.writableFinished,
        paymentId: req.method === 'GET' ? undefined : payment_id,
        isFirst: res.locals.isAccepted === true,
        caller: spanOf(req.get('traceparent')),
      });
    });
    next();
  };
}

/** Says that a request has made a payment. The payment's trace begins with it. */
export function noteAccepted(res: Response): void {
  res.locals.isAccepted = true;
}

function spanOf(traceparent = ''): SpanIds | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(traceparent) ?? [];
  return traceId && spanId ? { traceId, spanId } : undefined;
}
