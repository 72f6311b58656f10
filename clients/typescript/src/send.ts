import { setTimeout as sleep } from 'node:timers/promises';
import {
  bodyOf,
  type Fate,
  isSuccess,
  MalipoError,
  NO_ANSWER,
  requestIdOf,
} from './malipo-error.ts';
import type { Turns } from './turns.ts';

/** The waits before the second, third and fourth try. Each is up to a quarter longer, at random. */
const RETRY_WAITS_MS = [250, 1_000, 4_000];
const MAX_JITTER = 0.25;
/** Who is told to wait for longer is told the error instead. */
const MAX_RETRY_AFTER_MS = 30_000;
/** For how long a call waits at the rate limit, in all its waits together. */
const MAX_LIMITED_MS = 120_000;
/** Of one try. Longer than a reversal waits for its gateway. */
const TRY_TIMEOUT_MS = 30_000;

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** Too many requests, or a service that is away for a moment. */
const RETRIED_STATUSES = [429, 502, 503, 504];
/** The first try is still under way. Its answer comes when it has ended. */
const STILL_RUNNING = 'idempotency_key_running';
/** The service wants fewer requests, and has done nothing. Such an answer does not count as a try. */
const RATE_LIMITED = 'rate_limited';
/** The only answer of 5xx that promises that nothing was recorded. */
const CHANNEL_PAUSED = 'channel_paused';

/** What a caller of the client may set for all calls. */
export interface SendOptions {
  /** For how long one try may take, in ms. Default: 30,000. */
  timeoutMs?: number;
  /** Called after each try, as for a log. It must not throw. */
  onAnswer?(answer: TryAnswer): void;
}

/** How one try has ended. */
export interface TryAnswer {
  method: string;
  path: string;
  /** Of HTTP. 0: no answer came. */
  status: number;
  /** Names the request in the service's logs. Tell it to support. */
  requestId: string | undefined;
  /** 1 for the first try of a call. */
  tryNo: number;
  durationMs: number;
}

export interface Message {
  url: string;
  method: string;
  headers: Headers;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** It may be sent again: it only reads, or the service does it once by its key. */
  isSafe: boolean;
  /** Of the call that it belongs to. It is told of every try whose answer is not clear. */
  fate?: Fate;
  /** Of its client. */
  turns: Turns;
  options: SendOptions;
}

/**
 * Sends a message and returns its answer, whatever the status. Only a safe message is sent again:
 * when no answer has come, and when the service asks for it.
 * @throws MalipoError `no_answer`, and what the caller's own signal throws
 */
export async function send(message: Message): Promise<Response> {
  const pauseAfter = message.isSafe ? pausesOf(message) : () => null;
  for (let tryNo = 1; ; tryNo += 1) {
    const outcome = await attempt(message, tryNo);
    const pauseMs = await pauseAfter(outcome);
    if (pauseMs === null) return answerOf(message, outcome);
    await sleep(pauseMs, undefined, message.signal && { signal: message.signal });
  }
}

/** Sends it once, tells how that has ended, and remembers when its fate is unknown. */
async function attempt(message: Message, tryNo: number): Promise<Response | Error> {
  const start = performance.now();
  const outcome = await exchange(message);
  message.options.onAnswer?.({
    method: message.method,
    path: new URL(message.url).pathname,
    status: outcome instanceof Error ? 0 : outcome.status,
    requestId: outcome instanceof Error ? undefined : requestIdOf(outcome),
    tryNo,
    durationMs: Math.round(performance.now() - start),
  });
  if (message.fate && !(await isClear(outcome))) message.fate.mayBeDone = true;
  return outcome;
}

/** Reads the whole answer, because it may be cut in the middle. */
async function exchange(message: Message): Promise<Response | Error> {
  const { url, method, headers, body, signal, options } = message;
  try {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? TRY_TIMEOUT_MS);
    const answer = await fetch(url, {
      ...{ method, headers, body: body ?? null },
      // A payment goes to the address that the caller has named, and to no other.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const text = await answer.text();
    return new Response(text || null, { status: answer.status, headers: answer.headers });
  } catch (error) {
    signal?.throwIfAborted();
    return error as Error;
  }
}

/** Tells whether the service itself says that it was done, or that it was not. */
async function isClear(outcome: Response | Error): Promise<boolean> {
  if (outcome instanceof Error) return false;
  if (isSuccess(outcome)) return true;
  const { code } = await bodyOf(outcome);
  if (code === undefined || code === STILL_RUNNING) return false;
  return outcome.status < 500 || code === CHANNEL_PAUSED;
}

/** Returns what says, after each try, how long to wait before the next; null when the outcome stands. */
function pausesOf({ url, turns }: Message) {
  const waits = [...RETRY_WAITS_MS];
  let patienceMs = MAX_LIMITED_MS;
  return async (outcome: Response | Error): Promise<number | null> => {
    const askedMs = await askedPause(outcome);
    if (askedMs === null || askedMs > MAX_RETRY_AFTER_MS) return null;
    const isLimited = await hasCode(outcome, RATE_LIMITED);
    const leastMs = isLimited ? RETRY_WAITS_MS[0]! : waits.shift();
    if (leastMs === undefined) return null;
    const waitMs = Math.max(askedMs, leastMs * (1 + MAX_JITTER * Math.random()));
    if (!isLimited) return waitMs;
    const turnMs = turns.take(url, (outcome as Response).headers, waitMs, patienceMs);
    patienceMs -= turnMs ?? 0;
    return turnMs;
  };
}

/** Returns the pause that an outcome asks for, or null when it says that there is no next try. */
async function askedPause(outcome: Response | Error): Promise<number | null> {
  if (outcome instanceof Error) return 0;
  const isRetried =
    RETRIED_STATUSES.includes(outcome.status) || (await hasCode(outcome, STILL_RUNNING));
  return isRetried ? retryAfterMs(outcome.headers.get('retry-after')) : null;
}

async function hasCode(outcome: Response | Error, code: string): Promise<boolean> {
  return !(outcome instanceof Error) && (await bodyOf(outcome)).code === code;
}

/** Reads seconds, or a date as a proxy may send it. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(ms) ? 0 : ms;
}

function answerOf({ method, url }: Message, outcome: Response | Error): Response {
  if (!(outcome instanceof Error)) return outcome;
  const { pathname, host } = new URL(url);
  const detail = `No answer came to ${method} ${pathname} from ${host}: ${reasonOf(outcome)}`;
  throw new MalipoError({ status: 0, code: NO_ANSWER, detail }, { cause: outcome });
}

/** Node tells the reason in the cause. Without a message, as for a host with several addresses, it has a code. */
function reasonOf(error: Error): string {
  const { message, code } = (error.cause ?? error) as NodeJS.ErrnoException;
  return message || String(code);
}
