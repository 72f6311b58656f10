import { createHash, timingSafeEqual } from 'node:crypto';
import { Router } from 'express';
import type { Registry } from 'prom-client';
import { Refusal } from '../../domain/errors.ts';

const BEARER = /^Bearer +(\S+)$/i;

/**
 * `/metrics` on the port that merchants reach, for those who cannot reach the operators':
 * only where there is a token, and only to whoever sends it.
 */
export function metricsRoutes(token: string | undefined, registry: Registry): Router {
  const router = Router();
  if (!token) return router;
  const expected = digest(token);
  router.get('/metrics', async (req, res) => {
    const [, given] = BEARER.exec(req.get('authorization') ?? '') ?? [];
    if (given === undefined) throw new Refusal('credentials_missing');
    // Digests are of one length, whatever was sent.
    if (!timingSafeEqual(digest(given), expected)) throw new Refusal('token_invalid');
    res.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
