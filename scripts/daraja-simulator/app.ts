import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { createFaults } from '../simulator/faults.ts';
import { ERRORS, replyError } from './error-bodies.ts';
import { type Product, productRoute } from './product.ts';
import { accountBalance } from './routes/account-balance.ts';
import { b2c } from './routes/b2c.ts';
import { OAUTH_PATH, oauthRoute } from './routes/oauth.ts';
import { organization } from './routes/organization.ts';
import { pullQuery, pullRegister } from './routes/pull.ts';
import { reversal } from './routes/reversal.ts';
import { statementRoute } from './routes/statement.ts';
import { stkPush } from './routes/stk-push.ts';
import { stkQuery } from './routes/stk-query.ts';
import { transactionStatus } from './routes/transaction-status.ts';
import type { World } from './world.ts';

const MAX_BODY_BYTES = 64 * 1024;

/** Puts the endpoints of Daraja together, and those by which a test steers the simulator. */
export function createApp(world: World, slowAnswerMs: number): Express {
  const products: readonly Product[] = [
    ...[stkPush, stkQuery, b2c, reversal, transactionStatus, accountBalance],
    ...[pullRegister(), pullQuery, organization],
  ];
  const faults = createFaults(slowAnswerMs);
  const counts = createCounts([OAUTH_PATH, ...products.map(({ path }) => path)]);
  const app = express();
  app.disable('x-powered-by');
  app.use(counts.count);
  app.use(express.json({ limit: MAX_BODY_BYTES }));
  app.get(OAUTH_PATH, faults.disturb, oauthRoute(world));
  for (const product of products) {
    app.post(product.path, faults.disturb, world.quirks.disturb, productRoute(world, product));
    app.all(product.path, (_req, res) => replyError(res, world.ids, ERRORS.wrongMethod));
  }
  app.all(OAUTH_PATH, (_req, res) => replyError(res, world.ids, ERRORS.wrongMethod));
  app.get('/statement', statementRoute(world));
  app.post('/faults', faultsRoute(world, faults.set));
  app.get('/counts', counts.show);
  app.get('/health', (_req, res) => void res.json({ status: 'ok' }));
  app.use((_req, res) => replyError(res, world.ids, ERRORS.notFound));
  app.use(errorRoute(world));
  return app;
}

/** Counts the requests of each of Daraja's paths. */
function createCounts(paths: readonly string[]) {
  const counts: Record<string, number> = Object.fromEntries(paths.map((path) => [path, 0]));
  const count: RequestHandler = (req, _res, next) => {
    if (Object.hasOwn(counts, req.path)) counts[req.path]! += 1;
    next();
  };
  const show: RequestHandler = (_req, res) => void res.json(counts);
  return { count, show };
}

/** Sets the rates of quirks, or one of the faults that the other simulator has, or both. */
function faultsRoute({ quirks }: World, setFault: RequestHandler): RequestHandler {
  return (req, res, next) => {
    const { quirks: rates, ...fault } = req.body ?? {};
    if (rates !== undefined && !quirks.set(rates)) {
      res.status(400).json({ detail: 'Invalid quirks' });
      return;
    }
    const isForQuirksOnly = rates !== undefined && Object.keys(fault).length === 0;
    if (isForQuirksOnly) res.json({ quirks: quirks.rates() });
    else setFault(req, res, next);
  };
}

/** Answers 400 for a body that cannot be read. Anything else is a bug and is logged. */
function errorRoute({ ids }: World): ErrorRequestHandler {
  return (error, _req, res, _next) => {
    const isBug = (error.status ?? 500) >= 500;
    if (isBug) console.error(error);
    replyError(res, ids, isBug ? ERRORS.internal : ERRORS.unreadable);
  };
}
