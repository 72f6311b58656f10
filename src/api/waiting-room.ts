import { Refusal } from '../domain/errors.ts';
import type { HttpMeters } from '../metrics/meters.ts';

/** Where requests wait for something; holds so many at once. */
export interface WaitingRoom {
  /** Takes a place, once for each. @throws Refusal `unavailable` when there is none */
  enter(who: object): void;
  /** Gives the place back, if there was one. */
  leave(who: object): void;
}

export function createWaitingRoom(
  places: number,
  meters: Pick<HttpMeters, 'reversalWaiters' | 'reversalWaitersRefused'>,
): WaitingRoom {
  const inside = new Set<object>();
  return {
    enter(who) {
      if (!inside.has(who) && inside.size >= places) {
        meters.reversalWaitersRefused.inc();
        throw new Refusal('unavailable');
      }
      inside.add(who);
      meters.reversalWaiters.set(inside.size);
    },
    leave(who) {
      inside.delete(who);
      meters.reversalWaiters.set(inside.size);
    },
  };
}
