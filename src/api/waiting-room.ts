import { Refusal } from '../domain/errors.ts';
import type { HttpMeters } from '../metrics/meters.ts';

export type WaitingRoom = ReturnType<typeof createWaitingRoom>;

/** Limits how many requests wait for something at the same time. */
export function createWaitingRoom(
  places: number,
  meters: Pick<HttpMeters, 'reversalWaiters' | 'reversalWaitersRefused'>,
) {
  const inside = new Set<object>();
  return {
    /** Takes a place, one for each request. @throws Refusal `unavailable` when none is free */
    enter(who: object) {
      if (!inside.has(who) && inside.size >= places) {
        meters.reversalWaitersRefused.inc();
        throw new Refusal('unavailable');
      }
      inside.add(who);
      meters.reversalWaiters.set(inside.size);
    },
    /** Gives the place back, if the request has one. */
    leave(who: object) {
      inside.delete(who);
      meters.reversalWaiters.set(inside.size);
    },
  };
}
