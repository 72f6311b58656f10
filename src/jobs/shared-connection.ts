import {
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
} from 'bullmq';

/** Makes all queues and workers share one connection, until the last of them closes it. */
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

/** The part of the shared connection that one queue or worker holds. */
class SharingBackend extends PostgresQueueBackend {
  /** Forgets a failure, as the connection does. BullMQ calls this whenever a job ends. */
  override waitUntilReady(): Promise<void> {
    return orForget(this, super.waitUntilReady());
  }

  /**
   * Adds a batch in one statement, as BullMQ adds flows. Its own statement for batches makes
   * temporary tables and a sequence, which the service's role may not.
   * @throws Error when the batch could not be added: then none of it was
   */
  override async addJobs(entries: Parameters<PostgresQueueBackend['addJobs']>[0]) {
    const flow = entries.map(({ job, jobId, parentKeyOpts = {} }) => {
      return { jobData: job, jobId, parentKeyOpts, prefix: '', queueName: this.queueName };
    });
    const added = await this.addFlow(flow);
    // A failure comes as a value, for each job.
    const failed = added.find(([error]) => error !== null);
    if (failed) throw failed[0];
    return added.map(([, id]) => String(id));
  }

  /** Waits until the listener has its name, so that idle workers are seen too. */
  override async waitForJob(timeoutS: number) {
    await this.waitUntilReady();
    return super.waitForJob(timeoutS);
  }
}

/** BullMQ remembers the first answer, even if that is an error. */
async function orForget(owner: object, ready: Promise<void>): Promise<void> {
  await ready.catch((error) => {
    (owner as { readyPromise: undefined }).readyPromise = undefined;
    throw error;
  });
}

/**
 * A BullMQ connection that all queues of a process share. A statement takes one connection
 * of the pool and waits for no other statement, so a few connections serve any number.
 */
class SharedConnection extends PostgresConnection {
  /** Each user closes it once. The last one really does. */
  users = 0;
  #listener: unknown;

  constructor(options: PostgresConnectionOptions) {
    super(options);
    this.setMaxListeners(0);
    // The statement on a lost connection fails. The error itself would end the process while
    // BullMQ checks its tables, since nobody listens for it then.
    (this.pool as unknown as NodeJS.EventEmitter).on('connect', (client) => {
      client.on('error', () => {});
    });
  }

  /** Forgets a failure, so that a queue first used in an outage works after it. */
  override waitUntilReady(): Promise<void> {
    return orForget(this, super.waitUntilReady());
  }

  /** One listener serves all workers: each sees in a notification which queue it is for. */
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

/** Makes each statement wait for the one before, as it would with only one user. */
function takeTurns(client: { query: (...args: never[]) => Promise<unknown> }): void {
  const query = client.query.bind(client);
  let last: Promise<unknown> = Promise.resolve();
  client.query = (...args) => {
    last = last.catch(() => {}).then(() => query(...args));
    return last;
  };
}
