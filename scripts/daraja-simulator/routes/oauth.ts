import type { RequestHandler } from 'express';
import { ERRORS, replyError } from '../error-bodies.ts';
import { reply } from '../reply.ts';
import type { AppSettings, World } from '../world.ts';

export const OAUTH_PATH = '/oauth/v1/generate';

/** Serves GET /oauth/v1/generate. */
export function oauthRoute({ app, ids, tokens, quirks }: World): RequestHandler {
  return (req, res) => {
    if (quirks.hits('tokenRefused')) return void res.status(400).end();
    const key = consumerKeyOf(app, req.headers.authorization);
    if (key === null) return replyError(res, ids, ERRORS.badCredentials);
    if (req.query.grant_type !== 'client_credentials') {
      return replyError(res, ids, ERRORS.badGrantType);
    }
    reply(res, 200, tokens.issue(key));
  };
}

/** Returns the consumer key, or null if key and secret do not belong to the app. */
function consumerKeyOf(app: AppSettings, authorization = ''): string | null {
  const encoded = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(authorization)?.[1];
  const [, key, secret] =
    /^([^:]+):(.+)$/.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (!key || !secret) return null;
  const isOurs = key === (app.consumerKey ?? key) && secret === (app.consumerSecret ?? secret);
  return isOurs ? key : null;
}
