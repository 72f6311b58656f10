import { Router } from 'express';
import type { Service } from '../../boot.ts';
import { Refusal } from '../../domain/errors.ts';
import { issueAppTokens } from '../../domain/merchants/access.ts';
import { jsonBody } from '../middleware/json-body.ts';

const FIELDS = ['app_key', 'app_secret'] as const;
const MAX_CREDENTIAL_LENGTH = 200;

export function authRoutes({ database, config }: Service): Router {
  const router = Router();

  router.post('/auth/app/token', jsonBody, async (req, res) => {
    const tokens = await issueAppTokens(database, config, credentialsOf(req.body));
    res.set('Cache-Control', 'no-store').json({
      access: tokens.access,
      refresh: tokens.refresh,
      merchant_id: tokens.merchantId,
      app_code: tokens.appCode,
      products: tokens.products,
    });
  });

  return router;
}

function credentialsOf(body: Record<string, unknown>) {
  for (const field of FIELDS) {
    const value = body[field];
    if (value === undefined || value === null || value === '') {
      throw new Refusal('field_required', field);
    }
  }
  for (const field of FIELDS) {
    const value = body[field];
    if (
      typeof value !== 'string' ||
      value.length > MAX_CREDENTIAL_LENGTH ||
      value.includes('\u0000')
    ) {
      throw new Refusal('invalid_field', field);
    }
  }
  return { appKey: body.app_key as string, appSecret: body.app_secret as string };
}
