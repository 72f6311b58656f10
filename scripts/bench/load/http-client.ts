import { Agent, request } from 'node:http';

/** The service itself ends every statement long before. */
const REQUEST_TIMEOUT_MS = 30_000;
const SHOWN_ANSWER_LENGTH = 200;

export interface HttpClient {
  /** @throws Error when there is no answer */
  send(url: string, options?: SendOptions): Promise<{ status: number; body: string }>;
  close(): void;
}

interface SendOptions {
  headers?: Record<string, string>;
  /** Makes it a POST. */
  json?: object;
}

/** A client that keeps its connections, so that no handshake is measured. */
export function createHttpClient(connections: number): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    send: (url, options = {}) => exchange(agent, url, options),
    close: () => agent.destroy(),
  };
}

export function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

/** @throws Error with the beginning of any answer that is not a 200 */
export function assertOk({ status, body }: { status: number; body: string }): void {
  if (status !== 200) throw new Error(`${status} ${body.slice(0, SHOWN_ANSWER_LENGTH)}`);
}

function exchange(agent: Agent, url: string, { headers = {}, json }: SendOptions) {
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const outgoing = request(
      url,
      {
        agent,
        method: body ? 'POST' : 'GET',
        timeout: REQUEST_TIMEOUT_MS,
        headers: {
          ...headers,
          ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
        },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
