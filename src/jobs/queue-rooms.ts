import type { Queues } from './queues.ts';

/*
 * A queue holds few jobs that wait: what its workers take in less than a second. The rest waits in the outbox, where the
 * dispatcher can choose between fresh work and a backlog. A queue itself would hand out a backlog first.
 */

/** Jobs that may wait in a queue. Two dispatchers may each fill it. */
export const MAX_ROOM = 40;
/** A queue with less room is looked at before it gets more. */
const LITTLE_ROOM = MAX_ROOM / 2;
/** The time between two looks at a queue with little room. */
export const LOOK_INTERVAL_MS = 25;

/** The room of each queue: of the last look, less what was added since. */
export type Rooms = Map<string, { free: number; lookAt: number }>;

/** Returns how many jobs may be added to a queue. */
export function roomOf(rooms: Rooms, queue: string): number {
  return Math.max(0, rooms.get(queue)?.free ?? MAX_ROOM);
}

/** Notes that jobs were added to a queue. */
export function takeRoom(rooms: Rooms, queue: string, count: number): void {
  const { free, lookAt } = rooms.get(queue) ?? { free: MAX_ROOM, lookAt: 0 };
  rooms.set(queue, { free: free - count, lookAt });
}

/** Tells whether a queue has little room: its workers take less than comes. */
export function isCrowded(rooms: Rooms): boolean {
  return [...rooms.values()].some(({ free }) => free < LITTLE_ROOM);
}

/**
 * Looks at the queues with little room. A queue that does not answer counts as empty: adding to it fails, and it rests.
 * @param resting are queues that have failed, and are not asked
 * @returns the queues that have none
 */
export async function lookForRoom(
  queues: Queues,
  rooms: Rooms,
  resting: readonly string[],
): Promise<string[]> {
  const now = Date.now();
  await Promise.all(
    [...rooms].map(async ([queue, { free, lookAt }]) => {
      if (free >= LITTLE_ROOM || lookAt > now || resting.includes(queue)) return;
      const waiting = await queues.countWaiting(queue).catch(() => 0);
      rooms.set(queue, { free: MAX_ROOM - waiting, lookAt: now + LOOK_INTERVAL_MS });
    }),
  );
  return [...rooms.keys()].filter((queue) => roomOf(rooms, queue) === 0);
}
