import { Router } from 'express';
import type { Service } from '../../boot.ts';
import { databaseProblem } from '../../database.ts';

/**
 * `/healthz`: the process is alive. `/readyz`: it can take requests: the database answers
 * and it is not stopping. Redis is not asked; what is accepted waits in the outbox.
 */
export function healthRoutes({ database }: Service, isStopping: () => boolean): Router {
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const ready = !isStopping() && (await databaseProblem(database)) === null;
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready' });
  });
  return router;
}
