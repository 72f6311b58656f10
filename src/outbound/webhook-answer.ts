import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { storableText } from '../domain/storable-text.ts';
import type { AttemptOutcome } from '../domain/webhooks/delivery.ts';

/** What a receiver has answered. */
export type WebhookAnswer = Pick<AttemptOutcome, 'retryAfterMs'> & {
  status: number;
  answer: string;
};

/** So much of a body is kept, for support. */
const MAX_KEPT_BYTES = 1_024;
/** So much of a body is read, so that the connection can be used again. Then it is closed. */
const MAX_READ_BYTES = 16 * 1_024;
/** The time for the body, counted from the headers. The status is known, and alone counts. */
const BODY_GRACE_MS = 1_000;

/**
 * Reads an answer whose headers have come. Gives it as soon as the part of the body that is kept
 * is there, the body has ended, well or badly, or its time is over. Never fails.
 */
export async function readAnswer(response: IncomingMessage): Promise<WebhookAnswer> {
  const status = response.statusCode!;
  const retryAfterMs = retryAfterOf(status, response.headers['retry-after']);
  return { status, retryAfterMs, answer: await beginningOf(response) };
}

/** The rest of the body is read on for the connection's sake, within the same time. */
function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let kept = Buffer.alloc(0);
    let bytes = 0;
    const tell = () => {
      const isWhole = response.complete && bytes <= MAX_KEPT_BYTES;
      resolve(textOf(kept, isWhole));
    };
    const timer = setTimeout(() => response.destroy(), BODY_GRACE_MS);
    finished(response, () => {
      clearTimeout(timer);
      tell();
    });
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (kept.length < MAX_KEPT_BYTES) {
        kept = Buffer.concat([kept, chunk.subarray(0, MAX_KEPT_BYTES - kept.length)]);
        if (kept.length === MAX_KEPT_BYTES) tell();
      }
      if (bytes > MAX_READ_BYTES) response.destroy();
    });
  });
}

/** A character of UTF-8 that is cut off at the end is left out. */
function textOf(bytes: Buffer, isWhole: boolean): string {
  const text = new TextDecoder().decode(bytes, { stream: !isWhole });
  return storableText(text, MAX_KEPT_BYTES);
}

/** With these a receiver says when it may be asked again (RFC 9110, 10.2.3; RFC 6585, 4). */
const BUSY_STATUSES = [429, 503];
/** The three forms that a date may have (RFC 9110, 5.6.7). The last is in UTC without saying so. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/** Returns the time that a busy receiver asks for, or null. */
function retryAfterOf(status: number, header = ''): number | null {
  if (!BUSY_STATUSES.includes(status)) return null;
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1_000, Number.MAX_SAFE_INTEGER);
  if (!HTTP_DATES.some((form) => form.test(header))) return null;
  const waitMs = Date.parse(header.replace(/( GMT)?$/, ' GMT')) - Date.now();
  return waitMs >= 0 ? waitMs : null;
}
