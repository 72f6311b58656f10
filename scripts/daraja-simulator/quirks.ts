import type { RequestHandler } from 'express';
import { ERRORS, replyError } from './error-bodies.ts';
import type { Identifiers } from './identifiers.ts';
import { type Replacement, replyHtml } from './reply.ts';

/** The disturbances between Daraja and its caller. Each has a rate from 0 to 1. */
export const QUIRKS = [
  /** A callback is not posted. */
  'callbackLost',
  /** A callback is posted once more. */
  'callbackDoubled',
  /** Processed; the answer is an HTML page with status 200. */
  'htmlPage',
  /** Processed; the answer is a 503 with an empty body. */
  'unavailable',
  /** Processed; the connection is cut before the answer. */
  'resetAfterTaking',
  /** Not processed; the connection is cut. */
  'resetBeforeTaking',
  /** Not processed; a firewall answers 403 with an HTML page. */
  'firewall',
  /** Not processed; 500.003.02. */
  'spikeArrest',
  /** Not processed; the token has just become invalid. */
  'tokenExpired',
  /** The request for a token is answered 400 with an empty body. */
  'tokenRefused',
  /** Processed at once, answered late. */
  'slowAnswer',
  /** Not processed; an STK push finds the payer busy with another prompt. */
  'subscriberLocked',
  /** An STK query about a payment that has ended is answered 500.001.1001. */
  'queryFlap',
] as const;

export type Quirk = (typeof QUIRKS)[number];
export type QuirkRates = Partial<Record<Quirk, number>>;
export type Quirks = ReturnType<typeof createQuirks>;

const REPLACEMENTS: Partial<Record<Quirk, Replacement>> = {
  htmlPage: 'html',
  unavailable: 'empty 503',
  resetAfterTaking: 'reset',
};

/**
 * Keeps the rates. They are 0 unless they are set.
 * @param draw returns the next number from 0 to below 1
 */
export function createQuirks(
  ids: Identifiers,
  slowAnswerMs: number,
  draw: () => number,
  initial: QuirkRates = {},
) {
  let rates = initial;
  const hits = (quirk: Quirk) => draw() < (rates[quirk] ?? 0);

  /** Plays what goes wrong on the way of a request, before and after it is processed. */
  const disturb: RequestHandler = (_req, res, next) => {
    if (hits('resetBeforeTaking')) return void res.destroy();
    if (hits('firewall')) return replyHtml(res, 403, 'Access Denied');
    if (hits('spikeArrest')) return replyError(res, ids, ERRORS.spikeArrest);
    if (hits('slowAnswer')) res.locals.answerDelayMs = slowAnswerMs;
    const replaced = Object.entries(REPLACEMENTS).find(([quirk]) => hits(quirk as Quirk));
    res.locals.replacement = replaced?.[1];
    next();
  };

  return {
    hits,
    disturb,
    /** Sets all rates. Quirks that are not named become 0. Returns false for what is not valid. */
    set(wanted: unknown): boolean {
      if (!areRates(wanted)) return false;
      rates = wanted;
      return true;
    },
    rates: (): QuirkRates => rates,
  };
}

function areRates(value: unknown): value is QuirkRates {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, rate]) =>
      QUIRKS.includes(name as Quirk) && typeof rate === 'number' && rate >= 0 && rate <= 1,
  );
}
