import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisOptions } from 'ioredis';
import pg from 'pg';
import { connectionSettings, type DatabaseAddress } from '../connections/address.ts';
import { type Database, rows } from '../connections/database.ts';
import { installationId } from '../connections/migrations.ts';
import { openRedis, RECONNECTING, type RedisAddress } from '../connections/redis.ts';
import { RUNG_LOOPS, type RungLoop } from './bell.ts';

/** Carries the rings of all processes to the dispatchers. Any of them may be lost. */
export interface BellLine {
  /** @throws when nobody can be told now */
  ring(loops: RungLoop[]): Promise<unknown>;
  /**
   * Calls `onRing` with the loops of each ring, and with all of them once it hears again after a lost
   * connection: rings were lost meanwhile. It connects by itself, again and again.
   */
  listen(onRing: OnRing): Listener;
  close(): Promise<void>;
}

type OnRing = (loops: readonly RungLoop[]) => void;

/** Reads a message. Other versions may send other words. */
function loopsIn(message: string): RungLoop[] {
  const words = message.split(' ');
  return RUNG_LOOPS.filter((loop) => words.includes(loop));
}

/** Hears the rings. */
export interface Listener {
  /** Whether a ring would be heard now. */
  isListening(): boolean;
  close(): Promise<void>;
}

/** Returns the line of an installation: Redis, as for its queues, or PostgreSQL. It connects at its first use. */
export async function bellLineOf({
  config,
  database,
}: {
  config: RedisAddress & DatabaseAddress;
  database: Database;
}): Promise<BellLine> {
  if (config.redisUrl === undefined) return postgresLine(config, database);
  return redisLine(config, `malipo-${await installationId(database)}-bell`);
}

const CONNECT_TIMEOUT_MS = 5_000;
/** An answer shows that the connection of a listener lives. */
const PING_MS = 5_000;
/** A connection that is silent for so long is made anew. */
const SILENCE_MS = 15_000;

const RINGER: RedisOptions = {
  ...RECONNECTING,
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SILENCE_MS,
};

const LISTENER: RedisOptions = {
  ...RECONNECTING,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SILENCE_MS,
  maxRetriesPerRequest: null,
  // It subscribes by itself, and knows then that it listens.
  autoResubscribe: false,
};

function redisLine(address: RedisAddress, channel: string): BellLine {
  const open = (options: RedisOptions) => {
    const client = openRedis(address, options);
    client.on('error', () => {});
    return client;
  };
  let ringer: ReturnType<typeof open> | null = null;
  return {
    ring: async (loops) => {
      ringer ??= open(RINGER);
      return ringer.publish(channel, loops.join(' '));
    },
    listen: (onRing) => {
      const client = open(LISTENER);
      let isListening = false;
      const subscribe = async () => {
        await client.subscribe(channel);
        isListening = true;
        onRing(RUNG_LOOPS);
      };
      client.on('message', (_channel, message) => onRing(loopsIn(message)));
      client.on('ready', () => void subscribe().catch(() => {}));
      client.on('close', () => {
        isListening = false;
      });
      const asking = setInterval(() => void client.ping().catch(() => {}), PING_MS);
      return {
        isListening: () => isListening,
        close: async () => {
          clearInterval(asking);
          client.disconnect();
        },
      };
    },
    close: async () => ringer?.disconnect(),
  };
}

/** The channel of rings. Only sessions of this database hear it. */
const CHANNEL = 'malipo_bell';
const RECONNECT_DELAY_MS = 1_000;

/** A ring is a statement of its own: in the transaction of a payment it would make commits take turns. */
function postgresLine(address: DatabaseAddress, database: Database): BellLine {
  return {
    ring: (loops) =>
      rows(database, `SELECT pg_notify('${CHANNEL}', :message)`, { message: loops.join(' ') }),
    listen: (onRing) => listenOnPostgres(address, onRing),
    close: async () => {},
  };
}

/** Listens on a connection of its own, which it makes anew when that is lost or silent. */
function listenOnPostgres(address: DatabaseAddress, onRing: OnRing): Listener {
  const stopping = new AbortController();
  const { signal } = stopping;
  const settings = {
    ...connectionSettings(address),
    application_name: 'malipo-bell',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: SILENCE_MS,
    keepAlive: true,
  };
  let isListening = false;
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
  const listen = async () => {
    const client = new pg.Client(settings);
    const lost = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('error', () => {});
    client.on('notification', ({ payload = '' }) => onRing(loopsIn(payload)));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      isListening = true;
      onRing(RUNG_LOOPS);
      while (!signal.aborted) {
        await Promise.race([lost, pause(PING_MS)]);
        await client.query('SELECT');
      }
    } finally {
      isListening = false;
      await client.end().catch(() => {});
    }
  };
  const running = (async () => {
    while (!signal.aborted) {
      await listen().catch(() => {});
      await pause(RECONNECT_DELAY_MS);
    }
  })();
  return {
    isListening: () => isListening,
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
