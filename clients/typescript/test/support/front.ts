import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Passed {
  method: string;
  path: string;
  headers: Headers;
  status: number;
}

/** What comes in place of the service's answer. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

type Change = (passed: Passed, body: string) => Answer | null | Promise<Answer | null>;

export interface Front {
  origin: string;
  /** Every request with the status of its answer, in the order of the answers. */
  passed: Passed[];
  /** Changes an answer of the service, or returns null to let it pass. A promise holds it back. */
  changeWith(change: Change): void;
  close(): Promise<void>;
}

/** What each connection has for itself. */
const OWN_HEADERS = [
  ...['connection', 'content-encoding', 'content-length'],
  ...['host', 'keep-alive', 'transfer-encoding'],
];

/** Stands between a client and the service, as a merchant's proxy does, and notes what passes. */
export async function startFront(origin: string): Promise<Front> {
  const passed: Passed[] = [];
  let change: Change = () => null;
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const headers = new Headers(request.headers as Record<string, string>);
    const body = method === 'GET' ? null : await buffer(request);
    for (const name of OWN_HEADERS) headers.delete(name);
    const answer = await fetch(`${origin}${url}`, { method, headers, body });
    const pass = { method, path: url.split('?')[0]!, headers, status: answer.status };
    const text = await answer.text();
    const changed = await change(pass, text);
    passed.push({ ...pass, status: changed?.status ?? pass.status });
    const kept = Object.fromEntries(
      [...answer.headers].filter(([name]) => !OWN_HEADERS.includes(name)),
    );
    response.writeHead(changed?.status ?? answer.status, { ...kept, ...changed?.headers });
    response.end(changed?.body ?? text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    passed,
    changeWith: (next) => {
      change = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
