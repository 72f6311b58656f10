import { Refusal } from '../domain/errors.ts';
import type { HttpMeters } from '../metrics/meters.ts';

/** Limits how many requests wait for something at the same time. */
export interface WaitingRoom {
  /** Takes a place, one for each request. @throws Refusal `unavailable` when none is free */
  enter(who: object): void;
  /** Gives the place back, if the request has one. */
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
