import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LATE_DELAYS } from '../simulator/behaviours.ts';
import { createCallbacks } from '../simulator/callbacks.ts';
import { SLOW_ANSWER_MS } from '../simulator/faults.ts';
import { DEFAULT_DELAY_MS, DEFAULT_SLOW_SUCCESS_MS } from '../simulator/server.ts';
import { createApp } from './app.ts';
import { anySeed, createDraws } from './draws.ts';
import { createIdentifiers } from './identifiers.ts';
import { createFloats } from './money.ts';
import { createPosts } from './posts.ts';
import { createQuirks, type QuirkRates } from './quirks.ts';
import { createTokens } from './tokens.ts';
import { createTransactions } from './transactions.ts';
import type { AppSettings, World } from './world.ts';

export interface DarajaSimulatorOptions extends AppSettings {
  /** 0 takes a free port. */
  port: number;
  host?: string;
  /** The time from a request to its outcome, and from a question to its answer. */
  delayMs?: number;
  /** The same for the late success of phones ending in 107, 110 and 123. */
  lateSuccessMs?: number;
  /** The same for phones ending in 108. */
  slowSuccessMs?: number;
  /** The time for which a slow answer is held back. */
  slowAnswerMs?: number;
  tokenLifetimeS?: number;
  /** The time for which a token stays valid after the next one was issued. */
  tokenOverlapS?: number;
  /** The first balance of each shortcode's utility account, in cents. */
  floatCents?: number;
  quirks?: QuirkRates;
  /** The seed of the quirks' draws. */
  seed?: number;
  /** Receives a line for each callback that could not be delivered. */
  log?(line: string): void;
}

export interface DarajaSimulator {
  url: string;
  port: number;
  /** Ends it at once: cuts open connections and cancels outcomes still to come. */
  close(): Promise<void>;
}

export const DEFAULT_TOKEN_LIFETIME_S = 3_599;
export const DEFAULT_FLOAT_CENTS = 1_000_000_000_00;
const DEFAULT_HOST = '127.0.0.1';

/**
 * Starts a Daraja API that exists only in memory.
 * @throws the listening error (EADDRINUSE …) when the address cannot be taken.
 */
export async function startDarajaSimulator(
  options: DarajaSimulatorOptions,
): Promise<DarajaSimulator> {
  const host = options.host ?? DEFAULT_HOST;
  const callbacks = createCallbacks(options.log ?? console.error);
  const slowAnswerMs = options.slowAnswerMs ?? SLOW_ANSWER_MS;
  const world = createWorld(options, callbacks, slowAnswerMs);
  const server = createServer(createApp(world, slowAnswerMs));
  server.listen(options.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    world.transactions.stop();
    callbacks.stop();
    const closed = server.listening ? once(server, 'close') : undefined;
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, close };
}

function createWorld(
  options: DarajaSimulatorOptions,
  callbacks: ReturnType<typeof createCallbacks>,
  slowAnswerMs: number,
): World {
  const ids = createIdentifiers();
  const quirks = createQuirks(
    ids,
    slowAnswerMs,
    createDraws(options.seed ?? anySeed()),
    options.quirks,
  );
  const floats = createFloats(options.floatCents ?? DEFAULT_FLOAT_CENTS);
  const delayMs = options.delayMs ?? DEFAULT_DELAY_MS;
  const lateSuccessMs = options.lateSuccessMs ?? LATE_DELAYS * delayMs;
  const slowSuccessMs = options.slowSuccessMs ?? DEFAULT_SLOW_SUCCESS_MS;
  return {
    app: options,
    delayMs,
    ids,
    quirks,
    floats,
    tokens: createTokens({
      lifetimeS: options.tokenLifetimeS ?? DEFAULT_TOKEN_LIFETIME_S,
      overlapS: options.tokenOverlapS ?? 0,
    }),
    transactions: createTransactions({ ids, floats, delayMs, lateSuccessMs, slowSuccessMs }),
    posts: createPosts(callbacks, quirks),
    notTaken: new Map(),
  };
}
