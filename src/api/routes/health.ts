import { Router } from 'express';
import { createReadiness } from '../../connections/readiness.ts';
import type { Service } from '../../process/boot.ts';

/**
 * `/healthz`: the process is alive. `/readyz`: it can take requests: the database can be
 * used and it is not stopping. Redis is not asked; what is accepted waits in the outbox.
 */
export function healthRoutes({ database }: Service, isStopping: () => boolean): Router {
  const router = Router();
  const problem = createReadiness(database);
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const ready = !isStopping() && (await problem()) === null;
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready' });
  });
  return router;
}
