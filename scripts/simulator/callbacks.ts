import { setMaxListeners } from 'node:events';
import got from 'got';

/** A receiver may take this long in all for one delivery. */
const CALLBACK_TIMEOUT_MS = 10_000;

export interface Callback {
  url: string;
  /** Stands for it in the log. */
  reference: string;
  body: object;
  headers?: Record<string, string>;
}

export interface Callbacks {
  /** Posts a callback `times` times, one after the other. Never rejects. */
  send(callback: Callback, times: number): Promise<void>;
  /** Aborts the deliveries under way. */
  stop(): void;
}

/** Never repeats a delivery. Logs one that fails in a line without the address. */
export function createCallbacks(log: (line: string) => void): Callbacks {
  const stopped = new AbortController();
  // Every delivery under way listens to it. Under load there are many.
  setMaxListeners(0, stopped.signal);

  async function post(callback: Callback): Promise<void> {
    const problem = await postOnce(callback, stopped.signal);
    if (!problem || stopped.signal.aborted) return;
    log(`Callback of ${callback.reference} failed: ${problem}`);
  }

  return {
    async send(callback, times) {
      for (let sent = 0; sent < times && !stopped.signal.aborted; sent += 1) {
        await post(callback);
      }
    },
    stop: () => stopped.abort(),
  };
}

async function postOnce(
  { url, body, headers }: Callback,
  signal: AbortSignal,
): Promise<string | null> {
  const timeout = { request: CALLBACK_TIMEOUT_MS };
  const once = { timeout, retry: { limit: 0 }, followRedirect: false };
  const options = { json: body, headers: headers ?? {}, signal, ...once };
  try {
    const response = await got.post(url, { ...options, throwHttpErrors: false });
    return response.ok ? null : `HTTP ${response.statusCode}`;
  } catch (error) {
    return (error as Error).message;
  }
}
