import { Router } from 'express';

/**
 * Creates a router that serves a path as it is documented and in no other spelling. Allow-lists of
 * a proxy, rate limits, idempotency keys and metrics go by the path. The settings of the app do not
 * reach its routers.
 */
export function strictRouter(): Router {
  return Router({ caseSensitive: true, strict: true });
}
