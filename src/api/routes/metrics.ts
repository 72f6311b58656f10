import type { Router } from 'express';
import type { Registry } from 'prom-client';
import { Refusal } from '../../domain/errors.ts';
import { strictRouter } from '../../http/strict-router.ts';
import { equalInConstantTime } from '../../process/key-ring.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Serves `/metrics` on the port that merchants reach, for operators who cannot reach their own
 * port. It exists only if a token is configured, and needs that token.
 */
export function metricsRoutes(token: string | undefined, registry: Registry): Router {
  const router = strictRouter();
  if (!token) return router;
  router.get('/metrics', async (req, res) => {
    const [, given] = BEARER.exec(req.get('authorization') ?? '') ?? [];
    if (given === undefined) throw new Refusal('credentials_missing');
    if (!equalInConstantTime(given, token)) throw new Refusal('invalid_token', 'Authorization');
    res.type(registry.contentType).send(await registry.metrics());
  });
  refuseOtherMethods(router, [{ method: 'get', path: '/metrics' }]);
  return router;
}
