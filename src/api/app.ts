import type { RequestListener } from 'node:http';
import express, { type Express, type RequestHandler, type Router } from 'express';
import helmet from 'helmet';
import { Refusal } from '../domain/errors.ts';
import { requestContext } from '../http/caller.ts';
import {
  type HttpServer,
  SERVER_LIMITS,
  startHttpServer,
  strictRouter,
} from '../http/http-server.ts';
import type { Config } from '../process/config.ts';
import type { Service } from '../service/service.ts';
import { traceRequests } from '../tracing/trace-requests.ts';
import { BASE_PATH } from './context.ts';
import { documentationRoutes } from './documentation/routes.ts';
import { endpoints } from './endpoints/endpoints.ts';
import { errorHandler, unreadableHandler } from './errors.ts';
import { createListTurns } from './middleware/list-turns.ts';
import { createRateLimiter, type RateLimiter } from './middleware/rate-limit.ts';
import { measureRequests, parseQueryText, refuseOtherMethods } from './middleware/requests.ts';
import { addAuthRoutes, addOwnAccessRoutes } from './routes/access.ts';
import { gatewayCallbackRoutes } from './routes/gateway-callbacks.ts';
import { healthRoutes, metricsRoutes, securityTextRoutes } from './routes/operators.ts';
import { addCollectionRoutes, addPayoutRoutes, addReversalRoutes } from './routes/payments.ts';
import { addChannelRoutes, addWalletRoutes } from './routes/wallets.ts';
import { addWebhookRoutes } from './routes/webhooks.ts';

/**
 * Creates the HTTP app. It validates and records; the workers do everything slow. A process that
 * is stopping is no longer ready.
 */
export function createApp(
  service: Service,
  { rateLimiter = createRateLimiter(null), isStopping = (): boolean => false } = {},
): Express {
  const { config, logger, meters } = service;
  const app = express();
  app.set('trust proxy', config.trustProxy);
  app.set('case sensitive routing', true);
  app.set('etag', false);
  app.set('query parser', parseQueryText);
  app.use(requestContext(logger), measureRequests(meters.http));
  if (config.otelExporterOtlpEndpoint) app.use(traceRequests());
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: CONTENT_POLICY } }));
  // Before the check for HTTPS, because probes come from inside, often over plain HTTP.
  app.use(healthRoutes(service, isStopping));
  if (config.requireHttps) app.use(refusePlainHttp);
  app.use(metricsRoutes(config.metricsToken, meters.registry));
  app.use(gatewayCallbackRoutes(service));
  app.use(BASE_PATH, apiRoutes(service, rateLimiter));
  app.use(documentationRoutes(config.publicUrl));
  app.use(securityTextRoutes(config));
  app.use(() => {
    throw new Refusal('path_not_found');
  });
  app.use(errorHandler(service));
  return app;
}

/** Trusted proxies say whether a request came over HTTPS. */
const refusePlainHttp: RequestHandler = (req, _res, next) => {
  if (!req.secure) throw new Refusal('https_required');
  next();
};

function apiRoutes(service: Service, rateLimiter: RateLimiter): Router {
  const context = {
    ...service,
    rateLimiter,
    inTurn: createListTurns(service.database),
    router: strictRouter(),
  };
  addAuthRoutes(context);
  addOwnAccessRoutes(context);
  addCollectionRoutes(context);
  addPayoutRoutes(context);
  addReversalRoutes(context);
  addWalletRoutes(context);
  addChannelRoutes(context);
  addWebhookRoutes(context);
  refuseOtherMethods(context.router, Object.values(endpoints));
  return context.router;
}

/** Answers may load our own style sheet, and nothing else. Pages of the documentation have other policies. */
const CONTENT_POLICY = {
  defaultSrc: ["'none'"],
  styleSrc: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
};

/**
 * Serves the API at its port, and answers in its form what cannot be read.
 * @throws BootError when the port or the certificate cannot be used
 */
export function startApiServer(
  { tls, host, port }: Pick<Config, 'tls' | 'host' | 'port'>,
  app: RequestListener,
  stopping: AbortSignal,
  limits = SERVER_LIMITS,
): Promise<HttpServer> {
  const listening = { tls, host, port, setting: 'PORT' } as const;
  return startHttpServer(listening, app, stopping, { limits, unreadable: unreadableHandler });
}
