import { Refusal } from '../domain/errors.ts';
import type { HttpMeters } from '../metrics/meters.ts';

export type WaitingRoom = ReturnType<typeof createWaitingRoom>;

/**
 * Limits how many requests wait for something at the same time, in all and of each merchant, so
 * that one merchant leaves room for the others.
 */
export function createWaitingRoom(
  { places, placesOfMerchant }: { places: number; placesOfMerchant: number },
  meters: Pick<HttpMeters, 'reversalWaiters' | 'reversalWaitersRefused'>,
) {
  /** The requests inside, each with its merchant. */
  const inside = new Map<object, number>();
  const countOf = (merchantId: number) =>
    [...inside.values()].filter((each) => each === merchantId).length;
  return {
    /** Takes a place, one for each request. @throws Refusal `unavailable` when none is free */
    enter(who: object, merchantId: number) {
      const isFull = inside.size >= places || countOf(merchantId) >= placesOfMerchant;
      if (isFull && !inside.has(who)) {
        meters.reversalWaitersRefused.inc();
        throw new Refusal('unavailable');
      }
      inside.set(who, merchantId);
      meters.reversalWaiters.set(inside.size);
    },
    /** Gives the place back, if the request has one. */
    leave(who: object) {
      inside.delete(who);
      meters.reversalWaiters.set(inside.size);
    },
  };
}
