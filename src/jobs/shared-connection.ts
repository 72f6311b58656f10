import {
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
} from 'bullmq';

/** Hands the same connection to every queue and worker, for as long as there is one. */
export function sharingFactory(
  options: PostgresConnectionOptions,
  listenerName: string,
): BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> {
  let shared: SharedConnection | undefined;
  return (name, queueOptions, { withBlockingConnection = false } = {}) => {
    if (!shared || shared.isClosing) shared = new SharedConnection(options);
    shared.users += 1;
    const named = withBlockingConnection ? listenerName : undefined;
    return new SharingBackend(shared, name, queueOptions, true, named);
  };
}

/** What one queue or worker has of the shared connection. */
class SharingBackend extends PostgresQueueBackend {
  /** Forgets a failure, as the connection does: BullMQ asks for this whenever a job ends. */
  override async waitUntilReady(): Promise<void> {
    try {
      await super.waitUntilReady();
    } catch (error) {
      forgetReadiness(this);
      throw error;
    }
  }

  /** Being ready includes that the listener has its name: a worker that idles is seen too. */
  override async waitForJob(timeoutS: number) {
    await this.waitUntilReady();
    return super.waitForJob(timeoutS);
  }
}

/** BullMQ remembers the first answer, though it be an error. */
function forgetReadiness(owner: object): void {
  (owner as { readyPromise: undefined }).readyPromise = undefined;
}

/**
 * BullMQ's connection, made for one queue, used by all of a process. Every statement takes
 * one connection and no statement waits for another one's, so a few serve any number.
 */
class SharedConnection extends PostgresConnection {
  /** Each closes it once; the last one really does. */
  users = 0;
  #listener: unknown;

  constructor(options: PostgresConnectionOptions) {
    super(options);
    this.setMaxListeners(0);
    // A connection that is lost fails the statement on it. Nobody else listens while BullMQ
    // looks at its tables, and an error nobody listens for would end the process.
    (this.pool as unknown as NodeJS.EventEmitter).on('connect', (client) => {
      client.on('error', () => {});
    });
  }

  /** Unlike BullMQ's own, it forgets a failure: a queue first used in an outage works after it. */
  override async waitUntilReady(): Promise<void> {
    try {
      await super.waitUntilReady();
    } catch (error) {
      forgetReadiness(this);
      throw error;
    }
  }

  /** Workers tell from the notification whether it is for their queue. */
  override async getListenClient() {
    const client = await super.getListenClient();
    if (client !== this.#listener) {
      this.#listener = client;
      (client as unknown as NodeJS.EventEmitter).setMaxListeners(0);
      takeTurns(client);
    }
    return client;
  }

  override async close(): Promise<void> {
    this.users -= 1;
    if (this.users <= 0) await super.close();
  }
}

/** Each statement waits for the one before, as a client with one user does by itself. */
function takeTurns(client: { query: (...args: never[]) => Promise<unknown> }): void {
  const query = client.query.bind(client);
  let last: Promise<unknown> = Promise.resolve();
  client.query = (...args) => {
    last = last.catch(() => {}).then(() => query(...args));
    return last;
  };
}
