import type { RequestHandler } from 'express';
import { Refusal } from '../../domain/errors.ts';

/** Refuses requests that did not come over HTTPS. Trusted proxies say whether they did. */
export function requireHttps(required: boolean): RequestHandler {
  return (req, _res, next) => {
    if (required && !req.secure) throw new Refusal('https_required');
    next();
  };
}
