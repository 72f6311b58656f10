import { lockUntilCommit } from '../../connections/advisory-locks.ts';
import { type Database, firstRow, inTransaction } from '../../connections/database.ts';
import { admitDeliveries, HAS_DUE } from './admit-deliveries.ts';
import { type EndedPayment, HAS_UNNUMBERED, numberEvents } from './number-events.ts';
import { RUNNING_SLOTS } from './worker-slots.ts';

/**
 * Numbers events, plans their deliveries, and admits those that are due and have room, in one
 * transaction: a number is of no use to a delivery that cannot be admitted. One dispatcher at a
 * time does it.
 * @param slots are those of one worker. They count while none says that it runs, so that jobs wait in
 * the queue, where operators look. 0 admits none.
 * @param onNumbered is called once for each event after the commit, unless the process dies.
 * @returns how many events it numbered and deliveries it admitted
 */
export async function prepareDeliveries(
  database: Database,
  slots: number,
  onNumbered: (ended: EndedPayment) => void = () => {},
): Promise<number> {
  // Most rounds find nothing. They cost one read and no lock.
  const found = await firstRow<{ isWaiting: true | null; running: number | null }>(
    database,
    `SELECT ${HAS_UNNUMBERED} OR ${HAS_DUE} AS "isWaiting", ${RUNNING_SLOTS} AS running`,
  );
  if (!found!.isWaiting) return 0;
  const available = slots === 0 ? 0 : (found!.running ?? slots);
  const { numbered, admitted } = await inTransaction(database, async (trx) => {
    await lockUntilCommit(trx, 'preparing deliveries');
    return { numbered: await numberEvents(trx), admitted: await admitDeliveries(trx, available) };
  });
  numbered.forEach(onNumbered);
  return numbered.length + admitted;
}
