import type { QueueBackend } from './backend.ts';

/**
 * Takes every job out of these queues, also those under way. None is lost by it: what is due
 * is in our own tables, and the sweeper sends it again.
 * @returns how many jobs each queue had.
 */
export async function emptyQueues(
  backend: QueueBackend,
  names: readonly string[],
): Promise<{ queue: string; jobs: number }[]> {
  const emptied = [];
  for (const name of names) emptied.push({ queue: name, jobs: await emptyQueue(backend, name) });
  return emptied;
}

async function emptyQueue(backend: QueueBackend, name: string): Promise<number> {
  const queue = backend.createQueue(name);
  let lastError: Error | undefined;
  queue.on('error', (error) => {
    lastError = error;
  });
  try {
    await queue.waitUntilReady();
    const counts = await queue.getJobCounts();
    // Pauses it first, and at its end forgets that too.
    await queue.obliterate({ force: true });
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  } catch (error) {
    throw lastError ?? error;
  } finally {
    await queue.close();
  }
}
