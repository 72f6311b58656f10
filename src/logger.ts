import { AsyncLocalStorage } from 'node:async_hooks';
import winston from 'winston';

export type Logger = winston.Logger;

/** What every line of one request or job carries, so that one payment's lines can be found. */
export interface LogContext {
  request_id?: string;
  job_id?: string;
  payment_id?: string;
  merchant_id?: number;
}

const context = new AsyncLocalStorage<LogContext>();

/** Runs `work` so that every line logged from it carries `fields`. */
export function withLogContext<Result>(fields: LogContext, work: () => Result): Result {
  return context.run({ ...context.getStore(), ...fields }, work);
}

/** Adds to the context of the running request or job; without one, does nothing. */
export function addLogContext(fields: LogContext): void {
  Object.assign(context.getStore() ?? {}, fields);
}

/** JSON lines on standard output; phones masked, secrets left out. */
export function createLogger(level: string, process: string): Logger {
  return winston.createLogger({
    level,
    defaultMeta: { process },
    format: winston.format.combine(
      winston.format((info) => Object.assign(info, context.getStore()))(),
      winston.format.timestamp(),
      winston.format((info) => redact(info))(),
      winston.format.json(),
    ),
    transports: [new winston.transports.Console()],
  });
}

const SECRET_NAMES = /secret|password|authorization|^(access|refresh|token|app_key)$/i;
const PHONE = /(\+?\b254)\d{6}(\d{3})\b/g;
const CALLBACK_TOKEN = /(\/gateway\/callbacks\/[a-z0-9-]+\/)[\w.~-]+/g;
const URL_PASSWORD = /\b(\w+:\/\/)[^@\s/]+@/g;
const MAX_DEPTH = 6;

/** Masks in place what must not be in a log; goes through nested values. */
export function redact<Value>(value: Value, depth = 0): Value {
  if (typeof value === 'string') return mask(value) as Value;
  if (value === null || typeof value !== 'object' || depth > MAX_DEPTH) return value;
  const record = value as Record<string, unknown>;
  for (const name of Object.keys(record)) {
    record[name] = SECRET_NAMES.test(name) ? '***' : redact(record[name], depth + 1);
  }
  return value;
}

function mask(text: string): string {
  return text
    .replace(PHONE, '$1******$2')
    .replace(CALLBACK_TOKEN, '$1***')
    .replace(URL_PASSWORD, '$1***@');
}
