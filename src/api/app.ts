import express, { type Express } from 'express';
import helmet from 'helmet';
import { Refusal } from '../domain/errors.ts';
import type { Service } from '../process/boot.ts';
import { BASE_PATH } from './base-path.ts';
import { documentationRoutes } from './documentation/routes.ts';
import { errorHandler } from './errors.ts';
import { requireHttps } from './middleware/https.ts';
import { measureRequests } from './middleware/measure.ts';
import { requestContext } from './middleware/request-context.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { authRoutes } from './routes/auth.ts';
import { channelRoutes } from './routes/channels.ts';
import { collectionRoutes } from './routes/collections.ts';
import { gatewayCallbackRoutes } from './routes/gateway-callbacks.ts';
import { healthRoutes } from './routes/health.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { payoutRoutes } from './routes/payouts.ts';
import { reversalRoutes } from './routes/reversals.ts';
import { walletRoutes } from './routes/wallets.ts';

export interface AppOptions {
  /** Default: a limiter of this process alone. */
  rateLimiter?: RateLimiter;
  /** Says that the process is stopping, so that it is no longer ready. */
  isStopping?: () => boolean;
}

/** Creates the HTTP app. It validates and records; the workers do everything slow. */
export function createApp(service: Service, options: AppOptions = {}): Express {
  const { rateLimiter = createRateLimiter(null), isStopping = () => false } = options;
  const { config, logger, meters } = service;
  const context = { ...service, rateLimiter };
  const app = express();
  app.set('trust proxy', config.trustProxy);
  app.set('case sensitive routing', true);
  app.set('etag', false);
  app.use(requestContext(logger), measureRequests(meters.http));
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: CONTENT_POLICY } }));
  // Before the check for HTTPS, because probes come from inside, often over plain HTTP.
  app.use(healthRoutes(service, isStopping));
  app.use(requireHttps(config.requireHttps));
  app.use(metricsRoutes(config.metricsToken, meters.registry));
  app.use(gatewayCallbackRoutes(service));
  app.use(documentationRoutes(config.publicUrl));
  app.use(BASE_PATH, authRoutes(context), collectionRoutes(context), payoutRoutes(context));
  app.use(BASE_PATH, reversalRoutes(context), walletRoutes(context), channelRoutes(context));
  app.use(() => {
    throw new Refusal('path_not_found');
  });
  app.use(errorHandler(logger, meters.http));
  return app;
}

/** Pages may load our own style sheet, and nothing else from anywhere. */
const CONTENT_POLICY = {
  defaultSrc: ["'none'"],
  styleSrc: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
};
