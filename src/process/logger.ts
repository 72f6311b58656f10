import winston from 'winston';
import { isSampled } from './log-sample.ts';

export type Logger = winston.Logger;

/** Fields of every line of one request or job, to find the lines of one payment. */
export interface LogFields {
  request_id?: string;
  job_id?: string;
  payment_id?: string;
  merchant_id?: number;
  /** Who sent an authenticated request: the token's family, its app or user, and the address. */
  family?: string | null;
  app?: number | null;
  user?: string | null;
  address?: string | null;
  /** The session of a member of staff, as the audit log names it. */
  session?: string;
}

/**
 * Writes JSON lines to standard output, with phones masked and without secrets.
 * @param samplePercent is of how many payments in 100 the usual lines are written: see `isSampled`
 */
export function createLogger(level: string, process: string, samplePercent = 100): Logger {
  const logger = winston.createLogger({
    level,
    defaultMeta: { process },
    format: winston.format.combine(
      // Winston itself asks for the level only when the line is made.
      winston.format((info) => {
        const isWritten = logger.isLevelEnabled(info.level) && isSampled(info, samplePercent);
        return isWritten ? info : false;
      })(),
      winston.format.printf(lineOf),
    ),
    transports: [new winston.transports.Console()],
  });
  return logger;
}

function lineOf(fields: object): string {
  return JSON.stringify(redact({ ...fields, timestamp: new Date() }));
}

const SECRET_NAMES =
  /secret|password|passkey|authorization|signature|credential|jwt|api_?key|app_key|(^|_)(access|refresh|token)$/i;
const BEARER = /\b(bearer\s+)[^\s"']+/gi;
/** Anything that looks like a JWT, anywhere in a text. */
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const PHONE = /(?<!\d)(254)\d{6}(\d{3})(?!\d)/g;
const PHONE_NUMBER = /^254\d{9}$/;
/** Matches to the end of the word, however the address is encoded. */
const CALLBACK_TOKEN = /(\/gateway\/callbacks\/[\w%.-]+\/)[^\s"']+/gi;
const URL_PASSWORD = /\b(\w+:\/\/)[^@\s/]+@/g;
const MAX_DEPTH = 6;

/** Returns a copy without secrets and phones, of nested values too. */
function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'number')
    return PHONE_NUMBER.test(String(value)) ? mask(String(value)) : value;
  if (typeof value === 'bigint') return mask(String(value));
  if (value instanceof Error) return mask(value.stack ?? value.message);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  if (depth > MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET_NAMES.test(name) ? '***' : redact(item, depth + 1),
    ]),
  );
}

/** Hides secrets and phones in a text. */
export function mask(text: string): string {
  return text
    .replace(BEARER, '$1***')
    .replace(JWT, '***')
    .replace(PHONE, '$1******$2')
    .replace(CALLBACK_TOKEN, '$1***')
    .replace(URL_PASSWORD, '$1***@');
}
