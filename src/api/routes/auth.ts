import { issueAppTokens, logInUser, refreshTokens } from '../../domain/identity/log-in.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { mountPublic } from '../middleware/mount.ts';
import { limitRevoked, limitTokens } from '../middleware/rate-limit.ts';
import { throttleFailures } from '../middleware/throttle-failures.ts';

/** Tokens must not stay in any cache. */
const headers = { 'Cache-Control': 'no-store' };

export function addAuthRoutes(context: ApiContext): void {
  const { database, config } = context;

  mountPublic(context, endpoints.issueAppTokens, async ({ body, ip }) => {
    const credentials = { app_key: String(body.app_key), app_secret: String(body.app_secret) };
    await limitTokens(context, ip);
    const tokens = await throttleFailures(context, ip, null, () =>
      issueAppTokens(database, config, credentials, ip),
    );
    return { headers, body: { ...tokens, message: 'Token issued' } };
  });

  mountPublic(context, endpoints.refreshTokens, async ({ body, ip }) => {
    await limitTokens(context, ip);
    const tokens = await limitRevoked(context, () =>
      refreshTokens(database, config.jwtKeys, String(body.refresh), ip),
    );
    return { headers, body: { ...tokens, message: 'Token refreshed' } };
  });

  mountPublic(context, endpoints.logIn, async ({ body, ip }) => {
    const email = String(body.email).toLowerCase();
    await limitTokens(context, ip);
    const tokens = await throttleFailures(context, ip, email, () =>
      logInUser(database, config, email, String(body.password), ip),
    );
    return { headers, body: { ...tokens, message: 'Logged in' } };
  });
}
