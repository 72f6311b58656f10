import { csrfSync } from 'csrf-sync';
import type { Request, RequestHandler } from 'express';
import { ConsoleError } from '../console-error.ts';

const { csrfSynchronisedProtection, generateToken } = csrfSync({
  getTokenFromRequest: ({ body }) => body?.[CSRF_FIELD],
});

/** The field of every form that proves that it comes from a page of this session. */
export const CSRF_FIELD = '_csrf';

/**
 * Refuses a form that comes from another address, or without the token of its session.
 * @param origin is the scheme, host and port of the console
 */
export function refuseForeignForms(origin: string): RequestHandler {
  return (req, res, next) => {
    const from = req.get('origin');
    if (req.method === 'POST' && from !== undefined && from !== origin) {
      throw new ConsoleError(403, `This form came from another address. Open ${origin} instead`);
    }
    csrfSynchronisedProtection(req, res, (error?: unknown) => {
      next(error ? new ConsoleError(403, OLD_FORM) : undefined);
    });
  };
}

const OLD_FORM =
  'This form is too old, or you have logged in or out since. Nothing was changed. Go back, reload the page and try again';

/** Returns the token for the forms of a session. */
export function csrfTokenOf(req: Request): string {
  return generateToken(req);
}
