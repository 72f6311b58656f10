import { setMaxListeners } from 'node:events';
import got from 'got';

/** A receiver may take this long in all for one delivery. */
const CALLBACK_TIMEOUT_MS = 10_000;

export interface Callbacks {
  /** Posts a callback `times` times, one after the other. Never rejects. */
  send(callback: { url: string; reference: string; body: object }, times: number): Promise<void>;
  /** Aborts the deliveries under way. */
  stop(): void;
}

/** Never repeats a delivery. Logs one that fails in a line without the address. */
export function createCallbacks(log: (line: string) => void): Callbacks {
  const stopped = new AbortController();
  // Every delivery under way listens to it. Under load there are many.
  setMaxListeners(0, stopped.signal);

  async function post(url: string, reference: string, body: object): Promise<void> {
    const problem = await postOnce(url, body, stopped.signal);
    if (problem && !stopped.signal.aborted) log(`Callback of ${reference} failed: ${problem}`);
  }

  return {
    async send({ url, reference, body }, times) {
      for (let sent = 0; sent < times && !stopped.signal.aborted; sent += 1) {
        await post(url, reference, body);
      }
    },
    stop: () => stopped.abort(),
  };
}

async function postOnce(url: string, json: object, signal: AbortSignal): Promise<string | null> {
  const timeout = { request: CALLBACK_TIMEOUT_MS };
  const options = { json, signal, timeout, retry: { limit: 0 }, followRedirect: false };
  try {
    const response = await got.post(url, { ...options, throwHttpErrors: false });
    return response.ok ? null : `HTTP ${response.statusCode}`;
  } catch (error) {
    return (error as Error).message;
  }
}
