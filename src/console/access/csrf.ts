import { csrfSync } from 'csrf-sync';
import type { Request, RequestHandler } from 'express';
import { derivedKey, mac } from '../../process/key-ring.ts';
import type { Service } from '../../service/service.ts';
import { ConsoleError } from '../visit.ts';

/** The field of every form that proves that it comes from a page of this session. */
export const CSRF_FIELD = '_csrf';

const PURPOSE = 'console-form';
const OLD_FORM =
  'This form is too old, or you have logged in or out since. Nothing was changed. Go back, reload the page and try again';

/**
 * Refuses a form that comes from another address, or without the token of its session. The token is
 * made of the session's id, so it needs no row before the log-in.
 */
export function refuseForeignForms({ config }: Pick<Service, 'config'>): RequestHandler {
  const { origin } = new URL(config.consoleUrl);
  const key = derivedKey(config.secretsKeys.current, PURPOSE);
  const { csrfSynchronisedProtection } = csrfSync({
    getTokenFromRequest: ({ body }) => body?.[CSRF_FIELD],
    getTokenFromState: ({ sessionID }) => mac(key, sessionID).toString('base64url'),
  });
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

/** Returns the token for the forms of a session. `refuseForeignForms` has put it there. */
export function csrfTokenOf(req: Request): string {
  return req.csrfToken!();
}
