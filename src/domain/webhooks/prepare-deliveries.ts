import { lockUntilCommit } from '../../connections/advisory-locks.ts';
import {
  type Database,
  firstRow,
  inTransaction,
  type Transaction,
} from '../../connections/database.ts';
import { admitDeliveries, HAS_DUE, type Walk } from './admit-deliveries.ts';
import { type EndedPayment, HAS_UNNUMBERED, numberEvents } from './number-events.ts';
import { RUNNING_SLOTS } from './worker-slots.ts';

/**
 * Numbers events, plans their deliveries, and admits those that are due and have room. One
 * dispatcher at a time does it. Numbering is committed first, so that it goes on whatever befalls
 * the admission.
 * @param slots are the slots of one worker. They count while no worker reports, so that jobs wait in
 * the queue, where operators look. 0 admits none.
 * @param onNumbered is called once for each event after the commit, unless the process dies.
 * @param walk is where the admission goes on. A dispatcher keeps it.
 * @returns how many events it numbered and deliveries it admitted
 */
export async function prepareDeliveries(
  database: Database,
  slots: number,
  onNumbered: (ended: EndedPayment) => void = () => {},
  walk: Walk = { after: null },
): Promise<number> {
  // Most rounds find nothing. They cost one read and no lock.
  const found = (await firstRow<Found>(database, FIND))!;
  const numbered = found.hasUnnumbered ? await underLock(database, numberEvents) : [];
  numbered.forEach(onNumbered);
  if (slots === 0 || (numbered.length === 0 && !found.hasDue)) return numbered.length;
  const running = found.running ?? slots;
  const admitted = await underLock(database, (trx) => admitDeliveries(trx, running, walk));
  return numbered.length + admitted;
}

interface Found {
  hasUnnumbered: true | null;
  hasDue: true | null;
  running: number | null;
}

const FIND = `SELECT ${HAS_UNNUMBERED} AS "hasUnnumbered", ${HAS_DUE} AS "hasDue",
  ${RUNNING_SLOTS} AS running`;

function underLock<Result>(
  database: Database,
  work: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database, async (trx) => {
    await lockUntilCommit(trx, 'preparing deliveries');
    return work(trx);
  });
}
