import type { Router } from 'express';
import { createReadiness } from '../../connections/readiness.ts';
import { strictRouter } from '../../http/strict-router.ts';
import type { Service } from '../../process/boot.ts';
import { refuseOtherMethods } from '../middleware/methods.ts';

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
