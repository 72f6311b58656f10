import type { QueueBackend } from './queue-backend.ts';

/**
 * Removes every job from these queues, also jobs under way. No work is lost: our own tables
 * say what is due, and the sweeper sends it again.
 * @returns how many jobs each queue had
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
    // Pauses the queue first, and removes that with all else.
    await queue.obliterate({ force: true });
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  } catch (error) {
    throw lastError ?? error;
  } finally {
    await queue.close();
  }
}
