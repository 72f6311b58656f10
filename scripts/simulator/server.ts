import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { LATE_DELAYS } from './behaviours.ts';
import { type Callbacks, createCallbacks } from './callbacks.ts';
import { createFaults } from './faults.ts';
import { type Payment, Payments, presentPayment } from './payments.ts';
import { RESOURCES } from './resources.ts';
import { queryRoute, statementRoute, submitRoute } from './routes.ts';

export interface SimulatorOptions {
  /** 0 takes a free port. */
  port: number;
  host?: string;
  /** The time from a request to its outcome. */
  delayMs?: number;
  /** The same for a late success, as for accounts ending in 107. */
  lateSuccessMs?: number;
  /** The same for accounts ending in 108. */
  slowSuccessMs?: number;
  /** The time for which a `slow` fault holds an answer back. */
  slowAnswerMs?: number;
  /** Receives a line for each callback that could not be delivered. */
  log?(line: string): void;
}

export interface Simulator {
  url: string;
  port: number;
  /** Ends it at once: cuts open connections and cancels outcomes still to come. */
  close(): Promise<void>;
}

export const DEFAULT_DELAY_MS = 300;
export const DEFAULT_SLOW_SUCCESS_MS = 60_000;
const DEFAULT_HOST = '127.0.0.1';
const MAX_BODY_BYTES = 64 * 1024;

/**
 * Starts a payment gateway that exists only in memory.
 * @throws the listening error (EADDRINUSE …) when the address cannot be taken.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const host = options.host ?? DEFAULT_HOST;
  const callbacks = createCallbacks(options.log ?? console.error);
  const delayMs = options.delayMs ?? DEFAULT_DELAY_MS;
  const payments = new Payments({
    delayMs,
    lateSuccessMs: options.lateSuccessMs ?? LATE_DELAYS * delayMs,
    slowSuccessMs: options.slowSuccessMs ?? DEFAULT_SLOW_SUCCESS_MS,
    onOutcome: (payment) => sendCallback(callbacks, payment),
  });
  const server = createServer(createApp(payments, options.slowAnswerMs));
  server.listen(options.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => stop(server, payments, callbacks);
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, close };
}

function sendCallback(callbacks: Callbacks, payment: Payment): Promise<void> {
  const { callbackUrl: url, reference, behaviour } = payment;
  return callbacks.send({ url, reference, body: presentPayment(payment) }, behaviour.callbacks);
}

function createApp(payments: Payments, slowAnswerMs?: number): Express {
  const faults = createFaults(slowAnswerMs);
  const app = express();
  app.disable('x-powered-by');
  app.use(express.json({ limit: MAX_BODY_BYTES }));
  for (const [path, resource] of Object.entries(RESOURCES)) {
    app.post(`/${path}`, faults.disturb, submitRoute(payments, resource));
  }
  app.get('/payments/:reference', faults.disturb, queryRoute(payments));
  app.get('/statement', statementRoute(payments));
  app.post('/faults', faults.set);
  app.get('/health', (_req, res) => void res.json({ status: 'ok' }));
  app.use((_req, res) => void res.status(404).json({ detail: 'Not found' }));
  app.use(answerError);
  return app;
}

/** Answers 400 for a body that cannot be read. Anything else is a bug and is logged. */
const answerError: ErrorRequestHandler = (error, _req, res, _next) => {
  const status: number = error.status ?? 500;
  if (status >= 500) console.error(error);
  const detail = error.type === 'entity.parse.failed' ? 'JSON parse error' : 'Invalid request';
  res.status(status).json({ detail: status >= 500 ? 'Internal error' : detail });
};

async function stop(server: Server, payments: Payments, callbacks: Callbacks): Promise<void> {
  payments.stop();
  callbacks.stop();
  const closed = server.listening ? once(server, 'close') : undefined;
  server.close();
  server.closeAllConnections();
  await closed;
}
