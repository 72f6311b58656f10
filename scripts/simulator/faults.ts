import type { NextFunction, Request, RequestHandler, Response } from 'express';

const MODES = ['outage', 'slow', 'errors'] as const;

interface Fault {
  mode: (typeof MODES)[number];
  rate: number;
  endsAtMs: number;
}

/** A slow answer is held back this long by default. */
export const SLOW_ANSWER_MS = 3_000;
const MAX_FAULT_MS = 24 * 60 * 60 * 1_000;

/**
 * Keeps one fault at a time, which is set over HTTP, for every endpoint behind `disturb`.
 * - outage: cuts the connection and processes nothing.
 * - errors: answers 500 and processes nothing.
 * - slow: processes at once and answers `slowAnswerMs` later.
 */
export function createFaults(slowAnswerMs = SLOW_ANSWER_MS) {
  let current: Fault | null = null;

  function active(): Fault | null {
    if (current && current.endsAtMs <= Date.now()) current = null;
    return current;
  }

  const set: RequestHandler = (req, res) => {
    const fault = readFault(req.body);
    if (typeof fault === 'string') {
      res.status(400).json({ detail: fault });
      return;
    }
    current = fault;
    res.json(present(active()));
  };

  function disturb(_req: Request, res: Response, next: NextFunction): void {
    const fault = active();
    if (!fault || Math.random() >= fault.rate) next();
    else if (fault.mode === 'outage') res.destroy();
    else if (fault.mode === 'errors') res.status(500).json({ detail: 'Simulated error' });
    else {
      res.locals.answerDelayMs = slowAnswerMs;
      next();
    }
  }

  return { set, disturb };
}

/** Answers now, or later if a `slow` fault has hit the request. */
export function answer(res: Response, status: number, body: unknown): void {
  const delayMs: number = res.locals.answerDelayMs ?? 0;
  if (delayMs === 0) res.status(status).json(body);
  // A connection that is closed by then needs no answer, and a stopping process need not wait.
  else setTimeout(() => res.destroyed || res.status(status).json(body), delayMs).unref();
}

/** Returns the fault in a body, null for none, or a string that says why it is not valid. */
function readFault(body: unknown): Fault | null | string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'Invalid request';
  const { mode, rate = 1, for_ms: forMs } = body as Record<string, unknown>;
  if (!isInRange(forMs, MAX_FAULT_MS) || !Number.isInteger(forMs)) return 'Invalid for_ms';
  const known = MODES.find((each) => each === mode);
  if (!known && (mode !== undefined || forMs > 0)) return 'Invalid mode';
  if (!isInRange(rate, 1)) return 'Invalid rate';
  return known && forMs > 0 ? { mode: known, rate, endsAtMs: Date.now() + forMs } : null;
}

function isInRange(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max;
}

function present(fault: Fault | null) {
  if (!fault) return { mode: null, rate: 0, for_ms: 0 };
  return { mode: fault.mode, rate: fault.rate, for_ms: fault.endsAtMs - Date.now() };
}
