import { Router } from 'express';
import {
  issueAppTokens,
  logInUser,
  type MerchantTokens,
  refreshTokens,
} from '../../domain/identity/log-in.ts';
import type { ApiContext } from '../context.ts';
import { endpoints } from '../endpoints.ts';
import { mountPublic } from '../middleware/mount.ts';
import { limitTokens, throttleFailures } from '../middleware/rate-limit.ts';

/** Tokens must not stay in any cache. */
const headers = { 'Cache-Control': 'no-store' };

export function authRoutes(context: ApiContext): Router {
  const { database, config } = context;
  const router = Router();

  mountPublic(router, context, endpoints.issueAppTokens, async ({ body, ip }) => {
    const credentials = { app_key: String(body.app_key), app_secret: String(body.app_secret) };
    await limitTokens(context, ip);
    const tokens = await throttleFailures(context, ip, null, () =>
      issueAppTokens(database, config, credentials, ip),
    );
    return {
      headers,
      body: {
        access: tokens.access,
        refresh: tokens.refresh,
        merchant_id: tokens.merchant_id,
        app_code: tokens.app_code,
        products: tokens.products,
      },
    };
  });

  mountPublic(router, context, endpoints.refreshTokens, async ({ body, ip }) => {
    await limitTokens(context, ip);
    const tokens = await refreshTokens(database, config.jwtKeys, String(body.refresh), ip);
    return { headers, body: merchantTokens(tokens, 'Token refreshed') };
  });

  mountPublic(router, context, endpoints.logIn, async ({ body, ip }) => {
    const email = String(body.email).toLowerCase();
    await limitTokens(context, ip);
    const tokens = await throttleFailures(context, ip, email, () =>
      logInUser(database, config.jwtKeys, email, String(body.password)),
    );
    return { headers, body: merchantTokens(tokens, 'Logged in') };
  });

  return router;
}

function merchantTokens(tokens: MerchantTokens, message: string) {
  return {
    access: tokens.access,
    refresh: tokens.refresh,
    merchant_code: tokens.merchant_code,
    name: tokens.name,
    email: tokens.email,
    phone_number: tokens.phone_number,
    requires_verification: tokens.requires_verification,
    message,
  };
}
