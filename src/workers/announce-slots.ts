import { v7 as uuidv7 } from 'uuid';
import { messageOf } from '../connections/database-errors.ts';
import {
  ANNOUNCE_INTERVAL_MS,
  announceWorker,
  withdrawWorker,
} from '../domain/webhooks/worker-slots.ts';
import type { Service } from '../process/boot.ts';

/**
 * Says in the database, every few seconds, how many webhooks this process can have under way. The
 * dispatcher shares these slots out among the endpoints.
 * @returns the function that stops it
 */
export function announceSlots({ database, logger, config }: Service): () => Promise<void> {
  const worker = { id: uuidv7(), slots: config.concurrency.webhooks };
  const announce = () =>
    announceWorker(database, worker).catch((error) =>
      // Nothing is lost: the slots of others count, or those of one worker.
      logger.debug('slots not announced', { error: messageOf(error) }),
    );
  let announcing = announce();
  const timer = setInterval(() => {
    announcing = announcing.then(announce);
  }, ANNOUNCE_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await announcing;
    await withdrawWorker(database, worker.id).catch(() => {});
  };
}
