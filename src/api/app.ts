import express, { type Express } from 'express';
import type { Service } from '../boot.ts';
import { Refusal } from '../domain/errors.ts';
import { errorHandler } from './errors.ts';
import { requestContext } from './middleware/request-context.ts';
import { authRoutes } from './routes/auth.ts';
import { collectionRoutes } from './routes/collections.ts';
import { gatewayCallbackRoutes } from './routes/gateway-callbacks.ts';
import { healthRoutes } from './routes/health.ts';

/** The version is part of the path, and of the base address that merchants are given. */
export const BASE_PATH = '/api/v1';

/** The HTTP side of the service: validates, records, and leaves everything slow to the workers. */
export function createApp(service: Service, isStopping: () => boolean = () => false): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('case sensitive routing', true);
  app.use((_req, res, next) => {
    // A kept connection would go on bringing requests to a process that wants to end.
    if (isStopping()) res.set('Connection', 'close');
    next();
  });
  app.use(requestContext(service.logger));
  app.use(healthRoutes(service, isStopping));
  app.use(gatewayCallbackRoutes(service));
  app.use(BASE_PATH, authRoutes(service), collectionRoutes(service));
  app.use(() => {
    throw new Refusal('path_not_found');
  });
  app.use(errorHandler(service.logger));
  return app;
}
