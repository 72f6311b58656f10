import { Cluster, type ClusterNode, type ClusterOptions } from 'ioredis';

type Options = ConstructorParameters<typeof Cluster<'legacy'>>[1];

/** How often a client that disconnects looks for connections that were made meanwhile. */
const LOOK_MS = 200;

/**
 * Opens a client of a Redis Cluster that reports its end. A command that goes again while a client
 * disconnects, or an answer about who has which slot, makes connections anew. The library then waits for
 * their end, which never comes, and BullMQ's worker waits for the client's: it takes no job any more.
 */
export function openCluster(nodes: ClusterNode[], options: ClusterOptions): Cluster {
  const client = new Cluster<'legacy'>(nodes, options as Options);
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect) => {
    disconnect(reconnect);
    const timer = setInterval(() => {
      if (client.status !== 'disconnecting') return clearInterval(timer);
      for (const node of client.nodes()) node.disconnect();
    }, LOOK_MS);
    timer.unref();
  };
  // BullMQ makes its blocking connection so.
  const duplicate = (_nodes: undefined, { redisOptions, ...changed }: ClusterOptions = {}) =>
    openCluster(nodes, {
      ...{ ...options, ...changed },
      redisOptions: { ...options.redisOptions, ...redisOptions },
    });
  client.duplicate = duplicate as typeof client.duplicate;
  return client;
}
