import type { ErrorRequestHandler } from 'express';
import { isOutage, messageOf } from '../connections/database-errors.ts';
import { LineIsFull } from '../domain/credentials/passwords.ts';
import { OperatorRefusal } from '../domain/errors.ts';
import { StaffRefusal } from '../domain/staff/require-staff.ts';
import { logFieldsOf } from '../http/caller.ts';
import type { Service } from '../service/service.ts';
import { ownPath } from './access/own-path.tsx';
import { renderBarePage } from './shell/render.tsx';
import { ConsoleError } from './visit.ts';

interface Problem {
  status: number;
  title: string;
  words: string;
}

const AWAY =
  'The database does not answer, or only lets itself be read. Nothing was changed. Payments that were accepted are safe. Try again in a minute';
const FULL =
  'Too many people log in, or set a password, now. Nothing was changed. Try again in a minute';
const BUG =
  'Something is wrong with the console. What you did may be half shown, and is never half done. Look at the payment before you try again';

/** Answers every error with a page. Only unexpected errors are logged with their stack. */
export function errorPages({ logger }: Pick<Service, 'logger'>): ErrorRequestHandler {
  return (error, req, res, _next) => {
    const fields = { ...logFieldsOf(res), error: messageOf(error) };
    if (res.headersSent) {
      // The answer is out, and the session could not be kept; or it has broken off.
      logger.warn('failed after the answer', fields);
      if (!res.writableEnded) res.destroy();
      return;
    }
    const problem = problemOf(error);
    if (problem.status === 503) logger.warn('unavailable', fields);
    if (problem.status === 500) logger.error('request failed', { ...fields, stack: error?.stack });
    const body = (
      <section class="problem">
        <h1>{problem.title}</h1>
        <p>{problem.words}.</p>
        <p>
          <a href={req.method === 'GET' ? ownPath(req.originalUrl) : '/'}>
            {req.method === 'GET' ? 'Try again' : 'To the overview'}
          </a>
        </p>
      </section>
    );
    res.status(problem.status).type('html').send(renderBarePage(problem.title, body));
  };
}

function problemOf(error: unknown): Problem {
  if (error instanceof ConsoleError) {
    const title = error.status === 404 ? 'Not found' : 'Refused';
    return { status: error.status, title, words: error.message };
  }
  if (error instanceof StaffRefusal) return { status: 403, title: 'Refused', words: error.message };
  if (error instanceof OperatorRefusal) {
    return { status: 422, title: 'Nothing was changed', words: error.message };
  }
  if (error instanceof LineIsFull) return { status: 503, title: 'Busy', words: FULL };
  if (isOutage(error)) return { status: 503, title: 'Not available', words: AWAY };
  const { status } = error as { status?: number };
  if (status !== undefined && status < 500) {
    return { status, title: 'Refused', words: 'This request cannot be read' };
  }
  return { status: 500, title: 'Something went wrong', words: BUG };
}
