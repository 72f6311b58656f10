import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorRequestHandler, Response } from 'express';
import { isOutage, messageOf } from '../connections/database-errors.ts';
import { Refusal } from '../domain/errors.ts';
import { addressOf, logFieldsOf } from '../http/caller.ts';
import { refusedEvents } from '../http/refused-events.ts';
import type { Service } from '../service/service.ts';
import { type AnswerCode, ERROR_ANSWERS, errorBody } from './error-answers.ts';

const RETRY_AFTER_S = 5;

/**
 * Answers every error by the table of codes. Only unexpected errors are logged with their stack. The
 * event of a refusal is recorded before the answer, so a stranger cannot cause events faster than
 * they are written.
 */
export function errorHandler(
  service: Pick<Service, 'database' | 'logger' | 'meters'>,
): ErrorRequestHandler {
  const { logger } = service;
  const { refusals } = service.meters.http;
  const record = refusedEvents(service);
  return async (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const refusal = error instanceof Refusal ? error : refusalOf(error);
    const fields = { ...logFieldsOf(res), error: messageOf(error) };
    if (isOutage(error)) logger.warn('unavailable', fields);
    if (refusal) {
      refusals.inc({ code: refusal.code });
      if (refusal.event) await record({ ...refusal.event, ip: addressOf(req) });
      return refuse(res, refusal);
    }
    logger.error('request failed', { ...fields, stack: error?.stack });
    answer(res, 'internal_error');
  };
}

function refuse(res: Response, { code, subject, retryAfterS }: Refusal): void {
  const isBusy = ERROR_ANSWERS[code].status === 503;
  const waitS = retryAfterS ?? (isBusy ? RETRY_AFTER_S : null);
  if (waitS !== null) res.set('Retry-After', String(waitS));
  answer(res, code, subject);
}

function answer(res: Response, code: AnswerCode, subject?: string): void {
  res.status(ERROR_ANSWERS[code].status).json(errorBody(code, subject));
}

/** Translates errors of the body parser and the database. Returns null for unexpected errors. */
function refusalOf(error: { type?: string; status?: number }): Refusal | null {
  if (error.type === 'entity.too.large') return new Refusal('body_too_large');
  if (error.type === 'encoding.unsupported') return new Refusal('media_type_unsupported');
  // The path cannot be decoded, so it is not one of ours.
  if (error instanceof URIError) return new Refusal('path_not_found');
  if (isOutage(error)) return new Refusal('unavailable');
  // Aborted uploads and the like are the caller's doing.
  if (error.status !== undefined && error.status < 500) return new Refusal('invalid_request');
  return null;
}

/**
 * Answers what Node's HTTP parser refuses before there is a request: with Node's status, and the
 * body of every error. Closes a connection without a word whose trouble is not HTTP, or on which
 * one of the answers under way has begun.
 */
export function unreadableHandler(underWay: ReadonlySet<ServerResponse>) {
  return ({ code: problem = '' }: NodeJS.ErrnoException, socket: Duplex): void => {
    const code = CODES[problem] ?? (problem.startsWith('HPE_') ? 'invalid_request' : null);
    const begun = [...underWay].some((answer) => answer.socket === socket && answer.headersSent);
    if (code === null || begun || !socket.writable) socket.destroy();
    else refuseUnreadable(socket, code);
  };
}

function refuseUnreadable(socket: Duplex, code: AnswerCode): void {
  const { status } = ERROR_ANSWERS[code];
  const body = JSON.stringify(errorBody(code));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

const CODES: Readonly<Record<string, AnswerCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
