import { randomBytes } from 'node:crypto';
import { type EmbeddedProcess, endEmbedded } from './embedded-process.ts';
import { EmbeddedServiceError, explainError } from './embedded-service-error.ts';
import { findFreePort, isPortTaken } from './port.ts';
import { preparePostgresBinaries } from './postgres-binaries.ts';
import {
  initialiseData,
  launchServer,
  PortTakenError,
  type PostgresSetup,
  postgresUrl,
} from './postgres-launch.ts';
import { clearLeftovers } from './postgres-leftovers.ts';
import { makeRunFolder } from './postgres-run.ts';
import { findServerUser } from './postgres-user.ts';
import type { Reaper } from './reaper.ts';

const DEFAULT_MAX_CONNECTIONS_COUNT = 300;
const PORT_TRIES_COUNT = 5;
const STOP_GRACE_MS = 10_000;

/** A PostgreSQL server of this process's own, whose data lives as long as it does. */
export interface EmbeddedPostgres {
  /** Of the superuser `postgres` and the database `postgres`. */
  url: string;
  port: number;
  pid: number;
  /** Fast shutdown; resolves when the server has exited and its data is removed. */
  stop(): Promise<void>;
  /** Stops (given mode, `fast` by default) and starts again on the same port and data. */
  restart(mode?: 'fast' | 'immediate'): Promise<void>;
  /** Called when the server exits without stop(), also when that has happened already. */
  onExit(listener: (message: string) => void): void;
}

export interface EmbeddedPostgresOptions {
  /** Owned by this module; several processes may give the same one at the same time. */
  folder: string;
  /** 0 or absent: any free one. */
  port?: number;
  reaper: Reaper;
  maxConnections?: number;
  /** More settings of the server, by name. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * Starts a PostgreSQL server with empty data on 127.0.0.1, also for root, and returns
 * once it answers. Throws an EmbeddedServiceError, whose message is one line for the
 * user, when a port, the disk or a right is missing; nothing is left over then.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { folder, port = 0, reaper, maxConnections = DEFAULT_MAX_CONNECTIONS_COUNT } = options;
  const { settings = {} } = options;
  try {
    // Before the second or two that initdb takes.
    if (port !== 0 && (await isPortTaken(port))) throw portTaken(port);
    const binaries = await preparePostgresBinaries(reaper);
    const user = await findServerUser();
    await clearLeftovers(folder);
    const run = await makeRunFolder(folder, user, reaper);
    const password = randomBytes(24).toString('hex');
    const setup = { binaries, run, user, password, maxConnections, settings, reaper };
    try {
      await initialiseData(setup);
      return new Server(setup, await launchAtPort(setup, port));
    } catch (error) {
      await run.remove();
      throw error;
    }
  } catch (error) {
    throw explainError(error, 'PostgreSQL could not be started', folder);
  }
}

interface Launched {
  running: EmbeddedProcess;
  port: number;
}

/** A free port may be taken between the look and the use; then another one is tried. */
async function launchAtPort(setup: PostgresSetup, wanted: number): Promise<Launched> {
  for (let tries = 1; ; tries += 1) {
    const port = wanted === 0 ? await findFreePort() : wanted;
    try {
      return { running: await launchServer(setup, port), port };
    } catch (error) {
      if (!(error instanceof PortTakenError)) throw error;
      if (wanted !== 0 || tries === PORT_TRIES_COUNT) throw portTaken(port);
    }
  }
}

function portTaken(port: number): EmbeddedServiceError {
  return new EmbeddedServiceError(
    `Port ${port} is taken: choose another with SANDBOX_POSTGRES_PORT, or 0 for any free one`,
  );
}

class Server implements EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  readonly #setup: PostgresSetup;
  readonly #listeners: ((message: string) => void)[] = [];
  #running: EmbeddedProcess;
  /** The process that is being ended on purpose, so that its exit is no news. */
  #ending: EmbeddedProcess | null = null;
  #exitMessage: string | null = null;
  #stopping: Promise<void> | null = null;
  /** A stop() waits for a restart() under way, and the other way round. */
  #last: Promise<void> = Promise.resolve();

  constructor(setup: PostgresSetup, { running, port }: Launched) {
    this.url = postgresUrl(setup.password, port);
    this.port = port;
    this.#setup = setup;
    this.#running = running;
    this.#follow(running);
  }

  get pid(): number {
    return this.#running.pid;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#inTurn(async () => {
      await this.#end('SIGINT');
      await this.#setup.run.remove();
    });
    return this.#stopping;
  }

  restart(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    if (this.#stopping) return Promise.reject(new Error('The server has been stopped'));
    return this.#inTurn(async () => {
      await this.#end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      const { running } = await launchAtPort(this.#setup, this.port);
      this.#exitMessage = null;
      this.#running = running;
      this.#follow(running);
    });
  }

  onExit(listener: (message: string) => void): void {
    this.#listeners.push(listener);
    const message = this.#exitMessage;
    if (message !== null) queueMicrotask(() => listener(message));
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#ending = this.#running;
    await endEmbedded(this.#running, signal, STOP_GRACE_MS);
  }

  #follow(running: EmbeddedProcess): void {
    void running.exited.then((ending) => {
      if (this.#ending === running) return;
      const said = running.lines.at(-1) ?? 'nothing';
      this.#exitMessage = `PostgreSQL (pid ${running.pid}) ended by itself with ${ending}; it last said: ${said}`;
      for (const listener of this.#listeners) listener(this.#exitMessage);
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
