import type { Counter, Gauge } from 'prom-client';
import { type ErrorCode, Refusal } from '../domain/errors.ts';

export type WaitingRoom = ReturnType<typeof createWaitingRoom>;

/**
 * Limits how many requests wait for something at the same time, in all and of each merchant, so
 * that one merchant leaves room for the others.
 */
export function createWaitingRoom(
  {
    places,
    placesOfMerchant,
    refusalOfMerchant = 'unavailable',
  }: {
    places: number;
    placesOfMerchant: number;
    /** Refuses a merchant that has all of its own places taken. */
    refusalOfMerchant?: ErrorCode;
  },
  meters: { waiters: Gauge; refused: Counter },
) {
  /** The requests inside, each with its merchant. */
  const inside = new Map<object, number>();
  const countOf = (merchantId: number) =>
    [...inside.values()].filter((each) => each === merchantId).length;
  const refuse = (code: ErrorCode): never => {
    meters.refused.inc();
    throw new Refusal(code);
  };
  return {
    /** Takes a place, one for each request. @throws Refusal when none is free */
    enter(who: object, merchantId: number) {
      if (!inside.has(who)) {
        if (countOf(merchantId) >= placesOfMerchant) refuse(refusalOfMerchant);
        if (inside.size >= places) refuse('unavailable');
      }
      inside.set(who, merchantId);
      meters.waiters.set(inside.size);
    },
    /** Gives the place back, if the request has one. */
    leave(who: object) {
      inside.delete(who);
      meters.waiters.set(inside.size);
    },
  };
}
