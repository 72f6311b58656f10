import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const CHECK_INTERVAL_MS = 100;
const CHECK_TIMEOUT_MS = 1_000;
const MAX_SILENCES = 3;
/** Longer than callers keep a connection, so that they never use one that is closing. */
const KEEP_ALIVE_MS = 60_000;

/** What became of one request that came to the balancer. */
export interface Served {
  path: string;
  /** Of the answer; `cut` when the backend took the request and gave none; `none ready` when it had nobody to send it to. */
  outcome: number | 'cut' | 'none ready';
}

export interface Balancer {
  origin: string;
  served: Served[];
  /** Sends requests there while it is ready. */
  add(origin: string): void;
  /** How many backends it sends requests to. */
  readyCount(): number;
  close(): Promise<void>;
}

interface Backend {
  origin: string;
  isReady: boolean;
  isBeingChecked: boolean;
  /** Checks in a row that were not answered in time. */
  silences: number;
  agent: Agent;
}

/**
 * A load balancer as most are: it asks every backend's `/readyz` now and then, sends new
 * requests to the ready ones in turn over kept connections, and tries none of them twice.
 */
export async function startBalancer(): Promise<Balancer> {
  const backends: Backend[] = [];
  const served: Served[] = [];
  let turn = 0;
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, outgoing) => {
    const ready = backends.filter(({ isReady }) => isReady);
    const entry: Served = { path: incoming.url!, outcome: 'none ready' };
    served.push(entry);
    turn += 1;
    if (ready.length > 0) forward(ready[turn % ready.length]!, incoming, outgoing, entry);
    else outgoing.writeHead(503).end();
  });
  const timer = setInterval(() => {
    for (const backend of backends) void check(backend);
  }, CHECK_INTERVAL_MS);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    add: (origin) => {
      const agent = new Agent({ keepAlive: true });
      backends.push({ origin, isReady: false, isBeingChecked: false, silences: 0, agent });
    },
    readyCount: () => backends.filter(({ isReady }) => isReady).length,
    close: () =>
      new Promise((resolve) => {
        clearInterval(timer);
        for (const { agent } of backends) agent.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Believes every answer at once, and silence only when it lasts. */
async function check(backend: Backend): Promise<void> {
  if (backend.isBeingChecked) return;
  backend.isBeingChecked = true;
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  try {
    const answer = await fetch(`${backend.origin}/readyz`, { signal });
    await answer.text();
    backend.isReady = answer.status === 200;
    backend.silences = 0;
  } catch {
    backend.silences = signal.aborted ? backend.silences + 1 : MAX_SILENCES;
    if (backend.silences >= MAX_SILENCES) backend.isReady = false;
  }
  backend.isBeingChecked = false;
}

function forward(
  { origin, agent }: Backend,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  entry: Served,
): void {
  const { method, url, headers } = incoming;
  const { connection: _connection, ...passedOn } = headers;
  const sent = request(
    `${origin}${url}`,
    { method: method!, headers: passedOn, agent },
    (answer) => {
      entry.outcome = answer.statusCode!;
      const { connection: _kept, ...answered } = answer.headers;
      outgoing.writeHead(answer.statusCode!, answered);
      answer.pipe(outgoing);
    },
  );
  sent.on('error', () => {
    entry.outcome = 'cut';
    outgoing.writeHead(502).end();
  });
  incoming.pipe(sent);
}
