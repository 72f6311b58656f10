import type { Response } from 'express';
import { answer } from '../simulator/faults.ts';

/** Replaces the answer to a request that was processed. */
export type Replacement = 'reset' | 'html' | 'empty 503';

/** Answers, unless a quirk has put something in the place of the answer. */
export function reply(res: Response, status: number, body: unknown): void {
  const replacement: Replacement | undefined = res.locals.replacement;
  if (!replacement) answer(res, status, body);
  else if (replacement === 'reset') res.destroy();
  else if (replacement === 'html') replyHtml(res, 200, 'Service is being maintained');
  else res.status(503).end();
}

export function replyHtml(res: Response, status: number, words: string): void {
  res.status(status).type('html').send(`<html><body><h1>${words}</h1></body></html>`);
}
