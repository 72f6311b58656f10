import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type AnswerCode, ERROR_ANSWERS, errorBody } from './error-answers.ts';

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
    else refuse(socket, code);
  };
}

function refuse(socket: Duplex, code: AnswerCode): void {
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
