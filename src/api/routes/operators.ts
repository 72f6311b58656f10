import type { Router } from 'express';
import type { Registry } from 'prom-client';
import { createReadiness } from '../../connections/readiness.ts';
import { Refusal } from '../../domain/errors.ts';
import { strictRouter } from '../../http/http-server.ts';
import type { Config } from '../../process/config.ts';
import { equalInConstantTime } from '../../process/key-ring.ts';
import type { Service } from '../../service/service.ts';
import { DAY_MS } from '../../time.ts';
import { refuseOtherMethods } from '../middleware/requests.ts';

/**
 * Serves `/healthz`, which says that the process lives, and `/readyz`, which says that it may get
 * requests: it can use the database, and is not stopping. Redis is not checked, because accepted
 * requests wait in the outbox while it is away.
 */
export function healthRoutes({ database }: Service, isStopping: () => boolean): Router {
  const router = strictRouter();
  const problem = createReadiness(database);
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const ready = !isStopping() && (await problem()) === null;
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready' });
  });
  refuseOtherMethods(router, [
    { method: 'get', path: '/healthz' },
    { method: 'get', path: '/readyz' },
  ]);
  return router;
}

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

const PATH = '/.well-known/security.txt';
/** RFC 9116 wants less than a year. What is served now is true now. */
const VALID_MS = 90 * DAY_MS;

/** Says where to report a vulnerability (RFC 9116). It exists only if a contact is configured. */
export function securityTextRoutes({
  securityContact,
  publicUrl,
}: Pick<Config, 'securityContact' | 'publicUrl'>): Router {
  const router = strictRouter();
  if (!securityContact) return router;
  router.get(PATH, (_req, res) => {
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${new Date(Date.now() + VALID_MS).toISOString()}`,
      `Canonical: ${publicUrl}${PATH}`,
      'Preferred-Languages: en',
    ];
    res.type('text/plain').send(`${lines.join('\n')}\n`);
  });
  refuseOtherMethods(router, [{ method: 'get', path: PATH }]);
  return router;
}
