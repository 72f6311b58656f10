import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, {
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import helmet from 'helmet';
import { countApprovalsFor } from '../domain/staff/open-approvals.ts';
import { StaffRefusal } from '../domain/staff/require-staff.ts';
import type { StaffMember } from '../domain/staff/staff.ts';
import { addressOf, requestContext } from '../http/caller.ts';
import { strictRouter } from '../http/http-server.ts';
import { refusedEvents } from '../http/refused-events.ts';
import { isInNetworks, type Network } from '../process/networks.ts';
import type { Service } from '../service/service.ts';
import { admit, openVisit } from './access/admit.ts';
import { refuseForeignForms } from './access/csrf.ts';
import { createSessions, keepDone, rememberOrigin, takeDone } from './access/session.ts';
import { readUploads } from './access/upload.ts';
import { errorPages } from './error-pages.tsx';
import { HANDLERS } from './handlers.ts';
import { ROUTES, type Route, type RouteName } from './routes.ts';
import { assetRoutes } from './shell/assets.ts';
import { renderPage, renderPart } from './shell/render.tsx';
import {
  type Answer,
  ConsoleError,
  type ConsoleService,
  type Handler,
  type OpenVisit,
} from './visit.ts';

const MAX_FORM_BYTES = 65_536;

/**
 * Creates the support console: pages for staff, made on the server.
 * @param commands takes what members type at a command line on their own machines
 */
export function createConsole(service: ConsoleService, commands?: Router): Express {
  const { config, logger } = service;
  const { origin } = new URL(config.consoleUrl);
  const app = express();
  app.set('trust proxy', config.trustProxy);
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.use(requestContext(logger), helmet(HEADERS));
  if (config.requireHttps) app.use(refusePlainHttp(origin));
  if (config.consoleSources) app.use(refuseStrangers(config.consoleSources));
  if (commands) app.use(commands);
  app.use(assetRoutes());
  app.use(forbidStorage, createSessions(service));
  app.use(...readUploads(service));
  app.use(express.urlencoded({ extended: false, limit: MAX_FORM_BYTES }));
  app.use(refuseForeignForms(service), rememberOrigin, pageRoutes(service));
  app.use(() => {
    throw new ConsoleError(404, 'There is no such page');
  });
  app.use(errorPages(service));
  return app;
}

function pageRoutes(service: ConsoleService): Router {
  const router = strictRouter();
  const record = refusalRecorder(service);
  for (const [name, route] of Object.entries(ROUTES) as [RouteName, Route][]) {
    router[route.method](route.path, async (req, res) => {
      try {
        const admitted =
          route.role === 'anyone'
            ? { visit: openVisit(service, req) }
            : await admit(service, req, route);
        if ('goTo' in admitted) return leave(res, admitted.goTo, route);
        const answer = await (HANDLERS[name] as Handler<OpenVisit>)(admitted.visit);
        if ('refusal' in answer) await record(req, answer.refusal);
        if ('page' in answer) {
          await countApprovals(admitted.visit);
          admitted.visit.done = takeDone(req);
        }
        if ('goTo' in answer && answer.done) await keepDone(req, answer.goTo, answer.done);
        await send(res, admitted.visit, answer);
      } catch (error) {
        await record(req, error);
        throw error;
      }
    });
  }
  return router;
}

/** Counts what waits for the member, so that the menu of every page says it. */
async function countApprovals(visit: OpenVisit & { member?: StaffMember }): Promise<void> {
  const { member, service } = visit;
  if (member) visit.approvals = await countApprovalsFor(service.database, member);
}

/** Returns what records the security event of a refusal, if it has one. */
function refusalRecorder(service: Service) {
  const write = refusedEvents(service);
  return async (req: Request, error: unknown): Promise<void> => {
    if (error instanceof StaffRefusal) await write({ ...error.event, ip: addressOf(req) });
  };
}

async function send(res: Response, visit: OpenVisit, answer: Answer): Promise<void> {
  if ('goTo' in answer) res.redirect(303, answer.goTo);
  else if ('part' in answer) res.type('html').send(await renderPart(visit, answer.part));
  else if ('file' in answer) {
    res.attachment(answer.name).type(answer.type);
    await pipeline(Readable.from(answer.file), res);
  } else
    res
      .status(answer.status ?? 200)
      .type('html')
      .send(await renderPage(visit, answer));
}

/** A part of a page cannot show another page: the whole page must go there. */
function leave(res: Response, path: string, { isPart }: Route): void {
  if (isPart) res.set('HX-Redirect', path).status(204).end();
  else res.redirect(303, path);
}

/** Pages have data of customers: neither the browser nor a proxy may keep them. */
const forbidStorage: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

function refusePlainHttp(origin: string): RequestHandler {
  return (req, _res, next) => {
    if (!req.secure) throw new ConsoleError(403, `The console needs HTTPS. Open ${origin}`);
    next();
  };
}

/** Whoever has stolen password and one-time password must still come from one of these networks. */
function refuseStrangers(sources: readonly Network[]): RequestHandler {
  return (req, _res, next) => {
    if (isInNetworks(req.ip, sources)) return next();
    throw new ConsoleError(403, 'The console is not open to your address');
  };
}

const SELF = ["'self'"];
const NONE = ["'none'"];

const HEADERS = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: NONE,
      scriptSrc: SELF,
      styleSrc: SELF,
      connectSrc: SELF,
      imgSrc: SELF,
      fontSrc: SELF,
      formAction: SELF,
      frameAncestors: NONE,
      baseUri: NONE,
    },
  },
  // Without a referrer, browsers would not say where a form comes from.
  referrerPolicy: { policy: 'same-origin' },
} as const;
